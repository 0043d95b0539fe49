"""What a real API server publishes of its own types: OpenAPI v3 documents and discovery."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyopscaffold.testing import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import RestClient

Json = dict[str, Any]

PATHS = {
    "core/v1": "api/v1",
    "apps/v1": "apis/apps/v1",
    "autoscaling/v2": "apis/autoscaling/v2",
    "batch/v1": "apis/batch/v1",
    "coordination/v1": "apis/coordination.k8s.io/v1",
    "events/v1": "apis/events.k8s.io/v1",
    "networking/v1": "apis/networking.k8s.io/v1",
    "policy/v1": "apis/policy/v1",
    "rbac/v1": "apis/rbac.authorization.k8s.io/v1",
}
"""Where the API server serves what Go has in ``k8s.io/api/<module>``."""

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_API = "io.k8s.api"
_REFERENCE = "#/components/schemas/"
_NAME = re.compile(rf"{_API}\.(?P<group>\w+)\.(?P<version>\w+)\.\w+|{META}\.\w+")


@dataclass(frozen=True)
class Resource:
    """How a kind is addressed."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """OpenAPI schemas by name, as the server has them, and the resources that it serves."""

    schemas: Mapping[str, Json]
    resources: tuple[Resource, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The types of the groups of :data:`PATHS`, and all that they reach; no lists of whole objects."""
        roots = (name for name in self.schemas if module_of(name) in PATHS and not self._is_list(name))
        found: set[str] = set()
        for root in roots:
            self._reach(root, found, ())
        return tuple(sorted(found))

    def _reach(self, name: str, found: set[str], path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"{name} contains itself, which no CRD schema can express")
        if name not in found:
            found.add(name)
            for reference in references(self.schemas[name]):
                self._reach(reference, found, (*path, name))

    def _is_list(self, name: str) -> bool:
        metadata = self.schemas[name].get("properties", {}).get("metadata", {})
        return f"{META}.ListMeta" in references(metadata)


def module_of(name: str) -> str:
    """``io.k8s.api.core.v1.PodSpec`` → ``core/v1``; "" for names that are in no group."""
    if name.startswith(f"{META}."):
        return "meta/v1"
    found = _NAME.fullmatch(name)
    return f"{found['group']}/{found['version']}" if found else ""


def prefix_of(module: str) -> str:
    """``core/v1`` → ``io.k8s.api.core.v1``."""
    return META if module == "meta/v1" else f"{_API}.{module.replace('/', '.')}"


def references(schema: object) -> set[str]:
    """Return the names of the types that a schema refers to, at any depth."""
    return set(_references(schema))


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target.removeprefix(_REFERENCE)
        schema = [*schema.values()]
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)


def ask(server: RestClient) -> Published:
    """Read the documents of all groups."""
    schemas: dict[str, Json] = {}
    resources: list[Resource] = []
    for path in PATHS.values():
        for name, schema in server.get(f"/openapi/v3/{path}")["components"]["schemas"].items():
            # Lists of the group-version-kinds that use a type differ by document; they are not kept.
            schemas.setdefault(name, schema)
        resources += _resources(path, server.get(f"/{path}")["resources"])
    return Published(schemas, tuple(resources))


def _resources(path: str, found: list[Json]) -> Iterator[Resource]:
    group, version = ("", "v1") if path == "api/v1" else path.removeprefix("apis/").split("/")
    for item in found:
        if "/" not in item["name"]:
            yield Resource(
                group=group,
                version=version,
                kind=item["kind"],
                plural=item["name"],
                namespaced=item["namespaced"],
                short_names=tuple(item.get("shortNames", ())),
            )


def ask_pinned() -> Published:
    """Start the API server that the tests run on, and ask it."""
    with ControlPlane() as server:
        client = server.client()
        try:
            return ask(client)
        finally:
            client.close()
