"""Compares two states of a CRD: what changed, and whom that breaks."""

from __future__ import annotations
