"""The three policies of tenants' configuration, against a real API server, each under the role generated for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import Forbidden
from tests.cluster.tenancy import Tenancy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

pytestmark = pytest.mark.xdist_group("tenants")


@pytest.fixture
def tenancy(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenancy]:
    """Give a server of Hellos; the namespaces that a test makes go with it."""
    monkeypatch.syspath_prepend(tmp_path)
    made = Tenancy.on(api_server, tmp_path)
    yield made
    made.remove()


async def test_strict_isolation(tenancy: Tenancy) -> None:
    """A tenant is configured by the ConfigMap of its namespace; another's is never read, whoever asks for it."""
    one, two = tenancy.namespace(), tenancy.namespace()
    tenancy.config(one, "hello", {"greeting": "Hi", "times": "2"})
    tenancy.hello(one)
    tenancy.hello(two)
    async with tenancy.operating('TenantConfig(name="hello")', one, two) as account:
        await tenancy.comes_to(one, "Hi x2")
        await tenancy.comes_to(two, f"TenantConfigMissing: configmap {two}/hello is not there")
        tenancy.config(one, "hello", {"greeting": "Hi", "times": "3"})
        await tenancy.comes_to(one, "Hi x3")

        tenancy.hello(two, config_namespace=one)
        await tenancy.comes_to(two, f"TenantRefused: {two}/one may not be configured from namespace {one}")
        tenancy.config(two, "hello", {"greeting": "Moin"})
        await tenancy.comes_to(two, "TenantRefused")
        tenancy.hello(two)
        await tenancy.comes_to(two, "Moin x1")

        tenancy.config(two, "hello", {"greeting": "Moin", "times": "many"})
        await tenancy.comes_to(two, f"TenantConfigInvalid: configmap {two}/hello: times: Expected `int | null`")
        tenancy.unconfigure(one, "hello")
        await tenancy.comes_to(one, "TenantConfigMissing")

        stranger = tenancy.server.client(account)
        tenancy.config(one, "other", {"secret": "x"})
        for path in ("configmaps", "configmaps/other", "configmaps/hello"):
            with pytest.raises(Forbidden):
                stranger.get(f"/api/v1/namespaces/{one}/{path}")
        stranger.close()


async def test_shared_by_label(tenancy: Tenancy) -> None:
    """A tenant is whom its namespace is labelled for, and is configured from the named namespace and by its label."""
    platform, dev, prod = tenancy.namespace(), tenancy.namespace(tenant="acme"), tenancy.namespace(tenant="acme")
    other, nobody = tenancy.namespace(tenant="globex"), tenancy.namespace()
    tenancy.config(platform, "hello-acme", {"greeting": "Hi"}, tenant="acme")
    for namespace in (dev, prod, other, nobody):
        tenancy.hello(namespace)
    async with tenancy.operating(f'TenantConfig(name="hello", shared_from=["{platform}"])'):
        await tenancy.comes_to(dev, "Hi x1")
        await tenancy.comes_to(prod, "Hi x1")
        await tenancy.comes_to(other, f"TenantConfigMissing: configmap {platform}/hello-globex with the label")
        await tenancy.comes_to(nobody, f"TenantRefused: namespace {nobody} has no label tenant")

        # what tenants may do in their own namespaces gets them nothing, and costs others nothing
        tenancy.config(other, "hello-globex", {"greeting": "Mine"}, tenant="globex")
        tenancy.config(other, "hello-acme", {"greeting": "Forged"}, tenant="acme")
        tenancy.hello(nobody, tenant="acme")
        await tenancy.comes_to(nobody, "has no label")
        tenancy.hello(other, tenant="acme")
        await tenancy.comes_to(other, f"TenantRefused: {other}/one says tenant=acme, but its namespace tenant=globex")
        tenancy.hello(other, config_namespace=other)
        await tenancy.comes_to(other, f"TenantRefused: {other}/one may be configured from {platform}, not from {other}")
        tenancy.hello(other, config_namespace=platform)
        await tenancy.comes_to(other, "TenantConfigMissing")
        tenancy.config(platform, "hello-acme", {"greeting": "Hi", "times": "2"}, tenant="acme")
        await tenancy.comes_to(dev, "Hi x2")
        await tenancy.comes_to(prod, "Hi x2")

        # a ConfigMap without the label is none, one with another's is refused
        tenancy.config(platform, "hello-globex", {"greeting": "Moin"})
        tenancy.hello(other)
        await tenancy.comes_to(other, "TenantConfigMissing")
        tenancy.config(platform, "hello-globex", {"greeting": "Moin"}, tenant="acme")
        tenancy.label(other, changed="yes")
        await tenancy.comes_to(other, f"TenantRefused: configmap {platform}/hello-globex is for tenant=acme, not for")
        tenancy.config(platform, "hello-globex", {"greeting": "Moin"}, tenant="globex")
        await tenancy.comes_to(other, "Moin x1")
        tenancy.label(prod, tenant="globex")
        await tenancy.comes_to(prod, "Moin x1")
        tenancy.label(prod, tenant=None)
        await tenancy.comes_to(prod, "TenantRefused")


async def test_cluster_override(tenancy: Tenancy) -> None:
    """What the admin tenant says goes before what a tenant says, key by key; nobody else's word does."""
    admin, one = tenancy.namespace(), tenancy.namespace()
    tenancy.config(one, "hello", {"greeting": "Hi", "times": "2"})
    tenancy.config(one, "hello-override", {"times": "7"})
    tenancy.config(admin, "hello", {"greeting": "Not for others"})
    tenancy.hello(one)
    tenancy.hello(admin)
    async with tenancy.operating(f'TenantConfig(name="hello", override_from="{admin}")'):
        await tenancy.comes_to(one, "Hi x2")
        tenancy.config(admin, "hello-override", {"times": "9"})
        await tenancy.comes_to(one, "Hi x9")
        await tenancy.comes_to(admin, "Not for others x9")
        tenancy.hello(one, config_namespace=admin)
        await tenancy.comes_to(one, "TenantRefused")
        tenancy.hello(one)
        tenancy.config(admin, "hello-override", {"times": "all"})
        await tenancy.comes_to(one, f"TenantConfigInvalid: configmap {admin}/hello-override: times")
        tenancy.unconfigure(admin, "hello-override")
        await tenancy.comes_to(one, "Hi x2")
