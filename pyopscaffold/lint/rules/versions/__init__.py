"""Rules VE."""
