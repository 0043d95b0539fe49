"""What is looked at before an operator begins: a cluster that is not as it must be is one line, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import ConnectionFailed, Forbidden, KubeconfigError, NotFound, Unauthorized, UserError
from pyopscaffold.kube.builtin import LEASE, NAMESPACE
from pyopscaffold.runtime.controller import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.api.declarations import ControllerDeclaration
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.protocols import Client

_WAY = "apply the operator's roles (config/rbac), or use another kubeconfig"


async def check_access(
    client: Client, declarations: Iterable[ControllerDeclaration], *, server: str, namespaces: Iterable[str]
) -> None:
    """List one object of each kind that the controllers read.

    Raises:
        UserError: the server can't be reached, does not know a kind, or refuses.

    """
    for declaration in declarations:
        for kind in kinds_of(declaration):
            for namespace in namespaces:
                await _try(client, kind, server=server, namespace=namespace)


async def check_tenants(
    client: Client, declarations: Iterable[ControllerDeclaration], *, server: str, namespaces: Iterable[str]
) -> None:
    """List one object of each part of what tells of tenants.

    Raises:
        UserError: the server can't be reached, or refuses.

    """
    for extent in (extent for item in declarations if item.tenants for extent in item.tenants.extents()):
        of_operator = namespaces if extent.kind.namespaced else ("",)
        for namespace in (extent.namespace,) if extent.namespace else of_operator:
            await _try(
                client, extent.kind, server=server, namespace=namespace, labels=extent.label, fields=extent.fields
            )


async def check_namespaces(client: Client, labels: str, *, server: str) -> None:
    """List one of the namespaces that a label selector selects.

    Raises:
        UserError: the server can't be reached, or refuses.

    """
    way = '@rbac(groups=[""], resources=["namespaces"], verbs=["list", "watch"]) on a reconciler lets it'
    await _try(client, NAMESPACE, server=server, labels=labels, way=way)


async def check_shards(client: Client, namespace: str, *, server: str) -> None:
    """List one of the Leases by which replicas share objects: who may not would go on and do nothing.

    Raises:
        UserError: the server can't be reached, or refuses.

    """
    way = "the role for --shard is in the project's config/sharding, and in its chart with sharding.enabled"
    await _try(client, LEASE, server=server, namespace=namespace, way=way)


async def _try(
    client: Client,
    kind: GroupVersionKind,
    *,
    server: str,
    namespace: str = "",
    labels: str = "",
    fields: str = "",
    way: str = _WAY,
) -> None:
    try:
        await client.list_page(kind, namespace=namespace, labels=labels, fields=fields, limit=1)
    except ConnectionFailed as error:
        raise KubeconfigError(str(error), hint="is it the right kubeconfig, and does the server run?") from error
    except NotFound as error:
        message = f"{server} does not know {kind.group_resource} {kind.version}"
        raise UserError(message, hint="install its CRD (make install)") from error
    except (Forbidden, Unauthorized) as error:
        raise UserError(str(error), hint=way) from error
