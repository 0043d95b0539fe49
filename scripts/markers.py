"""Write docs/markers.md from the API's own signatures, docstrings and meanings: ``make docs``.

The examples are declarations; what they do to a CRD is worked out by reading them and generating the CRD.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import annotated_types

from pyopscaffold import api
from pyopscaffold.api import types as api_types
from pyopscaffold.errors import DeclarationError
from pyopscaffold.generate.crd import crd_of
from pyopscaffold.generate.manifest import dump
from pyopscaffold.generate.markdown import anchor, code
from pyopscaffold.loader import source
from pyopscaffold.model.markers import ANY, LISTS, MEANINGS, NUMBERS, OBJECTS, ON_CLASSES, STRINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "markers.md"

_HEAD = """\
# Markers and declarations

All that [`pyopscaffold.api`](declarations.md) has, with what it does to the CRD. `make docs` writes this page from the
code; the YAML is what `pyopscaffold generate` makes of the example above it.

A marker stands in `Annotated[type, …]`, several beside each other, also around the items of a list or the values of a
dict. Those that say so can stand on a whole dataclass too, by [`mark`](#mark-decorator).
[controller-gen.md](controller-gen.md) has their names in Go.

`Port`, where an example has it, is `name: str` and `number: int32`.

"""

_IMPORTS = """\
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Annotated, Any
from pyopscaffold.api import *
"""
_PORT = """
@dataclass(kw_only=True)
class Port:
    name: str
    number: int32
"""
_KIND = """
@dataclass(kw_only=True)
class Spec:
    {fields}
@resource(group="example.com", version="v1", kind="{kind}")
@dataclass(kw_only=True)
class Kind(Object):
    spec: Spec
"""

_FIELDS = {
    "AllOf": 'x: Annotated[str, AllOf({"pattern": "^a"}, {"pattern": "z$"})]',
    "AnyOf": 'x: Annotated[str, AnyOf({"maxLength": 0}, {"format": "ipv4"})]',
    "CEL": 'x: Annotated[int32, CEL("self != 22", message="22 is the node\'s own")]',
    "Conditions": "x: Conditions",
    "Default": 'x: Annotated[str, Default("eu")] = ""',
    "Doc": 'x: Annotated[str, Doc("Where it runs.")]',
    "EmbeddedResource": "x: Annotated[RawExtension, EmbeddedResource()]",
    "Example": 'x: Annotated[str, Example("eu-1")]',
    "ExternalDocs": 'x: Annotated[str, ExternalDocs("https://example.com/zones", "All zones")]',
    "Format": 'x: Annotated[str, Format("ipv4")]',
    "Ge": "x: Annotated[int, Ge(1)]",
    "Gt": "x: Annotated[float, Gt(0)]",
    "Immutable": "x: Annotated[str, Immutable()] | None = None",
    "IntOrString": "x: Annotated[str, IntOrString()]",
    "Interval": "x: Annotated[int, Interval(ge=1, lt=10)]",
    "JSON": "x: JSON",
    "KeepMetadata": "x: Annotated[ObjectMeta, KeepMetadata()]",
    "Le": "x: Annotated[int, Le(10)]",
    "Len": "x: Annotated[list[str], Len(1, 8)]",
    "ListAtomic": "x: Annotated[list[str], ListAtomic()]",
    "ListMap": 'x: Annotated[list[Port], ListMap("name")]',
    "ListSet": "x: Annotated[list[str], ListSet()]",
    "Lt": "x: Annotated[float, Lt(1)]",
    "MapType": 'x: Annotated[dict[str, str], MapType("atomic")]',
    "MaxLen": "x: Annotated[str, MaxLen(63)]",
    "MinLen": "x: Annotated[dict[str, str], MinLen(1)]",
    "MultipleOf": "x: Annotated[int, MultipleOf(5)]",
    "Name": 'cluster_ip: Annotated[str, Name("clusterIP")]',
    "NoSchemaDefault": "x: Annotated[int32, NoSchemaDefault()] = 3",
    "Not": 'x: Annotated[str, Not({"enum": ["default"]})]',
    "Nullable": "x: Annotated[str | None, Nullable()] = None",
    "OneOf": 'x: Annotated[str, OneOf({"format": "ipv4"}, {"format": "ipv6"})]',
    "OneOfValues": "x: Annotated[int32, OneOfValues(80, 443)]",
    "Pattern": 'x: Annotated[str, Pattern("^[a-z]+$")]',
    "PreserveUnknownFields": "x: Annotated[Port, PreserveUnknownFields()]",
    "Quantity": "x: Quantity",
    "RawExtension": "x: RawExtension",
    "SchemaType": 'x: Annotated[int, SchemaType("string")]',
    "Schemaless": "x: Annotated[Port, Schemaless(), PreserveUnknownFields()]",
    "Selectable": "x: Annotated[str, Selectable()]",
    "Title": 'x: Annotated[str, Title("Zone")]',
    "UniqueItems": "x: Annotated[list[str], UniqueItems()]",
    "int32": "x: int32",
    "int64": "x: int64",
}
"""A declaration of one field, by the name that it shows."""

_PAIR = "@dataclass(kw_only=True)\nclass Pair:\n    left: str | None = None\n    right: str | None = None\n"
_CLASSES = {
    "at_least_one_of": f'@at_least_one_of("left", "right")\n{_PAIR}',
    "at_most_one_of": f'@at_most_one_of("left", "right")\n{_PAIR}',
    "atomic": f"@atomic\n{_PAIR}",
    "cel": f'@cel("self.left != self.right", message="they are alike", field_path=".right")\n{_PAIR}',
    "exactly_one_of": f'@exactly_one_of("left", "right")\n{_PAIR}',
    "mark": f'@mark(Title("Pair"), MaxLen(1))\n{_PAIR}',
}
"""A dataclass, by the decorator that it shows."""

_BOUNDS = {
    "Ge": "The number is at least this.",
    "Gt": "The number is more than this.",
    "Interval": "`Ge`, `Gt`, `Le` and `Lt` in one.",
    "Le": "The number is at most this.",
    "Len": "`MinLen` and `MaxLen` in one.",
    "Lt": "The number is less than this.",
    "MaxLen": "At most so many characters, items, or entries.",
    "MinLen": "At least so many characters, items, or entries.",
    "MultipleOf": "The number is a multiple of this.",
}
"""What the markers of annotated-types say; they come with an English of their own."""

_EXPANDED: dict[type, type] = {
    annotated_types.Interval: annotated_types.Ge,
    annotated_types.Len: annotated_types.MinLen,
}

_TYPES = {"JSON", "Conditions", "Quantity", "RawExtension", "int32", "int64"}

_SHAPES = {
    "string": "`str`",
    "integer": "`int`",
    "number": "`float`",
    "boolean": "`bool`",
    "int-or-string": "`int | str`",
    "list": "lists",
    "map": "dicts",
    "struct": "dataclasses",
    "any": "`Any`",
}

_GROUPS = (
    "Numbers",
    "Strings",
    "Lists",
    "Dicts and dataclasses",
    "Several types",
    "Every value",
    "Refused",
    "Whole dataclasses",
    "Types",
    "Declarations",
)


def page() -> str:
    """Return the text of docs/markers.md."""
    effects = _effects()
    sections: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name in sorted(api.__all__, key=str.lower):
        sections[_group(name)].append("".join(_entry(name, effects)))
    contents = "".join(f"- [{group}](#{_slug(group)}): {_links(group)}\n" for group in _GROUPS)
    bodies = (f"## {anchor(_slug(group))}{group}\n\n{''.join(entries)}" for group, entries in sections.items())
    return f"{_HEAD}{contents}\n{''.join(bodies)}".rstrip() + "\n"


def _links(group: str) -> str:
    names = sorted((name for name in api.__all__ if _group(name) == group), key=str.lower)
    return ", ".join(f"[{code(name)}](#{_slug(name)})" for name in names)


def _slug(name: str) -> str:
    # JSON and CEL beside cel: an anchor of its own for each, whatever the case.
    return f"{name}-decorator" if name in _CLASSES else name.lower().replace(" ", "-")


def _applies(name: str) -> frozenset[str] | None:
    marker = getattr(api, name)
    meaning = MEANINGS.get(_EXPANDED.get(marker, marker)) if isinstance(marker, type) else None
    return meaning.applies if meaning else None


def _group(name: str) -> str:
    applies = _applies(name)
    if applies is None:
        return "Whole dataclasses" if name in _CLASSES else "Types" if name in _TYPES else "Declarations"
    if not applies:
        return "Refused"
    families = {"Numbers": NUMBERS, "Strings": STRINGS, "Lists": LISTS, "Dicts and dataclasses": OBJECTS | {"any"}}
    inside = (group for group, family in families.items() if applies <= family)
    return next(inside, "Every value" if applies >= ANY - {"any"} else "Several types")


def _entry(name: str, effects: Mapping[str, str]) -> Iterator[str]:
    item = getattr(api, name)
    yield f"### {anchor(_slug(name))}{code(name)}\n\n"
    if name not in _TYPES:
        yield f"```python\n{_signature(name, item)}\n```\n\n"
    yield f"{_text(name, item)}\n\n"
    if applies := _applies(name):
        shapes = "all values" if applies >= ANY else ", ".join(_SHAPES[shape] for shape in _SHAPES if shape in applies)
        on_classes = "; on a whole dataclass by [`mark`](#mark-decorator)" if item in ON_CLASSES else ""
        yield f"For {shapes}{on_classes}.\n\n"
    if example := _FIELDS.get(name) or _CLASSES.get(name):
        yield f"```python\n{example.rstrip()}\n```\n\n{effects[name]}\n\n"


def _signature(name: str, item: Any) -> str:
    parameters = [_parameter(parameter) for parameter in inspect.signature(item).parameters.values()]
    kinds = [parameter.kind for parameter in inspect.signature(item).parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    line = f"{name}({', '.join(parameters)})"
    if len(line) <= 100:  # noqa: PLR2004 - what fits on a page
        return line
    lines = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{lines})"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
    hint = parameter.annotation
    typed = f": {hint.replace('_C', 'type')}".replace("'", '"') if isinstance(hint, str) else ""
    if parameter.default is inspect.Parameter.empty:
        return f"{stars}{parameter.name}{typed}"
    value = "..." if repr(parameter.default) == "<factory>" else repr(parameter.default).replace("'", '"')
    return f"{parameter.name}{typed} = {value}" if typed else f"{parameter.name}={value}"


def _text(name: str, item: Any) -> str:
    if name in _BOUNDS:
        return _BOUNDS[name]
    text = _variable_texts()[name] if name in _TYPES else inspect.getdoc(item) or ""
    return _as_markdown(text.partition("\n\nRaises:")[0].strip())


def _variable_texts() -> dict[str, str]:
    """Return the docstrings below the assignments in pyopscaffold.api.types."""
    body = ast.parse(inspect.getsource(api_types)).body
    found = {}
    for statement, below in itertools.pairwise(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[target.id] = str(below.value.value)
    return found


def _as_markdown(text: str) -> str:
    """Return a docstring with its references to names of the page as links, and others as code."""

    def linked(found: re.Match[str]) -> str:
        name = found[1].rpartition(".")[2]
        return f"[{code(name)}](#{_slug(name)})" if name in api.__all__ else code(found[1])

    return re.sub(r"``(.+?)``", r"`\1`", re.sub(r":\w+:`~?([^`]+)`", linked, text))


def _effects() -> dict[str, str]:
    """Return what each example does to a CRD, as Markdown."""
    refused = [name for name in _FIELDS if _applies(name) == frozenset()]
    names = [name for name in (*_FIELDS, *_CLASSES) if name not in refused]
    with tempfile.TemporaryDirectory() as folder:
        kinds = source.read(Path(folder), _package(Path(folder), "shown", names), python=sys.executable).kinds
        by_module = {Path(kind.span.file).stem: kind for kind in kinds}
        found = {name: _effect(crd_of([by_module[f"example{number}"]])) for number, name in enumerate(names)}
        return found | {name: _refusal(Path(folder), name) for name in refused}


def _package(root: Path, package: str, names: Sequence[str]) -> str:
    """Write a package with a kind for each example, and return its name."""
    folder = root / package / "api"
    folder.mkdir(parents=True)
    for place in (folder.parent, folder):
        (place / "__init__.py").touch()
    for number, name in enumerate(names):
        fields = _FIELDS.get(name, "x: Pair")
        declared = _CLASSES.get(name, _PORT if "Port" in fields else "")
        text = f"{_IMPORTS}{declared}{_KIND.format(fields=fields, kind=f'Example{number}')}"
        (folder / f"example{number}.py").write_text(text, encoding="utf-8")
    return package


def _refusal(root: Path, name: str) -> str:
    try:
        source.read(root, _package(root, "refused", [name]), python=sys.executable)
    except DeclarationError as error:
        return f"`generate` says: {error.problems[0].message}"
    raise SystemExit(f"error: {name} is not refused")


def _effect(crd: Mapping[str, Any]) -> str:
    (version,) = crd["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    shown = dict(spec["properties"])
    if rules := spec.get("x-kubernetes-validations"):
        shown = {"properties": shown, "x-kubernetes-validations": rules}
    parts = [shown, {"selectableFields": version["selectableFields"]}] if "selectableFields" in version else [shown]
    text = "---\n".join(map(dump, parts))
    return f"```yaml\n{text}```"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
