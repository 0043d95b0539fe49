"""Types."""
