"""Classes of printer columns, scale paths and selectable fields."""

from __future__ import annotations

from pyopscaffold.lint.example import crd
from tests.cluster.refusals.made import Refusal, head, version


def _columns(name: str, bad: str, good: str) -> Refusal:
    return version(
        name, f"additionalPrinterColumns: [{{{bad}}}]", f"additionalPrinterColumns: [{{{good}}}]", rule="UX07"
    )


def _scale(name: str, bad: str) -> Refusal:
    good = "specReplicasPath: .spec.a, statusReplicasPath: .status.a, labelSelectorPath: ''"
    old = "subresources: {status: {}}"
    return head(
        name,
        old,
        f"subresources: {{status: {{}}, scale: {{{bad}}}}}",
        f"subresources: {{status: {{}}, scale: {{{good}}}}}",
        rule="UX07",
    )


_SPEC = (
    "spec: {type: object, properties: {a: {type: string}, o: {type: object, additionalProperties: {type: string}}, "
    + ", ".join(f"f{i}: {{type: string}}" for i in range(9))
    + "}}"
)


def _selectable(name: str, bad: str, good: str) -> Refusal:
    def made(paths: str) -> str:
        return crd(
            _SPEC, extra="selectableFields: [" + ", ".join(f"{{jsonPath: {path}}}" for path in paths.split()) + "]"
        )

    return Refusal(name, "UX07", made(bad), made(good))


def _versions(name: str, bad: str, good: str, *, other: str) -> Refusal:
    """Have two versions: the first with a selectable field, the second with other ones, and with the spec ``other``."""

    def made(fields: str) -> str:
        first = crd(_SPEC, extra="selectableFields: [{jsonPath: .spec.a}]")
        second = crd(other, extra=f"selectableFields: [{fields}]").replace("storage: true", "storage: false")
        return first + second[second.index("  - name: v1") :].replace("v1", "v2", 1)

    return Refusal(name, "UX07", made(bad), made(good))


_COLUMN = "name: A, type: string, jsonPath: .spec"
_EIGHT = " ".join(f".spec.f{i}" for i in range(8))
COLUMNS = (
    _columns("column without a name", "type: string, jsonPath: .spec", _COLUMN),
    _columns("column without a type", "name: A, jsonPath: .spec", _COLUMN),
    _columns("column of an unknown type", "name: A, type: text, jsonPath: .spec", _COLUMN),
    _columns("column of an unknown format", f"{_COLUMN}, format: int16", f"{_COLUMN}, format: date-time"),
    _columns("column without a path", "name: A, type: string", _COLUMN),
    _columns("column whose path has no dot", "name: A, type: string, jsonPath: spec", _COLUMN),
    _columns("priority is a string", f"{_COLUMN}, priority: '1'", f"{_COLUMN}, priority: 1")._replace(rule="ST04"),
    _columns("priority is too large", f"{_COLUMN}, priority: 2147483648", f"{_COLUMN}, priority: 2147483647")._replace(
        rule="ST04"
    ),
    _scale("scale without specReplicasPath", "statusReplicasPath: .status.a"),
    _scale("scale without statusReplicasPath", "specReplicasPath: .spec.a"),
    _scale("scale whose path has no dot", "specReplicasPath: spec.a, statusReplicasPath: .status.a"),
    _scale("scale of the status", "specReplicasPath: .status.a, statusReplicasPath: .status.a"),
    _scale("scale that observes the spec", "specReplicasPath: .spec.a, statusReplicasPath: .spec.a"),
    _scale(
        "scale whose selector is elsewhere",
        "specReplicasPath: .spec.a, statusReplicasPath: .status.a, labelSelectorPath: .a",
    ),
    _selectable("selectable field is not there", ".spec.b", ".spec.a"),
    _selectable("selectable field is an object", ".spec.o", ".spec.o.a"),
    _selectable("selectable field is in brackets", "\".spec['a']\"", ".spec.a"),
    _selectable("selectable field has no dot", "spec.a", ".spec.a"),
    _selectable("selectable field is empty", "''", ".spec.a"),
    _selectable("selectable field twice", ".spec.a .spec.a", ".spec.a"),
    _selectable("nine selectable fields", f"{_EIGHT} .spec.f8", _EIGHT),
    _versions("selectable fields of one version", "", "{jsonPath: .spec.a}", other=_SPEC),
    _versions(
        "the same selectable fields of two schemas",
        "{jsonPath: .spec.a}",
        "",
        other="spec: {type: object, properties: {a: {type: string}}}",
    ),
    Refusal(
        "selectable field of metadata",
        "UX07",
        crd(
            "metadata: {type: object, properties: {name: {type: string}}}",
            extra="selectableFields: [{jsonPath: .metadata.name}]",
        ),
        crd(
            "spec: {type: object, properties: {name: {type: string}}}",
            extra="selectableFields: [{jsonPath: .spec.name}]",
        ),
    ),
)
