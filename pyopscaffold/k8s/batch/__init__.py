"""Kubernetes' own types of batch."""
