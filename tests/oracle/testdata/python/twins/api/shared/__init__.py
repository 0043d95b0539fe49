"""Kinds that share types."""
