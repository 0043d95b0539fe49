"""Group, version, kind: the identity of an API type, with what is needed to address it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyopscaffold.kube.names import plural_of


@dataclass(frozen=True, order=True)
class GroupVersionKind:
    """An API type. ``group`` is empty for core/v1.

    ``plural`` is the resource name in URLs and RBAC rules and defaults to the kind's plural;
    ``namespaced`` is False for cluster-scoped types. Both are addressing only: two values with the same
    group, version and kind are equal.
    """

    group: str
    version: str
    kind: str
    plural: str = field(default="", compare=False, kw_only=True)
    namespaced: bool = field(default=True, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.plural:
            object.__setattr__(self, "plural", plural_of(self.kind))

    @property
    def api_version(self) -> str:
        """``apps/v1``, or ``v1`` for the core group: what an object carries as ``apiVersion``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """``StatefulSet.apps``, or ``Service`` for the core group: the form of messages and logs."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def group_resource(self) -> str:
        """``statefulsets.apps``, or ``services`` for the core group: also the name of a CRD."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def split_api_version(api_version: str) -> tuple[str, str]:
    """``apps/v1`` → ``("apps", "v1")``; ``v1`` → ``("", "v1")``."""
    group, _, version = api_version.rpartition("/")
    return group, version
