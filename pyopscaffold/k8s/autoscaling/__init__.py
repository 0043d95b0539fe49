"""Kubernetes' own types of autoscaling."""
