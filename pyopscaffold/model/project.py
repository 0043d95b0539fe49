"""The project as PROJECT (kubebuilder's v3 format) describes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyopscaffold.kube.gvk import GroupVersionKind


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The container that an API's operator runs in a Deployment: what ``create api --image`` was asked for."""

    image: str
    ports: tuple[int, ...] = ()
    command: tuple[str, ...] = ()
    run_as_user: int | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceEntry:
    """One API of the project; ``group`` is PROJECT's short group, the API group is ``group.domain``.

    ``workload`` is there where the API was made for an image; an ``external`` one is another's, whose types the project
    has for its controllers. ``line`` is its place in PROJECT, 0 where it has none yet.
    """

    group: str
    domain: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    has_api: bool = True
    has_controller: bool = True
    workload: Workload | None = None
    external: bool = False
    line: int = field(default=0, compare=False)

    @property
    def api_group(self) -> str:
        """``db.example.com``; only the domain where ``group`` is empty."""
        return ".".join(part for part in (self.group, self.domain) if part)

    @property
    def gvk(self) -> GroupVersionKind:
        """The API type."""
        return GroupVersionKind(self.api_group, self.version, self.kind, plural=self.plural, namespaced=self.namespaced)


@dataclass(frozen=True, kw_only=True)
class Project:
    """The whole PROJECT file. ``package`` is the Python package, ``image`` the image repository without a tag.

    ``max_description`` is how many bytes a description in a CRD may have, 0 for none at all.
    """

    domain: str
    name: str
    package: str
    image: str
    cli_version: str
    multigroup: bool = False
    namespaced: bool = False
    max_description: int | None = None
    resources: tuple[ResourceEntry, ...] = ()

    def short_group(self, api_group: str) -> str:
        """Return an API group as PROJECT has it: without the project's domain, "" for the bare domain."""
        if api_group == self.domain:
            return ""
        return api_group.removesuffix(f".{self.domain}")
