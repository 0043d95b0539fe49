"""Kubernetes' own types of meta/v1, as dataclasses."""

from __future__ import annotations

from pyopscaffold.k8s._types import lazy
from pyopscaffold.kube.meta import Condition, ObjectMeta, OwnerReference

__getattr__, __dir__ = lazy(__name__, Condition, ObjectMeta, OwnerReference)
