"""The rules for metadata that hold for objects of every kind.

Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go, k8s.io/apiserver/pkg/registry/rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.kube.names import (
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_label_value,
    is_qualified_name,
)
from pyopscaffold.testing.fake.failure import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.kube.gvk import GroupVersionKind

Json = dict[str, Any]

_NAME_RULES: Final[dict[str, Callable[[str], bool]]] = {"Namespace": is_dns1123_label, "Service": is_dns1035_label}
_IMMUTABLE: Final = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_CARRIED: Final = (*_IMMUTABLE, "managedFields", "resourceVersion", "name", "namespace")


def carry_over(old: Json, new: Json) -> None:
    """Have the server's own fields stay as they are, where the new metadata does not name them."""
    for name in _CARRIED:
        if name in old and new.get(name) in (None, "", 0, []):
            new[name] = old[name]
        elif new.get(name) in (None, ""):
            new.pop(name, None)
    new["creationTimestamp"] = old["creationTimestamp"]
    new["generation"] = old.get("generation", 0)


def tidy(metadata: Json) -> None:
    """Leave out what is empty, as the server writes it."""
    for name in ("labels", "annotations", "finalizers", "ownerReferences", "managedFields", "generateName"):
        if name in metadata and not metadata[name]:
            del metadata[name]


def create_causes(kind: GroupVersionKind, metadata: Json) -> Iterator[Cause]:
    """Yield what is wrong with the metadata of a new object."""
    name = metadata.get("name", "")
    if not name:
        yield Cause("metadata.name", "FieldValueRequired", "Required value: name or generateName is required")
    elif not _NAME_RULES.get(kind.kind, is_dns1123_subdomain)(name):
        yield Cause("metadata.name", "FieldValueInvalid", f'Invalid value: "{name}": it is no name of a {kind.kind}')
    yield from _common_causes(metadata)


def update_causes(old: Json, new: Json) -> Iterator[Cause]:
    """Yield what is wrong with changed metadata."""
    for name in _IMMUTABLE:
        if new.get(name) != old.get(name):
            yield Cause(
                f"metadata.{name}", "FieldValueInvalid", f'Invalid value: "{new.get(name)}": field is immutable'
            )
    if "deletionTimestamp" in old:
        added = [item for item in new.get("finalizers", ()) if item not in old.get("finalizers", ())]
        if added:
            why = "no new finalizers can be added if the object is being deleted, found new finalizers"
            listed = ", ".join(f'"{item}"' for item in added)
            yield Cause("metadata.finalizers", "FieldValueForbidden", f"Forbidden: {why} []string{{{listed}}}")
    yield from _common_causes(new)


def _common_causes(metadata: Json) -> Iterator[Cause]:
    for key, value in metadata.get("labels", {}).items():
        if not is_qualified_name(key):
            yield _invalid("labels", key, "it is no name")
        if not is_label_value(value):
            yield _invalid("labels", value, "it is no value of a label")
    for key in metadata.get("annotations", {}):
        if not is_qualified_name(key.lower()):
            yield _invalid("annotations", key, "it is no name")
    for name in metadata.get("finalizers", ()):
        if not is_qualified_name(name):
            yield _invalid("finalizers", name, "it is no name")
    yield from _owner_causes(metadata.get("ownerReferences", ()))


def _owner_causes(owners: Any) -> Iterator[Cause]:
    for index, owner in enumerate(owners):
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                place = f"metadata.ownerReferences[{index}].{name}"
                yield Cause(place, "FieldValueRequired", "Required value: must not be empty")
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        yield _invalid("ownerReferences", "", "Only one reference can have Controller set to true")


def _invalid(name: str, value: str, why: str) -> Cause:
    return Cause(f"metadata.{name}", "FieldValueInvalid", f'Invalid value: "{value}": {why}')
