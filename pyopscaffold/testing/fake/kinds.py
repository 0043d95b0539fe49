"""The kinds that a fake serves: the built-in ones of ``pyopscaffold.kube.builtin``, and those of CRDs given to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.kube import builtin
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.schema import Schema, from_mapping
from pyopscaffold.testing.fake.failure import NotSimulatedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_STATUS: Final = frozenset(
    (
        *("Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Service"),
        *("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "CronJob", "Job"),
        *("HorizontalPodAutoscaler", "Ingress", "PodDisruptionBudget", "CustomResourceDefinition"),
    )
)
_GENERATION: Final = frozenset(
    (
        *("Pod", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "CronJob", "Job", "NetworkPolicy"),
        *("HorizontalPodAutoscaler", "Ingress", "PodDisruptionBudget", "CustomResourceDefinition"),
    )
)
_SCALE: Final = frozenset(("Deployment", "ReplicaSet", "StatefulSet"))
_VERSION_NEEDED: Final = frozenset(("Lease", "PodDisruptionBudget", "CustomResourceDefinition"))
"""Facts of Kubernetes 1.37: the strategies below pkg/registry, and discovery."""

METADATA: Final = Schema(
    type="object",
    properties={
        "labels": Schema(type="object", additional_properties=Schema(type="string")),
        "annotations": Schema(type="object", additional_properties=Schema(type="string")),
        "finalizers": Schema(type="array", list_type="set", items=Schema(type="string")),
        "ownerReferences": Schema(
            type="array",
            list_type="map",
            list_map_keys=("uid",),
            items=Schema(type="object", map_type="atomic", preserve_unknown_fields=True),
        ),
        **{
            name: Schema(type="string")
            for name in (
                "name",
                "generateName",
                "namespace",
                "uid",
                "resourceVersion",
                "creationTimestamp",
                "deletionTimestamp",
                "selfLink",
            )
        },
        "generation": Schema(type="integer"),
        "deletionGracePeriodSeconds": Schema(type="integer"),
        "managedFields": Schema(type="array", items=Schema(preserve_unknown_fields=True)),
    },
)


@dataclass(frozen=True)
class ScalePaths:
    """Where the replicas of a kind stand; the selector's path may be empty."""

    spec: tuple[str, ...]
    status: tuple[str, ...]
    selector: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resource:
    """A kind as it is served. ``schema`` is that of a CRD; built-in kinds are neither validated nor defaulted."""

    kind: GroupVersionKind
    singular: str = ""
    short_names: tuple[str, ...] = ()
    custom: bool = False
    status: bool = False
    generation: bool = False
    version_needed: bool = False
    scale: ScalePaths | None = None
    schema: Schema | None = None
    selectable: tuple[str, ...] = ()

    @property
    def table(self) -> str:
        """Where the objects are stored, those of all versions together."""
        return self.kind.group_resource

    @cached_property
    def shape(self) -> Schema | None:
        """The schema by which fields have owners; of a built-in kind, read when it is first asked for."""
        known = self.schema if self.custom else _builtin_schema(self.kind)
        return None if known is None else known.having(properties={**known.properties, "metadata": METADATA})


class Kinds:
    """Finds what is served by its address."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str, str], Resource] = dict(_BUILT_IN)

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return what is served there; raises NotSimulatedError for kinds of Kubernetes that the fake does not know."""
        found = self._resources.get((group, version, plural))
        if found is None and _is_kubernetes(group):
            raise NotSimulatedError(f"{plural} in {f'{group}/{version}' if group else version}")
        return found

    def of_kind(self, group: str, kind: str) -> Resource | None:
        """Return any version of a kind."""
        wanted = (group, kind)
        return next((found for found in self if (found.kind.group, found.kind.kind) == wanted), None)

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._resources.values())

    def serve(self, crd: Mapping[str, Any], resources: Iterable[Resource]) -> None:
        """Serve the versions of a CRD, and no longer those that it had before."""
        self.drop(crd)
        for resource in resources:
            self._resources[resource.kind.group, resource.kind.version, resource.kind.plural] = resource

    def drop(self, crd: Mapping[str, Any]) -> None:
        """Serve the kind of a CRD no longer."""
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        self._resources = {key: found for key, found in self._resources.items() if key[::2] != (group, plural)}


def resources_of(crd: Mapping[str, Any], *, ignore_rules: bool) -> Iterator[Resource]:
    """Read the served versions of a CRD; raises NotSimulatedError where it asks for more than the fake does."""
    spec = crd["spec"]
    names = spec["names"]
    if spec.get("conversion", {}).get("strategy", "None") != "None":
        raise NotSimulatedError(f"conversion webhooks, which {names['kind']} asks for")
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        schema = from_mapping(version.get("schema", {}).get("openAPIV3Schema", {}), report=lambda *_: None)
        if not ignore_rules and (place := next(_rules(schema, ""), None)) is not None:
            raise NotSimulatedError(
                f"CEL rules, which {names['kind']} has at {place or 'its root'}; make it with ignore_rules=True to do "
                "without them"
            )
        subresources = version.get("subresources", {})
        yield Resource(
            GroupVersionKind(
                spec["group"],
                version["name"],
                names["kind"],
                plural=names["plural"],
                namespaced=spec["scope"] == "Namespaced",
            ),
            singular=names.get("singular", names["kind"].lower()),
            short_names=tuple(names.get("shortNames", ())),
            custom=True,
            status="status" in subresources,
            generation=True,
            version_needed=True,
            scale=_scale(subresources.get("scale")),
            schema=schema,
            selectable=tuple(item["jsonPath"].lstrip(".") for item in version.get("selectableFields", ())),
        )


def _scale(scale: Mapping[str, str] | None) -> ScalePaths | None:
    if scale is None:
        return None
    return ScalePaths(
        _steps(scale["specReplicasPath"]), _steps(scale["statusReplicasPath"]), _steps(scale.get("labelSelectorPath"))
    )


def _steps(path: str | None) -> tuple[str, ...]:
    return tuple(path.lstrip(".").split(".")) if path else ()


def _rules(schema: Schema, path: str) -> Iterator[str]:
    if schema.rules:
        yield path
    for name, child in schema.properties.items():
        yield from _rules(child, f"{path}.{name}".lstrip("."))
    for inner in (schema.items, schema.additional_properties):
        if inner is not None:
            yield from _rules(inner, f"{path}[]")


def _is_kubernetes(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def _builtin_schema(kind: GroupVersionKind) -> Schema | None:
    from pyopscaffold.model.known import schema_of  # noqa: PLC0415 - reads large files, and few tests need them

    group = kind.group.partition(".")[0] or "core"
    try:
        return schema_of(f"io.k8s.api.{group}.{kind.version}.{kind.kind}")
    except KeyError:
        return None


def _built_in(kind: GroupVersionKind) -> Resource:
    return Resource(
        kind,
        singular=kind.kind.lower(),
        status=kind.kind in _STATUS,
        generation=kind.kind in _GENERATION,
        version_needed=kind.kind in _VERSION_NEEDED,
        scale=ScalePaths(("spec", "replicas"), ("status", "replicas")) if kind.kind in _SCALE else None,
    )


_BUILT_IN: Final = {
    (kind.group, kind.version, kind.plural): _built_in(kind)
    for kind in vars(builtin).values()
    if isinstance(kind, GroupVersionKind)
}
