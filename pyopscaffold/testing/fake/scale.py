"""The scale subresource: replicas of any kind, as an autoscaling/v1 Scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyopscaffold.testing.fake.kinds import Resource

Json = dict[str, Any]

_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def of(resource: Resource, obj: Json) -> Json:
    """Return the Scale of an object."""
    paths = resource.scale
    assert paths is not None  # noqa: S101 - the address was found
    status: Json = {"replicas": _get(obj, paths.status) or 0}
    if selector := _get(obj, paths.selector) if paths.selector else None:
        status["selector"] = selector
    replicas = _get(obj, paths.spec)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: obj["metadata"][name] for name in _METADATA if name in obj["metadata"]},
        "spec": {} if not replicas else {"replicas": replicas},
        "status": status,
    }


def applied(resource: Resource, obj: Json, scale: Json) -> Json:
    """Return the object with the replicas of a Scale; its resourceVersion stays a precondition."""
    paths = resource.scale
    assert paths is not None  # noqa: S101 - as above
    version = scale.get("metadata", {}).get("resourceVersion") or obj["metadata"]["resourceVersion"]
    changed = _set(obj, paths.spec, scale.get("spec", {}).get("replicas", 0))
    return {**changed, "metadata": {**changed["metadata"], "resourceVersion": version}}


def _get(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _set(value: Any, path: tuple[str, ...], new: Any) -> Any:
    if not path:
        return new
    inner = value if isinstance(value, dict) else {}
    return {**inner, path[0]: _set(inner.get(path[0]), path[1:], new)}
