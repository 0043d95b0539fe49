"""What can be wrong between kinds: the versions of one, and kinds that share a name.

Names that another CRD of the group has are not accepted, and the kind is never served. Source:
k8s.io/apiextensions-apiserver/pkg/controller/status/naming_controller.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import Problem
from pyopscaffold.model.kinds import ListType, MapType, StructType
from pyopscaffold.model.schema import kind_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pyopscaffold.model.kinds import KindModel, SourceSpan, TypeModel
    from pyopscaffold.schema import Schema


def problems(found: Iterable[KindModel]) -> Iterator[Problem]:
    """Yield what is wrong between kinds: versions that don't go together, names that meet."""
    families: dict[tuple[str, str], list[KindModel]] = {}
    owners: dict[tuple[str, str], KindModel] = {}
    for kind in found:
        families.setdefault((kind.gvk.group, kind.gvk.kind), []).append(kind)
        for name, way in _claims(kind).items():
            first = owners.setdefault((kind.gvk.group, name), kind)
            if first.gvk.kind != kind.gvk.kind:
                yield _at(kind, f"{first.gvk.kind} is called {name} too, in the same group; {way} on one of them")
    for family in families.values():
        yield from _family(family)


def _claims(kind: KindModel) -> dict[str, str]:
    """Return the names that no other kind of the group may have, with what to write for another."""
    return {
        f"{kind.gvk.kind}List": "write kind=",
        kind.gvk.kind: "write kind=",
        **dict.fromkeys(kind.short_names, "change short_names="),
        kind.singular: "write singular=",
        kind.gvk.plural: "write plural=",
    }


def _family(family: list[KindModel]) -> Iterator[Problem]:
    """Yield what is wrong between the versions of one kind."""
    seen: dict[str, KindModel] = {}
    for kind in family:
        if (twin := seen.setdefault(kind.gvk.version, kind)) is not kind:
            place = f"{twin.span.file}:{twin.span.line}"
            yield _at(kind, f"{kind.gvk.kind} {kind.gvk.version} is declared at {place} too; remove one")
        first = _shared(family[0])
        if differing := [name for name, value in _shared(kind).items() if value != first[name]]:
            message = f"{', '.join(differing)} differ from {family[0].gvk.version}; write the same in every version"
            yield _at(kind, message)
    stored = [kind for kind in family if kind.storage]
    versions = ", ".join(kind.gvk.version for kind in family)
    for kind in stored[1:] if len(seen) == len(family) else ():
        message = f"one version of {versions} is stored, not {len(stored)}; write storage=False on all but one"
        yield _at(kind, message)
    if not stored:
        yield _at(family[0], f"no version of {versions} is stored; drop storage=False on one")
    yield from _selectable(family)


def _selectable(family: list[KindModel]) -> Iterator[Problem]:
    """Yield what keeps the API server from the schema of selectable fields.

    It reads what all versions have alike as said of the CRD as a whole, and looks for the schema of the fields where it
    finds the fields. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go.
    """
    first, *others = family
    if not others:
        return
    schema, *schemas = map(kind_schema, family)
    alike = all(other == schema for other in schemas)
    same = all(kind.selectable == first.selectable for kind in others)
    if alike and not same:
        yield _at(
            others[-1], "its fields are those of the other versions; make the same Selectable in all, in one order"
        )
    elif first.selectable and same and not alike:
        message = "all versions differ and have the same Selectable fields, which the API server does not take"
        yield _at(others[-1], f"{message}; make others Selectable, or none, in one of them")


def _shared(kind: KindModel) -> dict[str, object]:
    """Return what all versions have in common, by the arguments of ``@resource``."""
    return {
        "plural": kind.gvk.plural,
        "singular": kind.singular,
        "scope": kind.gvk.namespaced,
        "short_names": kind.short_names,
        "categories": kind.categories,
    }


def unconvertible(found: Iterable[KindModel], wrong: Collection[tuple[str, int]]) -> Iterator[Problem]:
    """Yield served versions that differ from the first: only a conversion webhook could bridge that.

    ``wrong`` are files and lines where something is wrong already: what stands there may differ for that.
    """
    firsts: dict[tuple[str, str], KindModel] = {}
    for kind in sorted(found, key=lambda kind: kind.gvk):
        if not kind.served or any((span.file, span.line) in wrong for span in _spans(kind.root)):
            continue
        first = firsts.setdefault((kind.gvk.group, kind.gvk.kind), kind)
        if first is not kind and _bare(kind_schema(kind)) != _bare(kind_schema(first)):
            message = (
                f"{kind.gvk.kind} {kind.gvk.version} and {first.gvk.version} are both served and differ, and there is"
                " no conversion between them yet; write served=False on one of them"
            )
            yield _at(kind, message)


def _spans(model: TypeModel) -> Iterator[SourceSpan]:
    match model:
        case ListType(inner, _) | MapType(inner, _):
            yield from _spans(inner)
        case StructType():
            yield model.span
            for member in model.fields:
                yield member.span
                yield from _spans(member.type)


def _bare(schema: Schema) -> Schema:
    """Return the schema without the texts, which may differ between versions."""
    return schema.rewritten(lambda node: node.having(title="", description=""))


def _at(kind: KindModel, message: str) -> Problem:
    return Problem(kind.span.file, kind.span.line, kind.root.name, message)
