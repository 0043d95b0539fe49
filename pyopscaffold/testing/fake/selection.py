"""Which objects a request selects: by namespace, labels and fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.kube import selector
from pyopscaffold.kube.selector import LabelSelector
from pyopscaffold.testing.fake.failure import NotSimulatedError, bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.testing.fake.kinds import Resource

_COMMON: Final = ("metadata.name", "metadata.namespace")
_BUILT_IN: Final[dict[str, tuple[str, ...]]] = {
    "Pod": ("spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase", "status.podIP"),
    "Secret": ("type",),
    "Namespace": ("status.phase",),
    "Job": ("status.successful",),
}
_TERM: Final = re.compile(r"([^=!]+)(==|!=|=)(.*)")


@dataclass(frozen=True)
class Selection:
    """What a list or a watch is about; ``fields`` are (path, value, whether it is to be another one)."""

    namespace: str
    labels: LabelSelector
    fields: tuple[tuple[str, str, bool], ...]

    def holds(self, obj: Mapping[str, Any]) -> bool:
        """Whether an object is selected."""
        metadata = obj["metadata"]
        if self.namespace and metadata.get("namespace") != self.namespace:
            return False
        if not self.labels.matches(metadata.get("labels", {})):
            return False
        return all((_text(obj, path) == value) is not other for path, value, other in self.fields)

    @property
    def is_partial(self) -> bool:
        """Whether selectors leave anything out."""
        return bool(self.labels.requirements or self.fields)


def of(resource: Resource, namespace: str, query: Mapping[str, str]) -> Selection:
    """Read the selectors of a request; raises Failure where they can't be."""
    try:
        labels = selector.parse(query.get("labelSelector", ""))
    except ValueError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    terms = [term for term in query.get("fieldSelector", "").split(",") if term]
    return Selection(namespace, labels, tuple(_field(resource, term) for term in terms))


def _field(resource: Resource, term: str) -> tuple[str, str, bool]:
    found = _TERM.fullmatch(term)
    if found is None:
        raise bad_request(f"invalid field selector: {term!r}")
    path = found[1]
    known = resource.selectable if resource.custom else _BUILT_IN.get(resource.kind.kind, ())
    if path not in (*_COMMON, *known):
        if not resource.custom:
            raise NotSimulatedError(f"the field selector {path} of {resource.kind.plural}")
        raise bad_request(f"field label not supported: {path}")
    return path, found[3], found[2] == "!="


def _text(obj: Any, path: str) -> str:
    for step in path.split("."):
        obj = obj.get(step) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return str(obj).lower()
    return "" if obj is None else str(obj)
