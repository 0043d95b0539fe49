"""The cache: shared informers that hold what the server sent, and a reader over them."""

from __future__ import annotations

from pyopscaffold.runtime.cache.objects import Delta, Meta, Owner, Stored

__all__ = ["Delta", "Meta", "Owner", "Stored"]
