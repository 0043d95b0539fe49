"""Kubernetes' own types of core."""
