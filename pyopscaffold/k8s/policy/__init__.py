"""Kubernetes' own types of policy."""
