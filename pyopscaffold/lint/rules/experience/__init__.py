"""Rules UX."""
