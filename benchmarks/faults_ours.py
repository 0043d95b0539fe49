"""The operator of benchmarks/faults.py as one writes it with pyopscaffold."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyopscaffold.api import Conditions, Object, ObjectMeta, controller, int64, resource
from pyopscaffold.k8s.core.v1 import ConfigMap
from pyopscaffold.runtime import Context, Reconciler, Result, main


@dataclass(kw_only=True)
class NoteSpec:
    """Desired state of a Note."""

    text: str


@dataclass(kw_only=True)
class NoteStatus:
    """Observed state of a Note."""

    observed_generation: int64 | None = None
    conditions: Conditions = field(default_factory=list)


@resource(group="bench.example.com", version="v1")
@dataclass(kw_only=True)
class Note(Object):
    """A text whose beginning is kept in a ConfigMap."""

    spec: NoteSpec
    status: NoteStatus = field(default_factory=NoteStatus)


@controller(Note, owns=[ConfigMap], timeout=5.0)
class NoteReconciler(Reconciler[Note]):
    """Keeps the ConfigMap of each Note, and tells in it which Notes it knows of."""

    async def reconcile(self, ctx: Context, obj: Note) -> Result:
        """Apply the ConfigMap and report."""
        data = {"text": obj.spec.text[:100]}
        if obj.metadata.name == "probe":
            notes = await ctx.cache.list(Note, namespace=obj.metadata.namespace)
            data["known"] = " ".join(sorted(note.metadata.name for note in notes))
        await ctx.apply(ConfigMap(metadata=ObjectMeta(name=obj.metadata.name), data=data))
        return Result()


if __name__ == "__main__":
    main([NoteReconciler])
