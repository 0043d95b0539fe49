"""Kubernetes' own types of rbac."""
