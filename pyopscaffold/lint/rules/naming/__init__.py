"""Rules NA."""
