"""Kubernetes' own types of coordination/v1, as dataclasses."""

from __future__ import annotations

from pyopscaffold.k8s._types import lazy

__getattr__, __dir__ = lazy(__name__)
