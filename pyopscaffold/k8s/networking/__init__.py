"""Kubernetes' own types of networking."""
