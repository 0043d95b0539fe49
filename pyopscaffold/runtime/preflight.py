"""What is looked at before an operator begins: a cluster that is not as it must be is one line, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import ConnectionFailed, Forbidden, KubeconfigError, NotFound, Unauthorized, UserError
from pyopscaffold.runtime.controller import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.api.declarations import ControllerDeclaration
    from pyopscaffold.runtime.client.protocols import Client


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
                try:
                    await client.list_page(kind, namespace=namespace, limit=1)
                except ConnectionFailed as error:
                    raise KubeconfigError(
                        str(error), hint="is it the right kubeconfig, and does the server run?"
                    ) from error
                except NotFound as error:
                    message = f"{server} does not know {kind.group_resource} {kind.version}"
                    raise UserError(message, hint="install its CRD (make install)") from error
                except (Forbidden, Unauthorized) as error:
                    raise UserError(
                        str(error), hint="apply the operator's roles (config/rbac), or use another kubeconfig"
                    ) from error
