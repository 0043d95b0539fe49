"""Kubernetes' own types of coordination."""
