"""Rules CO."""
