"""Create, update, apply and delete, by the rules that the API server has for objects of every kind.

Source: k8s.io/apiserver/pkg/registry/{rest,generic/registry}, pkg/endpoints/handlers;
k8s.io/apiextensions-apiserver/pkg/registry/customresource.
"""

from __future__ import annotations

import copy
import random
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.schema.defaults import default, drop_nulls
from pyopscaffold.schema.prune import prune
from pyopscaffold.testing.fake import apply, builtin, fields, metadata
from pyopscaffold.testing.fake.apply import Manager
from pyopscaffold.testing.fake.failure import (
    Cause,
    Failure,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
    stale,
)
from pyopscaffold.testing.fake.kinds import METADATA
from pyopscaffold.testing.fake.misfits import causes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.testing.fake.kinds import Resource
    from pyopscaffold.testing.fake.store import Key, Store

Json = dict[str, Any]

_SUFFIX: Final = "bcdfghjklmnpqrstvwxz2456789"
_NAMESPACES: Final = "namespaces"


@dataclass(frozen=True)
class Options:
    """How a write is made; ``strict`` refuses unknown fields, of which ``warnings`` are told otherwise."""

    manager: Manager
    dry_run: bool = False
    strict: bool = False
    subresource: str = ""
    warnings: list[str] | None = None


class Writer:
    """Writes to a store. ``now`` gives the time as it is written; uids and suffixes are the same in every run."""

    def __init__(self, store: Store, now: Callable[[], str]) -> None:
        self._store = store
        self._now = now
        self._random = random.Random(0)  # noqa: S311 - names, no secrets

    def create(self, resource: Resource, namespace: str, obj: Json, options: Options) -> Json:
        """Store a new object, and return it."""
        obj = copy.deepcopy(obj)
        kind, meta = resource.kind, obj["metadata"]
        self._require_namespace(resource, namespace, meta.get("name", ""))
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation", "managedFields"):
            meta.pop(name, None)
        if meta.pop("resourceVersion", ""):
            raise Failure(500, "", "resourceVersion should not be set on objects to be created")
        generated = not meta.get("name") and bool(meta.get("generateName"))
        if generated:
            meta["name"] = meta["generateName"] + "".join(self._random.choices(_SUFFIX, k=5))
        meta["uid"] = _uid(self._random)
        meta["creationTimestamp"] = self._now()
        if resource.kind.namespaced:
            meta["namespace"] = namespace
        if resource.generation:
            meta["generation"] = 1
        if resource.status:
            obj.pop("status", None)
        if resource.table == _NAMESPACES:
            builtin.furnish_namespace(obj)
        self._fit(resource, obj, options)
        metadata.tidy(meta)
        self._validate(resource, obj, None, [*metadata.create_causes(kind, meta)])
        key = (namespace, meta["name"])
        if self._store.get(resource.table, key) is not None:
            raise already_exists(kind, meta["name"])
        if options.manager.operation == "Update":
            ignored = _ignored(resource, "")
            meta["managedFields"] = apply.updated(
                None, obj, resource.shape, options.manager, self._now(), ignored=ignored
            )
        metadata.tidy(meta)
        return obj if options.dry_run else self._store.put(resource.table, key, obj)

    def update(self, resource: Resource, old: Json, new: Json, options: Options) -> Json:
        """Put ``new`` in the place of ``old``, and return what is stored then."""
        new = copy.deepcopy(new)
        meta = new["metadata"]
        name = old["metadata"]["name"]
        if (meta.get("resourceVersion") or old["metadata"]["resourceVersion"]) != old["metadata"]["resourceVersion"]:
            raise stale(resource.kind, name)
        metadata.carry_over(old["metadata"], meta)
        self._fit(resource, new, options)
        new = _divide(resource, old, new, options.subresource)
        meta = new["metadata"]
        metadata.tidy(meta)
        if not resource.generation:
            meta.pop("generation", None)
        elif not fields.equal(_specified(resource, new), _specified(resource, old)):
            meta["generation"] += 1
        self._validate(resource, new, old, [*metadata.update_causes(old["metadata"], meta)])
        if options.manager.operation == "Update":
            meta["managedFields"] = apply.updated(
                old,
                new,
                resource.shape,
                options.manager,
                self._now(),
                ignored=_ignored(resource, options.subresource),
            )
            metadata.tidy(meta)
        if fields.equal(_timeless(new), _timeless(old)):
            return old
        if options.dry_run:
            return new
        key = (meta.get("namespace", ""), name)
        if "deletionTimestamp" in meta and not meta.get("finalizers") and not _held(new):
            self._store.remove(resource.table, key)
            return new
        return self._store.put(resource.table, key, new)

    def apply(self, resource: Resource, key: Key, config: Json, options: Options, *, force: bool) -> tuple[Json, bool]:
        """Lay a configuration over an object, or make it; return it, and whether it was made."""
        kind, meta = resource.kind, config["metadata"]
        found = self._store.get(resource.table, key)
        old = None if found is None else {**found, "apiVersion": kind.api_version}
        if meta.get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        self._refuse_undeclared(resource, key, config)
        uid = meta.get("uid")
        if old is None:
            if options.subresource:
                raise not_found(kind, key[1])
            if uid:
                why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                raise conflict(kind, key[1], why)
            meta.pop("resourceVersion", None)
        live = old or {"metadata": {}}
        made, managed = apply.applied(
            live,
            config,
            resource.shape,
            options.manager,
            self._now(),
            force=force,
            ignored=_ignored(resource, options.subresource),
        )
        if old is None:
            created = self.create(resource, key[0], made, _but_unstored(options))
            created = {**created, "metadata": {**created["metadata"], "managedFields": managed}}
            return created if options.dry_run else self._store.put(resource.table, key, created), True
        made = {**made, "metadata": {**made["metadata"], "managedFields": managed}}
        return self.update(resource, old, made, options), False

    def delete(self, resource: Resource, old: Json, policy: str, *, dry_run: bool = False) -> Json | None:
        """Delete an object; return it where it waits for somebody, None where it is gone."""
        meta = old["metadata"]
        kept = [name for name in meta.get("finalizers", ()) if name not in ("orphan", "foregroundDeletion")]
        waits = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}.get(policy, [])
        finalizers = [*kept, *waits]
        key = (meta.get("namespace", ""), meta["name"])
        new = {**old, "metadata": {**meta, "finalizers": finalizers}}
        metadata.tidy(new["metadata"])
        if "deletionTimestamp" not in meta and (finalizers or _held(old)):
            new["metadata"]["deletionTimestamp"] = self._now()
            if not _held(old):
                new["metadata"]["deletionGracePeriodSeconds"] = 0
            if meta.get("generation"):
                new["metadata"]["generation"] = meta["generation"] + 1
        if _held(old):
            new["status"] = {**old.get("status", {}), "phase": "Terminating"}
        if not finalizers and not _held(old):
            if not dry_run:
                self._store.remove(resource.table, key)
            return None
        if new == old or dry_run:
            return new
        return self._store.put(resource.table, key, new)

    def _require_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        if not resource.kind.namespaced:
            return
        found = self._store.get(_NAMESPACES, ("", namespace))
        if found is None:
            details = {"name": namespace, "kind": _NAMESPACES}
            raise Failure(404, "NotFound", f'namespaces "{namespace}" not found', details)
        if "deletionTimestamp" in found["metadata"]:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = Cause("metadata.namespace", "NamespaceTerminating", f"namespace {namespace} is being terminated")
            raise forbidden(resource.kind, name, why, [cause])

    def _fit(self, resource: Resource, obj: Json, options: Options) -> None:
        """Have an object take the form that its schema wants."""
        unknown = [name for name in obj["metadata"] if name not in METADATA.properties]
        for name in unknown:
            del obj["metadata"][name]
        gone = [f"metadata.{name}" for name in unknown]
        if resource.schema is not None:
            gone += prune(obj, resource.schema)
            if options.manager.operation != "Apply":
                drop_nulls(obj, resource.schema)
            default(obj, resource.schema)
        else:
            builtin.normalise(obj)
        said = [f'unknown field "{path}"' for path in gone]
        if said and options.strict:
            kind = resource.kind
            raise bad_request(
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: strict decoding error: '
                + ", ".join(said)
            )
        if options.warnings is not None:
            options.warnings.extend(said)

    def _validate(self, resource: Resource, new: Json, old: Json | None, found: list[Cause]) -> None:
        if resource.schema is not None:
            found = [*found, *causes(resource.schema, new, old)]
        if found:
            raise invalid(resource.kind, new["metadata"].get("name", ""), found)

    def _refuse_undeclared(self, resource: Resource, key: Key, config: Json) -> None:
        if resource.schema is None:
            return
        gone = prune(copy.deepcopy(config), resource.schema)
        if gone:
            kind = resource.kind
            place = f"{key[0]}/{key[1]}; {kind.api_version}, Kind={kind.kind}"
            said = f"failed to create typed patch object ({place}): .{gone[0]}: field not declared in schema"
            raise Failure(500, "", said)


