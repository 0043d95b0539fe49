"""The operator of benchmarks/operators.py as one writes it with pyopscaffold."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyopscaffold.api import Conditions, Object, ObjectMeta, controller, int64, resource
from pyopscaffold.k8s.core.v1 import ConfigMap
from pyopscaffold.runtime import Context, Reconciler, Result, conditions, main


@dataclass(kw_only=True)
class NoteSpec:
    """Desired state of a Note."""

    text: str


@dataclass(kw_only=True)
class NoteStatus:
    """Observed state of a Note; ``started`` is when the last reconcile of a generation began, in microseconds."""

    observed_generation: int64 | None = None
    started: int64 | None = None
    conditions: Conditions = field(default_factory=list)


@resource(group="bench.example.com", version="v1")
@dataclass(kw_only=True)
class Note(Object):
    """A text, kept in a ConfigMap."""

    spec: NoteSpec
    status: NoteStatus = field(default_factory=NoteStatus)


@controller(Note, owns=[ConfigMap])
class NoteReconciler(Reconciler[Note]):
    """Keeps the ConfigMap of each Note."""

    async def reconcile(self, ctx: Context, obj: Note) -> Result:
        """Apply the ConfigMap and report."""
        started = time.time_ns() // 1000
        name = obj.metadata.name
        await ctx.apply(ConfigMap(metadata=ObjectMeta(name=name), data={"text": obj.spec.text}))
        if obj.status.observed_generation != obj.metadata.generation:
            obj.status.started = started
        conditions.set(obj, "Ready", "True", reason="Applied", message="the text is in place")
        return Result()


if __name__ == "__main__":
    main([NoteReconciler])
