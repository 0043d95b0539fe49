"""A kind of many versions."""
