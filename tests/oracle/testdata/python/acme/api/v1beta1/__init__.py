"""Old version."""
