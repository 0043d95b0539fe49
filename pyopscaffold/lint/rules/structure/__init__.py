"""Rules ST."""
