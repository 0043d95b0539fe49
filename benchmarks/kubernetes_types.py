"""What it costs to embed a type of Kubernetes: importing the declarations."""

from __future__ import annotations

import sys

from benchmarks.paired import Result, paired, process

PLAIN = """\
from dataclasses import dataclass
from pyopscaffold.api import Object, resource

@dataclass(kw_only=True)
class ThingSpec:
    template: str

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec
"""
EMBEDDING = "from pyopscaffold.k8s.core.v1 import PodTemplateSpec\n" + PLAIN.replace("str", "PodTemplateSpec")


def measure_import() -> Result:
    """A module of types with a pod template in it, over one without."""
    base, embedding = paired(
        ("import types", process(sys.executable, "-c", PLAIN)),
        ("import types that embed PodTemplateSpec", process(sys.executable, "-c", EMBEDDING)),
        runs=20,
    )
    over = embedding.median - base.median
    return Result(
        "embedded PodTemplateSpec",
        "at most 120 ms over a module of types without",
        f"{over * 1000:.0f} ms over",
        over <= 0.12,
        (base, embedding),
    )


def measure() -> tuple[Result, ...]:
    """All of this module."""
    return (measure_import(),)
