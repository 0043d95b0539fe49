"""What a real API server says of a CRD beside what the linter's ``apiserver`` rules say, place by place.

The server stops at some kinds of faults, so it is asked for no more than this: each of its complaints is one of the
linter's, at the same place and by a rule of the same reason; and where it has none, the linter has none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.errors import BadRequest, ConnectionFailed, Invalid
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.subject import Crd, Manifest, Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.document.reader import Path
    from pyopscaffold.testing import RestClient

CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict"
_RULES = [rule for rule in builtin() if rule.profile is Profile.APISERVER]

REASONS: Final[tuple[tuple[str, str], ...]] = (
    ("ST04", r"^(metadata|spec\.(group|scope|names|versions?|preserveUnknownFields|conversion)|status)\b"),
    ("ST05", r"^openAPIV3Schema: Required value$"),
    ("UX07", r"^(additionalPrinterColumns|subresources|selectableFields)\b"),
    ("CE05", r"oldSelf cannot be used on the uncorrelatable|may not be set if oldSelf is not used"),
    ("CE01", r"x-kubernetes-validations(\[\d+\]\.\w+: |: Internal error)"),
    ("ST06", r"to be structural|int-or-string is true|embedded-resource is (true|set)|inside of resource meta"),
    ("LS03", r"x-kubernetes-list-type(=set| is set)"),
    ("LS02", r"x-kubernetes-list-map-keys, so it"),
    ("DE03", r"\.default(\.[^:]*|\[[^:]*)?: "),
    ("LS02", r"x-kubernetes-(list|map)-(type|map-keys)"),
    ("VA07", r"must be a valid regular expression"),
    ("ST07", r"is not supported|uniqueItems cannot|mutual exclusive|type cannot be set to null|and not an array"),
    ("ST07", r"\.type: Unsupported value|must be true or undefined"),
    ("ST06", r"must not be (empty|used|specified)|must be (specified|string|object)|because it is defined in"),
    ("ST06", r"must not specify anything other|nullable cannot be true|at the root"),
)
"""The rules by what the server says of their classes, as ``place: message``; the first that is found counts."""

_TYPES_AND_COSTS: Final = re.compile(
    r"exceeds budget|contributed to estimated|must evaluate to|failed rule:|rule compile error"
    r"|compilation failed(?!.*Syntax error)|must be of type (?!array|boolean|integer|number|object|string)",
    re.DOTALL,
)
"""What is told by the types and costs of CEL, and of defaults of a type that there is not."""

_SERVICE: Final = "spec.conversion.webhook.clientConfig.service"
_FOLLOW: Final = {
    "spec.names.singular": "spec.names.kind",
    "spec.names.listKind": "spec.names.kind",
    "spec.version": "spec.versions[0].name",
    "status.storedVersions": "spec.versions",
    "spec.conversion.strategy": "spec.preserveUnknownFields",
    f"{_SERVICE}.name": f"{_SERVICE}.namespace",
    f"{_SERVICE}.namespace": f"{_SERVICE}.name",
}
"""What the server makes of other fields before it looks at it, and two fields that it mistakes for each other."""

_IN_JUNCTOR: Final = re.compile(r"\.((allOf|anyOf|oneOf)\[\d+\]|not)\.")


class Place(NamedTuple):
    """A place in a CRD as the server writes it, less the version, and the rule that found something there."""

    where: str
    rule: str


@dataclass(frozen=True)
class Complaint:
    """One cause of the server's refusal; ``rule`` is the one of ours for its reason, "" for a reason that is new."""

    where: str
    message: str
    rule: str

    @property
    def is_left_out(self) -> bool:
        """Whether it is about types and costs of CEL."""
        return _TYPES_AND_COSTS.search(self.message) is not None


_WARNS_SINCE = {"VA08": 36, "LS03": 37}
"""The first minor that warns just as a rule does. Before, nothing is said of sets, and 1.35 knows other formats."""


