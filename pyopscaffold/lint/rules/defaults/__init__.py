"""Rules DE."""
