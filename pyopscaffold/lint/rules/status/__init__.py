"""Rules SU."""
