"""The project's objects and their conditions, as rows to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.api import ApiClient

_FIRST = "Ready"


@dataclass(frozen=True, order=True)
class Row:
    """``where`` is namespace and name; ``state`` such as ``Ready=False Reconciling=True``, ``why`` Ready's reason."""

    kind: str
    where: str
    state: str
    why: str

    @property
    def good(self) -> bool:
        """Whether it is ready."""
        return f"{_FIRST}=True" in self.state.split()

    def __str__(self) -> str:
        return "  ".join(filter(None, (f"{self.kind} {self.where}", self.state, self.why)))


async def rows(client: ApiClient, kinds: Iterable[GroupVersionKind]) -> tuple[Row, ...]:
    """List all objects of ``kinds``; raise a ClientError where the server does not answer or refuses."""
    return tuple([row_of(kind.kind, one) for kind in kinds for one in await client.list(kind)])


def row_of(kind: str, item: dict[str, Any]) -> Row:
    """Describe one object by its conditions."""
    metadata, status = item["metadata"], item.get("status") or {}
    where = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
    found = [one for one in status.get("conditions") or () if isinstance(one, dict)]
    found.sort(key=lambda one: one.get("type") != _FIRST)
    state = [f"{one.get('type')}={one.get('status')}" for one in found]
    observed = status.get("observedGeneration")
    if isinstance(observed, int) and observed < metadata.get("generation", 0):
        state = ["in progress"]
    if "deletionTimestamp" in metadata:
        state = ["being deleted"]
    ready = found[0] if found and found[0].get("type") == _FIRST else {}
    why = ": ".join(filter(None, (ready.get("reason"), ready.get("message"))))
    return Row(kind, where, " ".join(state) or "no conditions", why)
