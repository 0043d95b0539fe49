"""Garbage collection of one kind of child, as kube-controller-manager would do it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.testing import RestClient


def collect(
    client: RestClient, collection: str, children: dict[str, dict[str, Any]], owners: Mapping[str, dict[str, Any]]
) -> None:
    """Delete those of the listed children, by name, none of whose owners is there; they leave the mapping too."""
    uids = {owner["metadata"]["uid"] for owner in owners.values()}
    for name, child in list(children.items()):
        metadata = child["metadata"]
        if not uids.intersection(owner["uid"] for owner in metadata.get("ownerReferences", ())):
            with suppress(Conflict):  # it has another owner since
                client.delete(f"{collection}/{name}", version=metadata["resourceVersion"])
                del children[name]
