"""Rules CE."""