def _but_unstored(options: Options) -> Options:
    return replace(options, dry_run=True)


def _ignored(resource: Resource, subresource: str) -> frozenset[str]:
    """Return the top-level fields that a request can't own."""
    if subresource == "status":
        return frozenset(("metadata", "spec"))
    return frozenset(("status",)) if resource.status else frozenset()


def _divide(resource: Resource, old: Json, new: Json, subresource: str) -> Json:
    """Leave the status alone, or everything else."""
    if subresource == "status":
        managed = new["metadata"].get("managedFields")
        divided = {name: value for name, value in old.items() if name != "status"}
        divided["metadata"] = {**old["metadata"], **({"managedFields": managed} if managed else {})}
        return {**divided, "status": new["status"]} if "status" in new else divided
    if not resource.status:
        return new
    divided = {name: value for name, value in new.items() if name != "status"}
    return {**divided, "status": old["status"]} if "status" in old else divided


def _specified(resource: Resource, obj: Json) -> Json:
    """Return what a generation counts the changes of."""
    unspecified = ("metadata", "status") if resource.status else ("metadata",)
    return {name: value for name, value in obj.items() if name not in unspecified}


def _timeless(obj: Json) -> Json:
    """Return an object without what every write would change."""
    meta = {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}
    if "managedFields" in meta:
        meta["managedFields"] = [
            {name: value for name, value in entry.items() if name != "time"} for entry in meta["managedFields"]
        ]
    return {**obj, "metadata": meta}


def _held(obj: Json) -> bool:
    """Whether it is a namespace, which goes when it is empty."""
    return obj.get("kind") == "Namespace" and bool(obj.get("spec", {}).get("finalizers"))


def _uid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))
