"""Kubernetes' own types of apps."""
