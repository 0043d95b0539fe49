"""From the JSON form of a schema to the value: the inverse of :func:`pyopscaffold.schema.structural.to_mapping`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from pyopscaffold.schema.structural import INTEGER_OR_STRING, Rule, Schema, key_of

Report = Callable[[str, str], object]
"""Is told the path (``spec.ports[]``, "" for the schema itself) and the keyword of what a Schema does not hold."""


def from_mapping(data: Mapping[str, Any], *, report: Report | None = None) -> Schema:
    """Read the JSON form of a schema; ``report`` hears of what is left out of the answer.

    ``additionalProperties: true`` and an int-or-string without its alternatives are read as what they mean.

    Raises:
        ValueError: there is a keyword, or a value of one, that a Schema does not hold, and no ``report``.

    """
    return _read(data, "", report or _refuse)


def _refuse(path: str, keyword: str) -> None:
    raise ValueError(f"{path or 'the schema'}: {keyword} has no place in a structural schema")


def _read(data: Mapping[str, Any], path: str, report: Report) -> Schema:
    values: dict[str, Any] = {}
    for keyword, value in data.items():
        name = _NAMES.get(keyword)
        if name is None or not _fits(name, value):
            report(path, keyword)
        elif name in _NESTED:
            values[name] = _NESTED[name](value, path, report)
        else:
            values[name] = _READERS[name](value) if name in _READERS else value
    if data.get("additionalProperties") is True:
        # Pruning stops at such a map: its values are kept as they are.
        values["additional_properties"] = Schema(preserve_unknown_fields=True)
    for name, bound in (("exclusive_minimum", "minimum"), ("exclusive_maximum", "maximum")):
        if values.get(name) and bound not in values:
            report(path, key_of(name))
            del values[name]
    if values.get("int_or_string"):
        values.update(_without_alternatives(values))
    return Schema(**values)


def _fits(name: str, value: Any) -> bool:
    if name == "additional_properties":
        return value is True or isinstance(value, dict)
    kinds = _KINDS.get(name)
    return kinds is None or (isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds))


def _without_alternatives(values: Mapping[str, Any]) -> dict[str, Any]:
    """Take away what says "an integer or a string" once more."""
    if list(values.get("any_of", ())) == [*INTEGER_OR_STRING]:
        return {"any_of": ()}
    first, *rest = values.get("all_of") or ({},)
    return {"all_of": tuple(rest)} if first == {"anyOf": [*INTEGER_OR_STRING]} else {}


def _properties(value: Mapping[str, Any], path: str, report: Report) -> dict[str, Schema]:
    found = {}
    for name, child in value.items():
        place = f"{path}.{name}".lstrip(".")
        if isinstance(child, Mapping):
            found[name] = _read(child, place, report)
        else:
            report(place, str(child))
    return found


def _rules(value: list[Mapping[str, Any]]) -> tuple[Rule, ...]:
    names = {key_of(field.name): field.name for field in fields(Rule)}
    return tuple(Rule(**{names[key]: item for key, item in rule.items() if key in names}) for rule in value)


_NAMES: Final = {key_of(field.name): field.name for field in fields(Schema)}
_NESTED: Final[dict[str, Callable[[Any, str, Report], Any]]] = {
    "properties": _properties,
    "items": lambda value, path, report: _read(value, f"{path}[]", report),
    "additional_properties": lambda value, path, report: None if value is True else _read(value, f"{path}{{}}", report),
}
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "rules": _rules,
    **dict.fromkeys(("enum", "required", "list_map_keys", "all_of", "any_of", "one_of"), tuple),
}
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("type", "format", "title", "description", "pattern", "list_type", "map_type"), (str,)),
    **dict.fromkeys(("minimum", "maximum", "multiple_of"), (int, float)),
    **dict.fromkeys(("min_length", "max_length", "min_items", "max_items"), (int,)),
    **dict.fromkeys(("min_properties", "max_properties"), (int,)),
    **dict.fromkeys(("nullable", "exclusive_minimum", "exclusive_maximum", "int_or_string"), (bool,)),
    **dict.fromkeys(("embedded_resource", "preserve_unknown_fields"), (bool,)),
    **dict.fromkeys(("properties", "items", "external_docs", "not_"), (dict,)),
    **dict.fromkeys(("enum", "required", "list_map_keys", "all_of", "any_of", "one_of", "rules"), (list, tuple)),
}