@dataclass(frozen=True)
class Answer:
    """What a server of Kubernetes 1.``minor`` said of a CRD; some make it hang up without a word."""

    refused: bool
    complaints: tuple[Complaint, ...] = ()
    warnings: tuple[str, ...] = ()
    unreadable: str = ""
    panicked: bool = False
    minor: int = 0


def ask(client: RestClient, data: dict[str, Any]) -> Answer:
    """Have the server judge a CRD."""
    try:
        client.create(CRDS, _as_sent(data))
    except Invalid as refusal:
        causes = dict.fromkeys((cause.field, cause.message) for cause in refusal.causes)
        return Answer(True, tuple(_complaint(field, message) for field, message in causes))
    except BadRequest as refusal:
        return Answer(True, unreadable=str(refusal))
    except ConnectionFailed:
        return Answer(True, panicked=True)
    warnings = client.warnings
    return Answer(False, warnings=warnings, minor=int(client.get("/version")["minor"]))


def _as_sent(value: Any) -> Any:
    """Give a value as clients make JSON of it: 1 for 1.0."""
    if isinstance(value, dict):
        return {name: _as_sent(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_sent(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _complaint(field: str, message: str) -> Complaint:
    where = _shared(field)
    if declared := re.search(r"because it is defined in (.*)", message):
        where = _shared(declared[1])
    said = f"{where}: {message}"
    rule = next((rule for rule, pattern in REASONS if re.search(pattern, said, re.DOTALL)), "")
    return Complaint(where, message, rule)


def _shared(field: str) -> str:
    """Leave out which version it is: the server itself forgets that of what all versions have alike."""
    field = re.sub(r"^spec\.(validation|(versions\[\d+\]\.)?schema)\.openAPIV3Schema", "openAPIV3Schema", field)
    field = re.sub(r"^spec\.(versions\[\d+\]\.)?(?=additionalPrinterColumns|subresources|selectableFields)", "", field)
    field = re.sub(r"^spec\.conversion\.(?=conversionReviewVersions)", "spec.conversion.webhook.", field)
    return field.replace("webhookClientConfig", "webhook.clientConfig").replace("JSONPath", "jsonPath")


def manifest_of(text: str) -> Manifest:
    """Read the one document of a text."""
    (document,) = scan(Source("crd.yaml", text))
    assert isinstance(document, Document)
    return Manifest(document, (), document.data)


def places(manifest: Manifest, severity: Severity = Severity.ERROR) -> frozenset[Place]:
    """Give the places where the rules find something of that severity."""
    return _places(_hits(manifest, severity))


def _places(hits: Iterable[tuple[str, Path]]) -> frozenset[Place]:
    return frozenset(Place(_shared(_written(path)), rule) for rule, path in hits)


def _hits(manifest: Manifest, severity: Severity) -> Iterator[tuple[str, Path]]:
    crd = Crd(manifest)
    subjects: dict[type, tuple[Any, ...]] = {Manifest: (manifest,), Crd: (crd,), Version: crd.versions}
    for rule in _RULES:
        for subject in subjects.get(rule.subject, ()):
            for hit in rule.hits(subject):
                if (hit.severity or rule.severity) is severity:
                    yield rule.id, hit.path


def _seen(manifest: Manifest) -> Iterator[tuple[str, Path]]:
    """Leave out later versions where schemas differ by what is empty in them: the server looks at the first only."""
    first, *others = [_without_empty(version.data.get("schema")) for version in Crd(manifest).versions] or [None]
    is_shared = all(other == first for other in others)
    for rule, path in _hits(manifest, Severity.ERROR):
        is_later = path[:2] == ("spec", "versions") and path[3:4] == ("schema",) and path[2] != 0
        if not (is_shared and is_later) and not (rule == "DE03" and _is_lapse(manifest, path)):
            yield rule, path


def _is_lapse(manifest: Manifest, path: Path) -> bool:
    """Whether it is a list that the server takes for a string with a format."""
    schema: Any = manifest.data
    for step in path[:-1]:
        schema = schema[step]
    return isinstance(schema["default"], list) and schema.get("type") == "string" and bool(schema.get("format"))


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        parts = {name: _without_empty(item) for name, item in value.items()}
        return {name: part for name, part in parts.items() if part not in (None, [], {})} or None
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


def _written(path: Path) -> str:
    """Write a path as the server does: ``properties[name]``, all else with dots."""
    text, in_map = "", False
    for step in path:
        text += f"[{step}]" if in_map or isinstance(step, int) else f".{step}"
        in_map = not in_map and step in {"properties", "patternProperties", "definitions", "annotations"}
    return text.lstrip(".")


def warned(manifest: Manifest, minor: int) -> frozenset[str]:
    """Give what a server of this minor is to warn of by our findings, in its words."""
    said = set()
    for rule, path in _hits(manifest, Severity.WARNING):
        schema: Any = manifest.data
        for step in path[:-1]:
            schema = schema[step]
        if rule == "ST07" or minor < _WARNS_SINCE[rule]:
            continue
        if rule == "VA08":
            said.add(f'unrecognized format "{schema["format"]}"')
        else:
            of = f'x-kubernetes-list-type: set for items of type "{schema["items"]["type"]}"'
            said.add(f"{of} is not supported by server-side apply or CEL validation rules")
    return frozenset(said)


def differences(answer: Answer, manifest: Manifest) -> list[str]:
    """Say what of the server's answer is none of the linter's findings, or the other way round."""
    found = places(manifest)
    if answer.panicked:
        return [] if found else ["the server alone: it has no answer"]
    if answer.unreadable:
        return _unread(answer.unreadable, found)
    if answer.refused:
        return [
            f"the server alone: {complaint.rule or 'of a new reason'} at {complaint.where}: {complaint.message}"
            for complaint in answer.complaints
            if not complaint.is_left_out and not _is_found(complaint, found)
        ]
    alone = [f"we alone: {place.rule} at {place.where}" for place in sorted(_places(_seen(manifest)))]
    theirs = {said for said in answer.warnings if answer.minor >= _WARNS_SINCE["VA08"] or "unrecognized" not in said}
    if not alone and (ours := warned(manifest, answer.minor)) != theirs:
        alone.append(f"the server warns of {sorted(theirs)}, we of {sorted(ours)}")
    return alone


def _is_found(complaint: Complaint, found: frozenset[Place]) -> bool:
    """Whether the linter is as exact as the server, or more so; what is wrong in a default, it says at its top."""
    rule, wheres = complaint.rule, {complaint.where, _FOLLOW.get(complaint.where, complaint.where)}
    if "fields are allowed at the root" in complaint.message:
        return any(place.rule in {"ST06", "ST07"} for place in found)
    if _IN_JUNCTOR.search(complaint.where) and any(
        place.rule == "ST06" and _is_within(complaint.where, place.where.rpartition(".")[0]) for place in found
    ):
        return True  # that it can't stand in a junctor is enough to say
    if any(place.rule == "ST07" and _is_within(complaint.where, place.where) for place in found):
        return True  # as it is that there can be no definitions, or no list of items
    return any(
        _is_within(place.where, where) or (rule == "DE03" and _is_within(where, place.where))
        for where in wheres
        for place in found
        if place.rule == rule
    )


def _is_within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _unread(message: str, found: frozenset[Place]) -> list[str]:
    """Compare with the refusal of a body that the server could not read: names of fields, or one wrong type."""
    if unknown := re.findall(r'unknown field "([^"]*)"', message):
        dotted = {_dotted(place.where) for place in found}
        return [f"the server alone: unknown field {name}" for name in unknown if _dotted(name) not in dotted]
    field = re.search(r"Go struct field \w+\.([\w$.-]+) of type", message)
    name = rf"(?<![\w$]){re.escape(field[1].rpartition('.')[2])}(?!\w)" if field else ""
    if any(place.rule in {"ST04", "ST06"} and re.search(name, place.where) for place in found):
        return []
    return [f"the server alone: {message}"]


def _dotted(field: str) -> str:
    """Write a path as the server does where it can't read: it knows no maps there."""
    return re.sub(r"\[(?!\d+\])([^\]]*)\]", r".\1", _shared(field))
