"""An API reference in Markdown: a page for every version of a group, and one that lists the kinds.

``pyopscaffold generate docs`` makes it; once it is there, ``generate`` keeps it as it keeps every other file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import GENERATED
from pyopscaffold.generate.markdown import anchor, anchor_name, code, prose, table, value
from pyopscaffold.generate.words import leaf, validations
from pyopscaffold.model import rules
from pyopscaffold.model.kinds import EnumType, KnownType, ListType, MapType, ScalarType, StructType
from pyopscaffold.model.schema import kind_schema, type_schema
from pyopscaffold.schema import UNSET, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyopscaffold.model.kinds import FieldModel, KindModel, ProjectModel, TypeModel

FOLDER: Final = "docs/api"
INDEX: Final = f"{FOLDER}/README.md"

_HEADER: Final = f"<!-- {GENERATED} -->\n\n"
_KUBERNETES: Final = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.37/"
_HEAD: Final = 200


def wanted(present: Mapping[str, str]) -> bool:
    """Whether the project has a reference, which is to be kept fresh then."""
    return any(path.startswith(f"{FOLDER}/") and GENERATED in text[:_HEAD] for path, text in present.items())


def artefacts(model: ProjectModel) -> tuple[Artefact, ...]:
    """Return the pages; none where there is no kind."""
    versions: dict[str, list[KindModel]] = {}
    for kind in model.kinds:
        versions.setdefault(path_of(kind), []).append(kind)
    pages = {path: "".join(_page(kinds)) for path, kinds in versions.items()}
    if pages:
        pages[INDEX] = "".join(_index(model.kinds))
    return tuple(Artefact(path, _HEADER + text, owner=Owner.TOOL) for path, text in sorted(pages.items()))


def path_of(kind: KindModel) -> str:
    """Return the page that a kind is on: ``docs/api/example.com_v1.md``."""
    return f"{FOLDER}/{kind.gvk.group}_{kind.gvk.version}.md"


def _index(kinds: Iterable[KindModel]) -> Iterator[str]:
    yield "# API reference\n\n"
    rows = []
    for kind in kinds:
        page = path_of(kind).removeprefix(f"{FOLDER}/")
        link = f"[{kind.gvk.kind}]({page}#{kind.gvk.kind.lower()})"
        rows.append([link, code(kind.gvk.api_version), _first(kind.description)])
    yield table(["kind", "apiVersion", ""], rows)


def _first(text: str) -> str:
    return prose(text.strip().partition("\n\n")[0])


def _page(kinds: list[KindModel]) -> Iterator[str]:
    book = _Book()
    for kind in kinds:
        book.enter(kind.root, kind.gvk.kind)
    yield f"# {kinds[0].gvk.api_version}\n\n"
    if len(kinds) > 1:
        yield "".join(f"- {book.link(kind.root)}\n" for kind in kinds) + "\n"
    for kind in kinds:
        yield from _kind(kind, book)
    yield from book.rest()


def _kind(kind: KindModel, book: _Book) -> Iterator[str]:
    yield from book.head(kind.root)
    yield table(["", ""], _facts(kind)) + "\n"
    if kind.columns:
        yield "Columns of `kubectl get`:\n\n"
        yield table(["column", "shows", "", ""], map(_column, kind.columns)) + "\n"
    yield from book.members(kind.root, kind_schema(kind))


def _facts(kind: KindModel) -> Iterator[tuple[str, str]]:
    yield "apiVersion", code(kind.gvk.api_version)
    yield "kind", code(kind.gvk.kind)
    names = (kind.gvk.plural, kind.singular, *kind.short_names)
    yield "names for kubectl", ", ".join(map(code, names))
    if kind.categories:
        yield "categories", ", ".join(map(code, kind.categories))
    yield "scope", "Namespaced" if kind.gvk.namespaced else "Cluster"
    yield "version", ", ".join(_standing(kind))
    if kind.scale is not None:
        yield "scaled by", code(kind.scale.spec)
    if kind.selectable:
        yield "selectable by", ", ".join(map(code, kind.selectable))


def _standing(kind: KindModel) -> Iterator[str]:
    yield "served" if kind.served else "not served"
    if kind.storage:
        yield "stored"
    if kind.deprecated is not None:
        yield f"deprecated: {prose(kind.deprecated)}" if kind.deprecated else "deprecated"


def _column(column: Any) -> tuple[str, str, str, str]:
    wide = "with `-o wide` only" if column.priority else ""
    return prose(column.name), code(column.json_path), prose(column.description), wide


@dataclass
class _Book:
    """The dataclasses of a page: each is told once, after those that have it as a field's type."""

    titles: dict[int, str] = field(default_factory=dict)
    anchors: dict[int, str] = field(default_factory=dict)
    users: dict[int, list[str]] = field(default_factory=dict)
    waiting: list[tuple[StructType, Schema]] = field(default_factory=list)

    def enter(self, struct: StructType, title: str) -> None:
        """Give a dataclass its title and an anchor of its own, if it has none."""
        if id(struct) not in self.titles:
            twins = sum(known.lower() == title.lower() for known in self.titles.values())
            self.titles[id(struct)] = title
            self.anchors[id(struct)] = f"{title.lower()}-{twins + 1}" if twins else title.lower()

    def link(self, struct: StructType) -> str:
        """Return a link to where a dataclass is told."""
        return f"[{self.titles[id(struct)]}](#{self.anchors[id(struct)]})"

    def head(self, struct: StructType) -> Iterator[str]:
        """Yield the title of a dataclass and its text."""
        yield f"## {anchor(self.anchors[id(struct)])}{self.titles[id(struct)]}\n\n"
        if struct.description:
            yield f"{prose(struct.description)}\n\n"

    def rest(self) -> Iterator[str]:
        """Yield the sections of the dataclasses that were met and not told yet, and of those met then."""
        # The list grows meanwhile, and only at the end it is known where each of them is used.
        bodies = [(struct, "".join(self.members(struct, schema))) for struct, schema in self.waiting]
        for struct, body in bodies:
            yield from self.head(struct)
            yield f"Used in {', '.join(self.users[id(struct)])}.\n\n{body}"

    def members(self, struct: StructType, schema: Schema) -> Iterator[str]:
        """Yield what holds for whole objects of a dataclass, and its fields."""
        kept = tuple(rules.kept(member.json_name) for member in struct.fields)
        if schema.title:
            yield f"**{prose(schema.title)}**\n\n"
        yield _listed(validations(schema, beyond=Schema(rules=kept)))
        for member in sorted(struct.fields, key=lambda member: member.json_name == "status"):
            yield from self._member(struct, member, schema)

    def _member(self, struct: StructType, member: FieldModel, parent: Schema) -> Iterator[str]:
        schema = parent.properties[member.json_name]
        place = f"{self.anchors[id(struct)]}-{anchor_name(member.json_name)}"
        yield f"### {anchor(place)}{code(member.json_name)}\n\n"
        facts = [self._type(member.type, schema, f"[{self.titles[id(struct)]}.{member.json_name}](#{place})")]
        facts.append("required" if member.json_name in parent.required else "optional")
        if schema.default is not UNSET:
            facts.append(f"default {value(schema.default)}")
        yield f"{', '.join(facts)}\n\n"
        if schema.title and schema.title != _own(member.type).title:
            yield f"**{prose(schema.title)}**\n\n"
        if text := member.description or _text_of(member.type):
            yield f"{prose(text)}\n\n"
        phrases = [*_told(member.type, schema)]
        if rules.kept(member.json_name) in parent.rules:
            phrases.append("can't be taken away once it is set")
        yield _listed(phrases)

    def _type(self, model: TypeModel, schema: Schema, user: str) -> str:
        """Return a type, with links; dataclasses in it are to be told too."""
        match model:
            case ListType(items, _) if schema.items is not None:
                return f"list of {self._type(items, schema.items, user)}"
            case MapType(values, _) if schema.additional_properties is not None:
                return f"map of {self._type(values, schema.additional_properties, user)}"
            case StructType() if schema.properties or not model.fields:
                return self._met(model, schema, user)
            case ScalarType("duration") if schema.type == "string":
                return "duration such as `5m0s`"
            case KnownType(name) if schema.type == "object":
                return _known(name)
            case _:
                return leaf(schema)

    def _met(self, struct: StructType, schema: Schema, user: str) -> str:
        self.enter(struct, struct.name)
        if id(struct) not in self.users:
            # The fields as they are there, in the status without defaults; the rest as it is everywhere.
            own = replace(type_schema(struct), properties=schema.properties)
            self.waiting.append((struct, own))
        users = self.users.setdefault(id(struct), [])
        if user not in users:
            users.append(user)
        return self.link(struct)


