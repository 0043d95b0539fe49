"""Rules SE."""
