"""Stored version."""
