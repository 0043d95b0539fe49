"""Kubernetes' own types of scheduling."""
