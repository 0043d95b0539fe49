"""Checks the design of CRDs, whoever wrote them, and of the RBAC that comes with them."""

from __future__ import annotations
