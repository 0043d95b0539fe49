"""Kubernetes' own types of events."""
