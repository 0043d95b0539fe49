"""``TenantConfig``: where the configuration of an object's tenant is, and who has a say in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyopscaffold.api.arguments import several, single
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.names import is_dns1123_label, is_dns1123_subdomain, is_qualified_name


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Objects that are watched, and no others: of a ``namespace`` (``""`` for those of the operator), name or label."""

    kind: GroupVersionKind
    namespace: str = ""
    name: str = ""
    label: str = ""

    @property
    def fields(self) -> str:
        """The field selector; by one of the name, RBAC can grant list and watch of a single object."""
        return f"metadata.name={self.name}" if self.name else ""


@dataclass(frozen=True, kw_only=True)
class TenantConfig:
    """Which ConfigMap ``ctx.tenant_config(…)`` reads for an object, by one of three policies.

    *Strict isolation*, without more: the ConfigMap ``name`` in the object's own namespace, and nothing else.

    *Shared*, with ``shared_from``: of the namespaces named there, the ConfigMap ``<name>-<tenant>`` that has the label
    ``label`` with the tenant as its value. The tenant of an object is the value that its *namespace* has for ``label``;
    the object's own label, if there is one, has to agree.

    *Cluster override*, with ``override_from``, the namespace of the admin tenant: each key of the ConfigMap
    ``<name>-override`` there takes the place of the same key in the object's own one.
    """

    name: str
    shared_from: Sequence[str] = ()
    label: str = "tenant"
    override_from: str = ""

    @property
    def override_name(self) -> str:
        """What the admin tenant's ConfigMap is called."""
        return f"{self.name}-override"

    def shared_name(self, tenant: str) -> str:
        """Return what a tenant's ConfigMap is called where they are shared."""
        return f"{self.name}-{tenant}"

    def extents(self) -> tuple[Extent, ...]:
        """Return all that is watched for it; the generated role grants just that."""
        if self.shared_from:
            shared = (Extent(kind=CONFIG_MAP, namespace=name, label=self.label) for name in self.shared_from)
            return Extent(kind=NAMESPACE, label=self.label), *shared
        own = Extent(kind=CONFIG_MAP, name=self.name)
        if not self.override_from:
            return (own,)
        return own, Extent(kind=CONFIG_MAP, namespace=self.override_from, name=self.override_name)


def problems(tenants: object, *, namespaced: bool) -> Iterator[str]:
    """Yield what is wrong with ``tenants=`` of a controller whose kind is ``namespaced``; None is none."""
    if tenants is None:
        return
    if not isinstance(tenants, TenantConfig):
        yield from single("tenants", tenants, TenantConfig)
        return
    wrong = [
        *single("name", tenants.name, str),
        *several("shared_from", tenants.shared_from, str, such_as='"platform"'),
        *single("label", tenants.label, str),
        *single("override_from", tenants.override_from, str),
    ]
    yield from wrong
    if wrong:
        return
    if not is_dns1123_subdomain(tenants.name):
        yield f'tenants= names the ConfigMap "{tenants.name}", which is not in lower-case letters, digits and dashes'
    for name in (*tenants.shared_from, *filter(None, (tenants.override_from,))):
        if not is_dns1123_label(name):
            yield f'tenants= names the namespace "{name}", which is not in lower-case letters, digits and dashes'
    if not is_qualified_name(tenants.label):
        yield f'"{tenants.label}" is no key of a label; write label="tenant" or the like'
    if tenants.shared_from and tenants.override_from:
        yield "tenants= takes either shared_from= or override_from=: they are two policies"
    if not namespaced:
        yield "tenants= is for objects in namespaces, and this kind has none"
