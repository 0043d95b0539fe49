"""Two states of a CustomResourceDefinition: the manifest itself, and every pair of versions that clients can cross.

Objects cross from one version to another where no webhook converts them: they are stored in one and read in another. So
each version that is served is compared with what it was, and with the other served versions; what already lay between
two versions before is no change.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from pyopscaffold.compat.change import Change, Grade, Sort
from pyopscaffold.compat.schema import compare as compare_schemas
from pyopscaffold.kube.values import listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    Versions = dict[str, tuple[int, dict[str, Any]]]
    """The versions that are mappings, by name, with their place in the list."""

_SCHEMA = ("schema", "openAPIV3Schema")


def compare(old: dict[str, Any], new: dict[str, Any]) -> tuple[Change, ...]:
    """Return what changed between two manifests of apiextensions.k8s.io/v1, the worst changes first."""
    was, now = mapping(old.get("spec")), mapping(new.get("spec"))
    found = [*_manifest(was, now), *_versions(old, was, now), *_same(was, now)]
    crossing = [] if _converted(now) else list(_across(now))
    if crossing:
        known = {_essence(change) for change in (() if _converted(was) else _across(was))}
        found += [change for change in crossing if _essence(change) not in known and not _told(change, found)]
    return tuple(sorted(found, key=lambda change: (-change.grade, change)))


def removed(name: str) -> Change:
    """Return the change that a CRD is gone."""
    return _whole(Grade.BREAKING, Sort.REMOVED, f"the CRD {name} is gone, and all its objects with it")


def added(name: str) -> Change:
    """Return the change that a CRD is new."""
    return _whole(Grade.COMPATIBLE, Sort.ADDED, f"the CRD {name} is new")


def _whole(grade: Grade, sort: Sort, message: str, *path: str | int, version: str = "") -> Change:
    return Change(version=version, field="", sort=sort, message=message, grade=grade, path=path)


def _manifest(was: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    """Yield what changed outside of versions."""
    for key in ("group", "scope"):
        if was.get(key) != now.get(key):
            message = f"{key} was {text(was.get(key))} and is {text(now.get(key))} now, which the server refuses"
            yield _whole(Grade.BREAKING, Sort.MANIFEST, message, "spec", key)
    old, new = mapping(was.get("names")), mapping(now.get("names"))
    for key in ("kind", "plural"):
        if old.get(key) != new.get(key):
            message = f"{key} was {text(old.get(key))} and is {text(new.get(key))} now: another API for its clients"
            yield _whole(Grade.BREAKING, Sort.MANIFEST, message, "spec", "names", key)
    for key, what in (("shortNames", "short name"), ("categories", "category")):
        for name in listing(old.get(key)):
            if name not in listing(new.get(key)):
                yield _whole(Grade.RISKY, Sort.MANIFEST, f"the {what} {name} is gone", "spec", "names")
    if _converted(was) and not _converted(now):
        message = "no webhook converts the versions any more"
        yield _whole(Grade.RISKY, Sort.MANIFEST, message, "spec")


def _converted(spec: dict[str, Any]) -> bool:
    return mapping(spec.get("conversion")).get("strategy") == "Webhook"


def _by_name(spec: dict[str, Any]) -> Versions:
    found = enumerate(listing(spec.get("versions")))
    return {text(data.get("name")): (index, data) for index, data in found if isinstance(data, dict)}


def _versions(manifest: dict[str, Any], was: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    """Yield which versions went, came, or changed in more than their schema."""
    old, new = _by_name(was), _by_name(now)
    stored = {text(name) for name in listing(mapping(manifest.get("status")).get("storedVersions"))}
    stored |= {name for name, (_, data) in old.items() if data.get("storage") is True}
    for name, (_, data) in old.items():
        if name not in new:
            yield from _gone(name, data, stored=name in stored)
        else:
            index, other = new[name]
            yield from _version(name, data, other, ("spec", "versions", index))
    for name, (index, data) in new.items():
        if name not in old:
            yield _whole(Grade.COMPATIBLE, Sort.ADDED, f"version {name} is new", "spec", "versions", index)
            yield from _stored(name, {}, data, ("spec", "versions", index))


def _gone(name: str, data: dict[str, Any], *, stored: bool) -> Iterator[Change]:
    path = ("spec", "versions")
    if stored:
        message = f"version {name} is gone, though objects are stored in it: migrate them, and clear storedVersions"
        yield _whole(Grade.BREAKING, Sort.REMOVED, message, *path)
    elif data.get("served") is True:
        yield _whole(Grade.BREAKING, Sort.REMOVED, f"version {name} is gone, though it was served", *path)
    else:
        yield _whole(Grade.COMPATIBLE, Sort.REMOVED, f"version {name}, which was not served, is gone", *path)


def _version(name: str, was: dict[str, Any], now: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Change]:
    def change(grade: Grade, sort: Sort, message: str, *keys: str) -> Change:
        return _whole(grade, sort, f"version {name} {message}", *path, *keys, version=name)

    if was.get("served") is True and now.get("served") is not True:
        yield change(Grade.BREAKING, Sort.REMOVED, "is not served any more", "served")
    yield from _stored(name, was, now, path)
    if now.get("deprecated") is True and was.get("deprecated") is not True:
        yield change(Grade.COMPATIBLE, Sort.MANIFEST, "is deprecated now", "deprecated")
    old, new = mapping(was.get("subresources")), mapping(now.get("subresources"))
    for key in ("status", "scale"):
        if isinstance(old.get(key), dict) and not isinstance(new.get(key), dict):
            yield change(Grade.BREAKING, Sort.REMOVED, f"has no {key} subresource any more")
    if isinstance(new.get("status"), dict) and not isinstance(old.get("status"), dict):
        message = "has a status subresource now: a status that is written with the spec is dropped"
        yield change(Grade.RISKY, Sort.MANIFEST, message, "subresources", "status")
    if isinstance(old.get("scale"), dict) and isinstance(new.get("scale"), dict) and old["scale"] != new["scale"]:
        yield change(Grade.RISKY, Sort.MANIFEST, "is scaled by other fields now", "subresources", "scale")
    selectable = {text(mapping(one).get("jsonPath")) for one in listing(now.get("selectableFields"))}
    for one in listing(was.get("selectableFields")):
        if (field := text(mapping(one).get("jsonPath"))) not in selectable:
            yield change(Grade.BREAKING, Sort.REMOVED, f"can't be selected by {field} any more")


def _stored(name: str, was: dict[str, Any], now: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Change]:
    if now.get("storage") is True and was.get("storage") is not True:
        message = f"version {name} is the one that objects are stored in now"
        yield _whole(Grade.RISKY, Sort.MANIFEST, message, *path, "storage", version=name)


def _same(was: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    """Yield what changed in the schemas of versions that were served, and are."""
    old = _by_name(was)
    for name, (index, data) in _by_name(now).items():
        if name in old and old[name][1].get("served") is True and data.get("served") is True:
            path = ("spec", "versions", index, *_SCHEMA)
            yield from compare_schemas(_schema(old[name][1]), _schema(data), version=name, path=path)


def _across(spec: dict[str, Any]) -> Iterator[Change]:
    """Yield what lies between each served version and each other."""
    served = [(name, *entry) for name, entry in _by_name(spec).items() if entry[1].get("served") is True]
    for (before, _, old), (name, index, new) in permutations(served, 2):
        path = ("spec", "versions", index, *_SCHEMA)
        for change in compare_schemas(_schema(old), _schema(new), version=name, path=path, before=before):
            if change.grade is not Grade.COMPATIBLE:
                yield change


def _schema(version: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(version.get("schema")).get("openAPIV3Schema"))


def _essence(change: Change) -> tuple[str, str, str, Sort, str]:
    return change.before, change.version, change.field, change.sort, change.message


def _told(change: Change, found: list[Change]) -> bool:
    """Whether the same was already said of the version's own past."""
    mine = (change.version, change.field, change.sort, change.message)
    return any(mine == (one.version, one.field, one.sort, one.message) for one in found)
