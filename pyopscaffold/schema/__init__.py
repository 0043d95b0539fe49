"""Structural OpenAPI v3 schemas, as CRDs carry them: values, and the check of a JSON value against one."""

from __future__ import annotations

from pyopscaffold.schema.read import from_mapping
from pyopscaffold.schema.structural import UNSET, Rule, Schema, to_mapping
from pyopscaffold.schema.validate import Misfit, validate

__all__ = ["UNSET", "Misfit", "Rule", "Schema", "from_mapping", "to_mapping", "validate"]
