"""The requests of the Kubernetes API over any transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import Object
from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import ClientError
from pyopscaffold.runtime.client import wire
from pyopscaffold.runtime.client.kinds import collection_path, object_path
from pyopscaffold.runtime.client.protocols import (
    PatchBody,
    PatchType,
    Propagation,
    RawObject,
    Scale,
    Write,
    WriteObserver,
)
from pyopscaffold.runtime.client.reads import ApiReader, query_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.kube.gvk import GroupVersionKind

APPLY = "application/apply-patch+yaml"  # JSON is YAML
_PATCH_TYPES: dict[PatchType, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
_OF_THE_KIND = frozenset({"", "status"})
# what the server sets and no client may claim; uid and resourceVersion stay, as preconditions
_SERVER_FIELDS = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "selfLink",
    }
)


class ApiClient(ApiReader):
    """A :class:`~pyopscaffold.runtime.client.protocols.Client` over a transport.

    At most ``max_in_flight`` requests are under way at once (watches not counted). A 429 with Retry-After, and for
    reads a 503 with one, is waited out up to five times, ten seconds each at most. ``timeout`` bounds one exchange and
    ``silence`` the time in which a watch brings nothing, not even the bookmark of each minute; both are in seconds.
    """

    async def create(self, obj: Any, *, field_manager: str, dry_run: bool = False) -> Any:
        """See Writer."""
        kind, mapping = await self._addressed(obj)
        metadata = mapping.get("metadata") or {}
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        if kind.namespaced and not namespace:
            raise ClientError(f"{kind.group_kind} {name!r} needs metadata.namespace")
        path = collection_path(kind, namespace)
        query = query_of(fieldManager=field_manager, dryRun="All" if dry_run else "")
        response = await self._send("POST", path, query=query, body=msgspec.json.encode(mapping))
        made = wire.decode(_kind_of_answer(obj, kind), response.body)
        if not dry_run:
            self._report(Write(kind, namespace, name, body=response.body))
        return made

    async def apply(
        self, obj: Any, *, field_manager: str, force: bool = True, subresource: str = "", dry_run: bool = False
    ) -> Any:
        """See Writer."""
        kind, mapping = await self._addressed(obj)
        metadata = {key: value for key, value in (mapping.get("metadata") or {}).items() if key not in _SERVER_FIELDS}
        return await self._change(
            "PATCH",
            kind,
            metadata,
            {**mapping, "metadata": metadata},
            answer=_kind_of_answer(obj, kind),
            subresource=subresource,
            content_type=APPLY,
            dry_run=dry_run,
            fieldManager=field_manager,
            force="true" if force else "false",
        )

    async def replace(
        self, obj: RawObject, *, field_manager: str, subresource: str = "", dry_run: bool = False
    ) -> RawObject:
        """See Writer."""
        if isinstance(obj, Object):
            raise ClientError(f"a {type(obj).__name__} can't replace: it may lack fields that its class does not know")
        kind, metadata = await self.discovery.of(obj), obj.get("metadata") or {}
        if not metadata.get("resourceVersion"):
            raise ClientError(f"{kind.group_kind} needs the metadata.resourceVersion that it was read at")
        replaced: RawObject = await self._change(
            "PUT", kind, metadata, obj, subresource=subresource, dry_run=dry_run, fieldManager=field_manager
        )
        return replaced

    async def patch(
        self,
        kind: Kind,
        name: str,
        patch: PatchBody,
        *,
        namespace: str = "",
        patch_type: PatchType = "merge",
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> Any:
        """See Writer."""
        return await self._change(
            "PATCH",
            gvk_of(kind),
            {"namespace": namespace, "name": name},
            patch,
            answer=kind,
            subresource=subresource,
            content_type=_PATCH_TYPES[patch_type],
            dry_run=dry_run,
            fieldManager=field_manager,
        )

    async def set_scale(
        self, kind: Kind, name: str, replicas: int, *, namespace: str = "", field_manager: str, dry_run: bool = False
    ) -> Scale:
        """See Client."""
        wanted = {"spec": {"replicas": replicas}}
        path = object_path(gvk_of(kind), namespace, name, "scale")
        query = query_of(fieldManager=field_manager, dryRun="All" if dry_run else "")
        body, content_type = msgspec.json.encode(wanted), _PATCH_TYPES["merge"]
        return wire.scale((await self._send("PATCH", path, query=query, body=body, content_type=content_type)).body)

    async def delete(
        self,
        kind: Kind,
        name: str,
        *,
        namespace: str = "",
        propagation: Propagation = "Background",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> None:
        """See Writer."""
        gvk = gvk_of(kind)
        path = object_path(gvk, namespace, name)
        preconditions = query_of(uid=uid, resourceVersion=resource_version)
        response = await self._send(
            "DELETE", path, body=_delete_options(propagation, dry_run=dry_run, preconditions=preconditions)
        )
        if dry_run:
            return
        answer = wire.deleted(response.body)
        if answer.stays:
            self._report(Write(gvk, namespace, name, body=response.body))
        else:
            self._report(Write(gvk, namespace, name, uid=answer.metadata.uid or answer.details.uid or uid))

    async def delete_collection(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        propagation: Propagation = "Background",
        dry_run: bool = False,
    ) -> None:
        """See Writer."""
        gvk = gvk_of(kind)
        if gvk.namespaced and not namespace:
            raise ClientError(f"{gvk.plural} are deleted in one namespace at a time, and none was given")
        await self._send(
            "DELETE",
            collection_path(gvk, namespace),
            query=query_of(labelSelector=labels, fieldSelector=fields),
            body=_delete_options(propagation, dry_run=dry_run),
        )

    def add_write_observer(self, observer: WriteObserver) -> None:
        """See Client."""
        self._observers.append(observer)

    async def _addressed(self, obj: Any) -> tuple[GroupVersionKind, Mapping[str, Any]]:
        if isinstance(obj, Object):
            return obj.gvk, codec.to_mapping(obj)
        return await self.discovery.of(obj), obj

    async def _change(
        self,
        method: str,
        kind: GroupVersionKind,
        metadata: Mapping[str, str],
        body: Any,
        *,
        answer: Kind | None = None,
        subresource: str,
        content_type: str = "application/json",
        dry_run: bool,
        **query: str,
    ) -> Any:
        """Change the object that ``metadata`` names, have it reported, and return it as ``answer``."""
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        response = await self._send(
            method,
            object_path(kind, namespace, name, subresource),
            query=query_of(dryRun="All" if dry_run else "", **query),
            body=msgspec.json.encode(body),
            content_type=content_type,
        )
        if subresource not in _OF_THE_KIND:  # the others answer with another kind, such as Scale
            return wire.decode(kind, response.body)
        changed = wire.decode(answer or kind, response.body)
        if not dry_run:
            self._report(Write(kind, namespace, name, body=response.body))
        return changed

    def _report(self, write: Write) -> None:
        for observer in self._observers:
            observer(write)


def _delete_options(
    propagation: Propagation, *, dry_run: bool, preconditions: Mapping[str, str] | None = None
) -> bytes:
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
    if preconditions:
        options["preconditions"] = preconditions
    if dry_run:
        options["dryRun"] = ["All"]
    return msgspec.json.encode(options)


def _kind_of_answer(obj: Any, kind: GroupVersionKind) -> Kind:
    return type(obj) if isinstance(obj, Object) else kind
