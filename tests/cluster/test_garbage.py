"""That the garbage collector which we play takes nothing that has changed since it looked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.testing.garbage import GarbageCollector
from tests.cluster.envtest_helpers import config_map, exists, owned_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.testing import RestClient
    from pyopscaffold.testing.discovery import Resource
    from pyopscaffold.testing.rest import Json


class OvertakenCollector(GarbageCollector):
    """Looks after one namespace, and is overtaken between its look at a child and what it does to it."""

    def __init__(self, client: RestClient, namespace: str, overtake: Callable[[], object]) -> None:
        super().__init__(client)
        self._namespace = namespace
        self._overtake = overtake

    def _attempt(
        self, resource: Resource, item: Json, alive: set[str], dependents: list[tuple[Resource, Json]]
    ) -> None:
        metadata = item["metadata"]
        if metadata.get("namespace") == self._namespace and metadata["name"] == "child":
            self._overtake()
            super()._attempt(resource, item, alive, dependents)


def test_a_child_that_was_just_adopted_stays(admin: RestClient, namespace: str) -> None:
    """The owner was deleted and made anew, and has adopted the child since the collector has listed it."""
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    owner = admin.create(maps, config_map("owner"))
    admin.create(maps, config_map("child", ownerReferences=owned_by(owner)))
    admin.delete(f"{maps}/owner")
    successor = admin.create(maps, config_map("owner"))

    def adopt() -> None:
        admin.merge(f"{maps}/child", {"metadata": {"ownerReferences": owned_by(successor)}})

    OvertakenCollector(admin, namespace, adopt).collect()
    assert exists(admin, f"{maps}/child")
    admin.delete(f"{maps}/owner")
    OvertakenCollector(admin, namespace, lambda: None).collect()
    assert not exists(admin, f"{maps}/child")
