"""What a project's config/ installs, as far as an operator outside of the cluster needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.errors import DocumentError, ProjectError
from pyopscaffold.kube.gvk import GroupVersionKind

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.dev.place import Place

    Manifest = dict[str, Any]

_DEFAULT = "config/default"
_SAMPLES = "config/samples"
_ACCESS = ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
"""What gives the operator its rights, in an order in which it can be made."""


@dataclass(frozen=True, kw_only=True)
class Manifests:
    """``access`` holds namespaces, roles and the like; ``account`` is namespace and name of the ServiceAccount."""

    crds: tuple[Manifest, ...]
    access: tuple[Manifest, ...]
    samples: tuple[Manifest, ...]
    account: tuple[str, str]
    deployment: str

    @property
    def kinds(self) -> tuple[GroupVersionKind, ...]:
        """The project's own kinds, each in its stored version."""
        return tuple(_kind(crd) for crd in self.crds)


def read(root: Path, place: Place) -> Manifests:
    """Render ``config/default`` of the project at ``root`` and read its samples.

    The Deployment itself is left out: the operator runs here. It tells under which account, though.

    Raises:
        ProjectError: kubectl can't render it, or there is no Deployment in it.
        DocumentError: a sample is no YAML.

    """
    rendered = [one for one in yaml.load_all(place.run_kubectl("kustomize", str(root / _DEFAULT)), _LOADER) if one]
    deployments = [one for one in rendered if one["kind"] == "Deployment"]
    if not deployments:
        raise ProjectError(
            f"{_DEFAULT} has no Deployment, so the operator's account is unknown",
            hint="add ../manager to its resources, as in a new project",
        )
    metadata, pod = deployments[0]["metadata"], deployments[0]["spec"]["template"]["spec"]
    access = (one for kind in _ACCESS for one in rendered if one["kind"] == kind)
    return Manifests(
        crds=tuple(one for one in rendered if one["kind"] == "CustomResourceDefinition"),
        access=tuple(access),
        samples=tuple(_samples(root)),
        account=(metadata.get("namespace", "default"), pod.get("serviceAccountName", "default")),
        deployment=metadata["name"],
    )


def _samples(root: Path) -> list[Manifest]:
    found: list[Manifest] = []
    for file in sorted((root / _SAMPLES).glob("*.yaml")):
        if file.name == "kustomization.yaml":
            continue
        try:
            documents = list(yaml.load_all(file.read_text(encoding="utf-8"), _LOADER))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            why = " ".join(str(error).split())
            raise DocumentError(f"{file.relative_to(root)} can't be read: {why}") from error
        found += [one for one in documents if isinstance(one, dict)]
    return found


def _kind(crd: Manifest) -> GroupVersionKind:
    spec = crd["spec"]
    version = next(one["name"] for one in spec["versions"] if one["storage"])
    names = spec["names"]
    return GroupVersionKind(
        spec["group"], version, names["kind"], plural=names["plural"], namespaced=spec["scope"] == "Namespaced"
    )


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
