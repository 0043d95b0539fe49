"""Rules LS."""
