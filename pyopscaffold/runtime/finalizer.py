"""The finalizer that holds an object until ``finalize`` is done.

Both changes are JSON patches that test what they build on, so that they never undo another writer's change
(RFC 6902; an absent field equals null for the API server's ``test``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Conflict, Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.kube.meta import ObjectMeta
    from pyopscaffold.runtime.client.protocols import Client, RawObject
    from pyopscaffold.runtime.objects import Meta


def finalizer_name(kind: GroupVersionKind, controller: str) -> str:
    """``db.example.com/mydatabase-finalizer``: a path under the group, as the server wants it."""
    return f"{kind.group}/{controller}-finalizer"


def addition(finalizers: Sequence[str], name: str, *, uid: str) -> list[dict[str, Any]]:
    """Return the patch that adds the finalizer to these."""
    test_uid = {"op": "test", "path": "/metadata/uid", "value": uid}
    if not finalizers:
        return [
            test_uid,
            {"op": "test", "path": "/metadata/finalizers", "value": None},
            {"op": "add", "path": "/metadata/finalizers", "value": [name]},
        ]
    return [
        test_uid,
        {"op": "test", "path": "/metadata/finalizers", "value": list(finalizers)},
        {"op": "add", "path": "/metadata/finalizers/-", "value": name},
    ]


def removal(finalizers: Sequence[str], name: str, *, uid: str) -> list[dict[str, Any]]:
    """Return the patch that takes the finalizer out of these."""
    path = f"/metadata/finalizers/{list(finalizers).index(name)}"
    return [
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "test", "path": path, "value": name},
        {"op": "remove", "path": path},
    ]


async def add(client: Client, kind: GroupVersionKind, metadata: ObjectMeta | Meta, name: str) -> RawObject:
    """Put the finalizer on the object and return what the server then has; raises Conflict if the object moved on."""
    return await _patch(client, kind, metadata, addition(metadata.finalizers, name, uid=metadata.uid))


async def remove(client: Client, kind: GroupVersionKind, metadata: ObjectMeta | Meta, name: str) -> None:
    """Take the finalizer off the object; raises Conflict if the object moved on, NotFound if there is none."""
    await _patch(client, kind, metadata, removal(metadata.finalizers, name, uid=metadata.uid))


async def _patch(
    client: Client, kind: GroupVersionKind, metadata: ObjectMeta | Meta, patch: list[dict[str, Any]]
) -> RawObject:
    try:
        return await client.patch(kind, metadata.name, patch, namespace=metadata.namespace, patch_type="json")
    except Invalid as error:
        if error.causes:  # a schema or a policy refuses the object
            raise
        # a failed test is all that the server refuses without a cause
        raise Conflict(f"{metadata.name} changed meanwhile: {error}", code=409, reason="Conflict") from error
