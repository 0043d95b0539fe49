"""Rules VA."""
