"""The CRDs of a cluster as texts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pyopscaffold.generate.manifest import dump
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION
from pyopscaffold.lint.derived import Derived
from pyopscaffold.runtime.client.config import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.runtime.client.config import ClusterConfig

_KEPT = ("name", "labels", "annotations")


def sources(context: str = "") -> tuple[Derived, ...]:
    """Read all CRDs of the cluster that the kubeconfig names, in its current or another context.

    Each is a source ``cluster:NAME``, as its author may have applied it: without what the server keeps beside it.

    Raises:
        KubeconfigError: no kubeconfig, or none that can be used.
        ClientError: the server can't be reached, or refuses.

    """
    return asyncio.run(_read(load(context=context)))


async def _read(config: ClusterConfig) -> tuple[Derived, ...]:
    from pyopscaffold.runtime.client.http import HttpClient  # noqa: PLC0415 - it takes time to load

    client = HttpClient(config)
    try:
        found = await client.list(CUSTOM_RESOURCE_DEFINITION)
    finally:
        await client.close()
    return tuple(sorted(map(_source, found), key=lambda source: source.file))


def _source(crd: Mapping[str, Any]) -> Derived:
    metadata = {key: crd["metadata"][key] for key in _KEPT if key in crd["metadata"]}
    head = {"apiVersion": CUSTOM_RESOURCE_DEFINITION.api_version, "kind": CUSTOM_RESOURCE_DEFINITION.kind}
    return Derived(f"cluster:{metadata['name']}", dump({**head, "metadata": metadata, "spec": crd["spec"]}))
