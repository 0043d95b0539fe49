"""Kubernetes' own types of autoscaling/v2, as dataclasses."""

from __future__ import annotations

from pyopscaffold.k8s._types import lazy

__getattr__, __dir__ = lazy(__name__)
