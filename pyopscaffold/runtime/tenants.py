"""The configuration of tenants: whose an object is, which ConfigMap is its tenant's, and who is told when it changes.

A tenant is somebody who may write in some namespaces, and is not trusted with those of others. So nothing that a tenant
writes decides whose configuration is read: not a label of the object, and no ConfigMap but where the controller's
declaration says so. What is not watched can't be read either, and by the generated role nothing else can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from pyopscaffold.api.declarations import Index
from pyopscaffold.errors import TenantConfigError, TenantConfigMissing, TenantRefused
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime import settings
from pyopscaffold.runtime.cache import index
from pyopscaffold.runtime.predicate import both
from pyopscaffold.runtime.reconcile import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from pyopscaffold.api import ObjectMeta
    from pyopscaffold.api.tenants import TenantConfig
    from pyopscaffold.runtime.cache import Cache, Delta, Informer, Stored
    from pyopscaffold.runtime.settings import Values

T = TypeVar("T")


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] | None = None


_data_of = msgspec.json.Decoder(_ConfigMap).decode


class Tenants:
    """The tenants of one controller's objects. Made before the cache runs, since it asks for informers."""

    def __init__(self, config: TenantConfig, cache: Cache, primary: Informer) -> None:
        self._config = config
        self._primary = primary
        self._read: dict[str, tuple[Stored, type, Values | TenantConfigError]] = {}  # by the ConfigMap's uid
        self._informers: dict[str, Informer] = {}
        for extent in config.extents():
            self._informers[extent.namespace or extent.kind.kind] = cache.informer(
                extent.kind,
                namespace=extent.namespace,
                labels=extent.label,
                fields=extent.fields,
                metadata_only=extent.kind == NAMESPACE,
            )
        if config.shared_from:
            index.add_to(self._informers[NAMESPACE.kind], Index(kind=NAMESPACE, label=config.label))

    def listen(self, add: Callable[[Request], None]) -> None:
        """Have the objects of a tenant added to the queue whenever its configuration comes, changes or goes."""

        def told(delta: Delta) -> None:
            if delta.new is None and delta.old is not None:
                self._read.pop(delta.old.meta.uid, None)
            for namespace in dict.fromkeys(name for item in both(delta) for name in self._concerned(item)):
                for stored in self._primary.list(namespace):
                    add(Request(stored.meta.namespace, stored.meta.name))

        for informer in self._informers.values():
            informer.add_handler(told)

    async def read(self, cls: type[T], of: ObjectMeta, namespace: str) -> T:
        """See Context.tenant_config."""
        find = self._shared if self._config.shared_from else self._own
        found = await find(of, namespace)
        return settings.made(cls, [(_place(item), self._values(cls, item)) for item in found])

    def _values(self, cls: type, item: Stored) -> Values:
        """Return what a ConfigMap says; its texts are taken apart once, for all objects of the tenant."""
        known = self._read.get(item.meta.uid)
        if known is None or known[0] is not item or known[1] is not cls:
            known = self._read[item.meta.uid] = (item, cls, _taken_apart(cls, item))
        if isinstance(known[2], TenantConfigError):
            raise known[2].with_traceback(None)
        return known[2]

    def _concerned(self, changed: Stored) -> Iterable[str]:
        """Return the namespaces whose objects a Namespace or a ConfigMap is about; '' means all."""
        config, meta = self._config, changed.meta
        if not config.shared_from:
            return ("",) if meta.name == config.override_name and config.override_from else (meta.namespace,)
        if not meta.namespace:
            return (meta.name,)
        tenant = meta.labels.get(config.label, "")
        return (item.meta.name for item in index.by_label(self._informers[NAMESPACE.kind], config.label, tenant))

    async def _own(self, of: ObjectMeta, namespace: str) -> list[Stored]:
        """Return the ConfigMap of the object's namespace and, after it, the one that overrides it."""
        config, own = self._config, of.namespace
        if namespace not in ("", own):
            raise TenantRefused(f"{own}/{of.name} may not be configured from namespace {namespace}, only from its own")
        places = [(self._informers[CONFIG_MAP.kind], own, config.name)]
        if config.override_from:
            override = config.override_from, config.override_name
            places.append((self._informers[config.override_from], *override))
        found = [item async for item in _found(places)]
        if not found:
            raise TenantConfigMissing(f"configmap {own}/{config.name} is not there")
        return found

    async def _shared(self, of: ObjectMeta, namespace: str) -> list[Stored]:
        """Return the ConfigMap of the object's tenant, of those that are shared."""
        label = self._config.label
        tenant = await self._tenant_of(of)
        allowed = tuple(self._config.shared_from)
        if namespace and namespace not in allowed:
            where = " or ".join(allowed)
            raise TenantRefused(f"{of.namespace}/{of.name} may be configured from {where}, not from {namespace}")
        name = self._config.shared_name(tenant)
        places = [(self._informers[place], place, name) for place in ((namespace,) if namespace else allowed)]
        found = [item async for item in _found(places)]
        for item in found:
            if (said := item.meta.labels.get(label, "")) != tenant:
                raise TenantRefused(f"{_place(item)} is for {label}={said}, not for {tenant}")
        if not found:
            where = " or ".join(place for _, place, _ in places)
            raise TenantConfigMissing(f"configmap {where}/{name} with the label {label}={tenant} is not there")
        if len(found) > 1:
            raise TenantConfigError(f"{' and '.join(map(_place, found))} are both there; leave one")
        return found

    async def _tenant_of(self, of: ObjectMeta) -> str:
        label, informer = self._config.label, self._informers[NAMESPACE.kind]
        await informer.wait_synced()
        known = informer.get("", of.namespace)
        tenant = "" if known is None else known.meta.labels.get(label, "")
        if not tenant:
            raise TenantRefused(f"namespace {of.namespace} has no label {label}, so its objects are no tenant's")
        if (said := of.labels.get(label, tenant)) != tenant:
            raise TenantRefused(f"{of.namespace}/{of.name} says {label}={said}, but its namespace {label}={tenant}")
        return tenant


async def _found(places: Iterable[tuple[Informer, str, str]]) -> AsyncIterator[Stored]:
    for informer, namespace, name in places:
        await informer.wait_synced(namespace)
        if (item := informer.get(namespace, name)) is not None:
            yield item


def _taken_apart(cls: type, item: Stored) -> Values | TenantConfigError:
    try:
        return settings.values(cls, _data_of(item.raw).data or {}, place=_place(item))
    except TenantConfigError as error:
        return error


def _place(item: Stored) -> str:
    return f"configmap {item.meta.namespace}/{item.meta.name}"
