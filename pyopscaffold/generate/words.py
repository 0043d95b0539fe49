"""Schemas in words, as Markdown: what a reader of an API has to know of a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.api.types import QUANTITY_PATTERN
from pyopscaffold.generate.markdown import code, link, prose, value
from pyopscaffold.model import rules
from pyopscaffold.schema import UNSET, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.schema import Rule

_QUANTITY: Final = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"

NO_VALIDATION: Final = frozenset(
    {"type", "format", "int_or_string", "title", "description", "default", "properties", "required"}
    | {"items", "additional_properties", "rules"}
)
"""Attributes of a schema that the page tells elsewhere: in the type, in the text, or as fields and rules."""


def leaf(schema: Schema) -> str:
    """Return the type of a value that is no list, dict or dataclass."""
    if _is_quantity(schema):
        return f"[quantity]({_QUANTITY})"
    if schema.int_or_string:
        return "integer or string"
    if schema.format and schema.type:
        return f"{schema.type} ({schema.format})"
    return schema.type or "anything"


def validations(schema: Schema, *, beyond: Schema | None = None) -> tuple[str, ...]:
    """Return what a value must be, each as a phrase; of what its own type says already (``beyond``), nothing."""
    known = beyond or Schema()
    phrases = [
        phrase
        for names, say in _PHRASES.items()
        if any(getattr(schema, name) != getattr(known, name) for name in names)
        for phrase in say(schema)
    ]
    return (*phrases, *(rule(item) for item in schema.rules if item not in known.rules))


def rule(item: Rule) -> str:
    """Return what a CEL rule demands, in its author's words and as it is written."""
    if item == rules.UNCHANGED:
        return "can't be changed"
    said = prose(item.message.strip()) or (item.message_expression and f"says {code(item.message_expression)}")
    more = [f"a refusal names {code(item.field_path)}"] if item.field_path else []
    more += [f"its reason is {item.reason}"] if item.reason else []
    more += ["also when it is created"] if item.optional_old_self else []
    return (f"{said}: " if said else "") + code(item.rule) + (f" ({', '.join(more)})" if more else "")


def _is_quantity(schema: Schema) -> bool:
    return schema.int_or_string and schema.pattern == QUANTITY_PATTERN


def _enum(schema: Schema) -> Iterator[str]:
    if schema.enum:
        yield f"one of {', '.join(map(value, schema.enum))}"


def _bounds(schema: Schema) -> Iterator[str]:
    if schema.minimum is not None:
        yield f"{'more than' if schema.exclusive_minimum else 'at least'} {json.dumps(schema.minimum)}"
    if schema.maximum is not None:
        yield f"{'less than' if schema.exclusive_maximum else 'at most'} {json.dumps(schema.maximum)}"


def _multiple(schema: Schema) -> Iterator[str]:
    if schema.multiple_of is not None:
        yield f"a multiple of {json.dumps(schema.multiple_of)}"


def _size(what: str, one: str, many: str) -> Callable[[Schema], Iterator[str]]:
    def say(schema: Schema) -> Iterator[str]:
        for bound, words in ((f"min_{what}", "at least"), (f"max_{what}", "at most")):
            if (number := getattr(schema, bound)) is not None:
                yield f"{words} {number} {one if number == 1 else many}"

    return say


def _pattern(schema: Schema) -> Iterator[str]:
    if schema.pattern and not _is_quantity(schema):
        yield f"matches {code(schema.pattern)}"


def _list_type(schema: Schema) -> Iterator[str]:
    match schema.list_type:
        case "map":
            yield f"no two items with the same {' and '.join(map(code, schema.list_map_keys))}"
        case "set":
            yield "no item twice"
        case "atomic":
            yield "replaced as a whole by server-side apply"


def _map_type(schema: Schema) -> Iterator[str]:
    if schema.map_type == "atomic":
        yield "replaced as a whole by server-side apply"


def _kept(schema: Schema) -> Iterator[str]:
    if schema.preserve_unknown_fields and schema.type:
        yield "other fields are kept as they are"


def _flag(attribute: str, words: str) -> Callable[[Schema], Iterator[str]]:
    def say(schema: Schema) -> Iterator[str]:
        if getattr(schema, attribute):
            yield words

    return say


def _junctor(attribute: str, words: str) -> Callable[[Schema], Iterator[str]]:
    def say(schema: Schema) -> Iterator[str]:
        found: Any = getattr(schema, attribute)
        if found:
            yield f"{words} {', '.join(map(value, found if isinstance(found, tuple) else [found]))}"

    return say


def _example(schema: Schema) -> Iterator[str]:
    if schema.example is not UNSET:
        yield f"for example {value(schema.example)}"


def _external_docs(schema: Schema) -> Iterator[str]:
    if url := schema.external_docs.get("url"):
        yield f"see {link(schema.external_docs.get('description') or url, url)}"


_PHRASES: Final[dict[tuple[str, ...], Callable[[Schema], Iterator[str]]]] = {
    ("enum",): _enum,
    ("minimum", "exclusive_minimum", "maximum", "exclusive_maximum"): _bounds,
    ("multiple_of",): _multiple,
    ("min_length", "max_length"): _size("length", "character", "characters"),
    ("min_items", "max_items"): _size("items", "item", "items"),
    ("min_properties", "max_properties"): _size("properties", "entry", "entries"),
    ("pattern",): _pattern,
    ("list_type", "list_map_keys"): _list_type,
    ("map_type",): _map_type,
    ("nullable",): _flag("nullable", "may be `null`"),
    ("preserve_unknown_fields",): _kept,
    ("embedded_resource",): _flag("embedded_resource", "a whole Kubernetes object"),
    ("all_of",): _junctor("all_of", "fits all of"),
    ("any_of",): _junctor("any_of", "fits at least one of"),
    ("one_of",): _junctor("one_of", "fits exactly one of"),
    ("not_",): _junctor("not_", "does not fit"),
    ("example",): _example,
    ("external_docs",): _external_docs,
}
"""How attributes of a schema are told, by their names, in the order of the page."""
