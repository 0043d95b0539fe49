"""Gadgets: a kind with everything that a client may ask for, and its CRD."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyopscaffold.api import Object, Quantity, int32, resource
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.protocols import Client

GROUP = "client.tests.example.com"


@dataclass(kw_only=True)
class GadgetSpec:
    size: int32 = 1
    storage: Quantity | None = None
    weight: int32 | None = None


@dataclass(kw_only=True)
class GadgetStatus:
    ready: int32 = 0


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Gadget(Object):
    spec: GadgetSpec
    status: GadgetStatus = field(default_factory=GadgetStatus)


_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready"},
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "weight": {"type": "integer"},
                                    "storage": {
                                        "x-kubernetes-int-or-string": True,
                                        "anyOf": [{"type": "integer"}, {"type": "string"}],
                                    },
                                },
                            },
                            "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}


async def serve_gadgets(client: Client) -> None:
    """Have the CRD served; tests side by side share it."""
    await client.apply(_CRD, field_manager="tests")
    name = f"metadata.name=gadgets.{GROUP}"
    async with (
        asyncio.timeout(20),
        aclosing(client.watch(CUSTOM_RESOURCE_DEFINITION, fields=name, initial_events=True)) as events,
    ):
        async for event in events:
            conditions = json.loads(bytes(event.object)).get("status", {}).get("conditions") or []
            if {"Established": "True"}.items() <= {found["type"]: found["status"] for found in conditions}.items():
                return
