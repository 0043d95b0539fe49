"""The cache: shared informers that hold what the server sent, and a reader over them."""

from __future__ import annotations

from pyopscaffold.runtime.cache.informer import Handler, Informer, Transform
from pyopscaffold.runtime.cache.shared import Cache
from pyopscaffold.runtime.objects import Delta, Meta, Owner, Stored

__all__ = ["Cache", "Delta", "Handler", "Informer", "Meta", "Owner", "Stored", "Transform"]
