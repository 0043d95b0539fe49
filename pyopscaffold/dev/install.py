"""Bring CRDs, rights and samples into the cluster, and get the operator's credentials."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.errors import AlreadyExists, ApiError, EnvtestError, Forbidden, NotFound
from pyopscaffold.kube.gvk import GroupVersionKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyopscaffold.dev.manifests import Manifest, Manifests
    from pyopscaffold.dev.place import Place
    from pyopscaffold.runtime.client.api import ApiClient

MANAGER = "pyopscaffold-dev"
_SAMPLES_MANAGER = "kubectl"
"""Whoever applies an edited sample by kubectl later is to meet no conflict."""
AS_USER = "the operator runs as you, and its own rights are not tried"
_CRD = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", namespaced=False)
_NAMESPACE = GroupVersionKind("", "v1", "Namespace", namespaced=False)
_DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
_ESTABLISHED_SECONDS = 20.0
_POLL_SECONDS = 0.05
TOKEN_SECONDS = 24 * 3600


class Installer:
    """Applies what has changed since it last did; ``warn`` takes lines about what went wrong but stops nothing."""

    def __init__(self, client: ApiClient, *, warn: Callable[[str], None]) -> None:
        self._client = client
        self._warn = warn
        self._applied: dict[tuple[str, ...], Manifest] = {}
        self._offered: set[tuple[str, ...]] = set()

    async def reach(self) -> None:
        """Ask for anything: raise ConnectionFailed or Unauthorized where it is no use to go on."""
        with contextlib.suppress(Forbidden):
            await self._client.get(_NAMESPACE, "default")

    async def install(self, manifests: Manifests, *, namespace: str) -> None:
        """Apply CRDs and wait until they are served, then make the samples that are not there yet, in ``namespace``.

        Raises:
            ClientError: the server refuses a CRD, or does not answer.

        """
        await self._apply_all(manifests.crds)
        await asyncio.gather(*(self._served(kind) for kind in manifests.kinds))
        await self._have(namespace)
        scopes = {(kind.group, kind.kind): kind.namespaced for kind in manifests.kinds}
        for sample in manifests.samples:
            await self._offer(sample, scopes, namespace)

    async def grant(self, manifests: Manifests) -> bool:
        """Apply namespace, account and roles; False if the user may not do that."""
        try:
            await self._apply_all(manifests.access)
        except Forbidden as error:
            self._warn(f"{AS_USER}: {error}")
            return False
        return True

    async def deployed(self, manifests: Manifests) -> bool:
        """Whether the operator runs in the cluster, too."""
        try:
            found = await self._client.get(_DEPLOYMENT, manifests.deployment, namespace=manifests.account[0])
        except ApiError:
            return False
        return bool(found["spec"].get("replicas", 1))

    async def _apply_all(self, manifests: Iterable[Manifest]) -> None:
        for manifest in manifests:
            if self._applied.get(key := _key(manifest)) != manifest:
                await self._client.apply(manifest, field_manager=MANAGER)
                self._applied[key] = manifest

    async def _served(self, kind: GroupVersionKind) -> None:
        """Wait until objects of the kind can be listed."""
        try:
            async with asyncio.timeout(_ESTABLISHED_SECONDS):
                while not await self._is_served(kind):  # noqa: ASYNC110 - nor does the server
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            crd = await self._client.get(_CRD, kind.group_resource)
            said = "; ".join(one["message"] for one in crd["status"]["conditions"] if one["status"] == "False")
            raise EnvtestError(f"the CRD {kind.group_resource} is not established: {said}") from None

    async def _is_served(self, kind: GroupVersionKind) -> bool:
        try:
            await self._client.list_page(kind, limit=1)
        except NotFound:
            return False
        return True

    async def _have(self, namespace: str) -> None:
        try:
            await self._client.get(_NAMESPACE, namespace)
        except NotFound:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            await self._client.apply(body, field_manager=MANAGER)

    async def _offer(self, sample: Manifest, scopes: dict[tuple[str, str], bool], namespace: str) -> None:
        """Make the sample if nobody has; once a run, so that what its user deletes stays away."""
        key = _key(sample)
        if key in self._offered:
            return
        group = str(sample.get("apiVersion", "")).rpartition("/")[0]
        metadata: dict[str, Any] = dict(sample.get("metadata") or {})
        if scopes.get((group, str(sample.get("kind"))), True):
            metadata.setdefault("namespace", namespace)
        whole = {**sample, "metadata": metadata}
        try:
            await self._client.create(whole, field_manager=_SAMPLES_MANAGER, dry_run=True)
            await self._client.apply(whole, field_manager=_SAMPLES_MANAGER)
        except AlreadyExists:
            pass
        except ApiError as error:
            self._warn(f"the sample {metadata.get('name')} is refused: {error}")
            return
        self._offered.add(key)


def token(place: Place, account: tuple[str, str]) -> str:
    """Have the server make a token for the ServiceAccount ``account`` (namespace, name), good for a day.

    Raises:
        ProjectError: the user may not, or there is no such account.

    """
    namespace, name = account
    arguments = ("create", "token", name, "--namespace", namespace, f"--duration={TOKEN_SECONDS}s")
    return place.run_kubectl(*arguments).strip()


def operator_kubeconfig(place: Place, token_file: Path, *, namespace: str) -> str:
    """Return a kubeconfig for whoever has the token in ``token_file``, which may be replaced at any time.

    The cluster's entry (address, authority, proxy) is the user's own.
    """
    view = json.loads(place.run_kubectl("config", "view", "--raw", "--minify", "--flatten", "--output=json"))
    name = "operator"
    view["users"] = [{"name": name, "user": {"tokenFile": str(token_file)}}]
    cluster = view["clusters"][0]["name"]
    view["contexts"] = [{"name": name, "context": {"cluster": cluster, "user": name, "namespace": namespace}}]
    view["current-context"] = name
    return yaml.safe_dump(view)


def user_kubeconfig(place: Place) -> str:
    """Return a kubeconfig with the user's own credentials for just this cluster."""
    return place.run_kubectl("config", "view", "--raw", "--minify", "--flatten")


def _key(manifest: Manifest) -> tuple[str, ...]:
    metadata = manifest.get("metadata") or {}
    return str(manifest.get("kind")), metadata.get("namespace", ""), metadata.get("name", "")