def _listed(phrases: Iterable[str]) -> str:
    lines = "".join(f"- {phrase}\n" for phrase in phrases)
    return f"{lines}\n" if lines else ""


def _told(model: TypeModel, schema: Schema) -> Iterator[str]:
    """Yield the validations of a field, those of its items and values as such."""
    yield from validations(schema, beyond=_own(model))
    match model:
        case ListType(items, _) if schema.items is not None:
            yield from (f"each item: {phrase}" for phrase in _told(items, schema.items))
        case MapType(values, _) if schema.additional_properties is not None:
            yield from (f"each value: {phrase}" for phrase in _told(values, schema.additional_properties))


def _own(model: TypeModel) -> Schema:
    """Return what is told of a value where its type is told."""
    return type_schema(model) if isinstance(model, StructType | KnownType) else Schema()


def _text_of(model: TypeModel) -> str:
    """Return the text of a field's type, where the page has no section for that."""
    match model:
        case EnumType(_, description):
            return description
        case KnownType():
            return type_schema(model).description
        case _:
            return ""


def _known(name: str) -> str:
    """Return a type of Kubernetes with a link to its own documentation."""
    parts = name.split(".")
    group, version = ("meta", "v1") if len(parts) < 3 else (parts[-3], parts[-2])  # noqa: PLR2004 - a.b.group.version.Kind
    return f"[{parts[-1]}]({_KUBERNETES}#{parts[-1].lower()}-{version}-{group})"
