"""Kubernetes' own types of meta."""
