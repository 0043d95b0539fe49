"""DE03: defaults fit their own schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_dns1035_label
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint import objectmeta, shape
from pyopscaffold.lint.example import crd, spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version
from pyopscaffold.schema import from_mapping, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.schema import Schema

_TYPE_META = ("apiVersion", "kind", "metadata")
_VALIDATIONS = frozenset(
    (
        *("type", "format", "enum", "required", "pattern", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    )
)


def check(version: Version) -> Iterator[Hit]:
    """Report defaults that do not fit, or stand where there can be none."""
    for node in version.nodes:
        default = node.schema.get("default")
        if default is None:
            continue
        path = (*node.path, "default")
        if forbidden := _forbidden(node):
            yield Hit(path, f"{node.field} can't have a default{forbidden}", node.field)
        elif not _is_unchecked(node):
            for misfit in _misfits(node, default):
                yield Hit(path, f"the default of {node.field or 'the root'} does not fit: {misfit}", node.field)


def _forbidden(node: Node) -> str:
    if node.part in _TYPE_META:
        return f": the server fills in {node.part} before defaults"
    name, in_values = _embedded_meta(node)
    return f" within the values of a map in the {name} of an embedded resource" if name and in_values else ""


def _embedded_meta(node: Node) -> tuple[str, bool]:
    """Give what the node is in of an embedded resource: apiVersion, kind, metadata or ""; and whether in map values."""
    in_values = False
    while node.parent is not None:
        in_values = in_values or node.path[-1] == "additionalProperties"
        if node.name in _TYPE_META and node.parent.schema.get("x-kubernetes-embedded-resource") is True:
            return node.name, in_values
        node = node.parent
    return "", in_values


def _in_resource(node: Node, value: Any) -> dict[str, Any]:
    """Give the embedded resource that has nothing but the value, where the node stands in its metadata."""
    while node.parent is not None:
        value = {node.name: value} if node.name else [value]
        node = node.parent
        if node.schema.get("x-kubernetes-embedded-resource") is True:
            break
    return mapping(value)


def _meta_misfits(resource: dict[str, Any]) -> Iterator[str]:
    kind, version, metadata = (resource.get(name) for name in ("kind", "apiVersion", "metadata"))
    if kind is not None and not is_dns1035_label(text(kind).lower()):
        yield f"{kind!r} is no kind"
    if version is not None and (not text(version) or text(version).count("/") > 1):
        yield f"{version!r} is no group and version"
    for fault in shape.faults({} if metadata is None else metadata, shape.METADATA):
        if not fault.unknown:
            yield f"{fault.path[-1] if fault.path else 'metadata'}: {fault.message}"
    yield from (message for _, message in objectmeta.problems(mapping(metadata)))


def _is_unchecked(node: Node) -> bool:
    """Whether the server does not look at the default, since it stands within the values of a map."""
    while node.parent is not None:
        if not node.name and node.path[-1] == "additionalProperties":
            return True
        node = node.parent
    return False


def _misfits(node: Node, default: Any) -> Iterator[str]:
    given, relevant = _as_sent(default), _as_sent(_relevant(node.schema, default))
    if node.parent is None:
        relevant["x-kubernetes-embedded-resource"] = True
    if any(not fault.unknown for fault in shape.faults(relevant, shape.SCHEMA)):
        return  # ST06 tells of it
    schema = from_mapping(relevant, report=lambda *_: None)
    if _embedded_meta(node)[0]:
        # The server does not prune what it holds to its own types of metadata.
        schema = schema.rewritten(lambda part: part.having(preserve_unknown_fields=True))
        yield from _meta_misfits(_in_resource(node, given))
    else:
        for resource in _resources(schema, given):
            yield from _meta_misfits({"metadata": resource.get("metadata")})
    for misfit in validate(schema, given):
        yield str(misfit)


def _resources(schema: Schema, value: Any) -> Iterator[dict[str, Any]]:
    """Yield the value, or what is in it, as far as it is an embedded resource."""
    if isinstance(value, dict):
        if schema.embedded_resource:
            yield value
        inner = [(schema.properties.get(name, schema.additional_properties), item) for name, item in value.items()]
    else:
        inner = [(schema.items, item) for item in listing(value)]
    for child, item in inner:
        if child is not None:
            yield from _resources(child, item)


def _as_sent(value: Any) -> Any:
    """Give the value as clients send it, which make 1 of 1.0."""
    if isinstance(value, dict):
        return {name: _as_sent(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_sent(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _relevant(schema: Any, *values: Any) -> dict[str, Any]:
    """Take away what says nothing of the values: the schemas of fields they lack, of which there may be thousands."""
    kept = {keyword: part for keyword, part in mapping(schema).items() if part is not None}
    for keyword in ("x-kubernetes-list-type", "x-kubernetes-int-or-string"):
        kept.pop(keyword, None)  # here the server looks for no equal items, nor at other types than are spelt out
    fields = [(name, item) for value in values if isinstance(value, dict) for name, item in value.items()]
    items = [item for value in values if isinstance(value, list) for item in value]
    declared = mapping(kept.get("properties"))
    if declared:
        kept["properties"] = {
            name: _relevant(declared[name], *(item for other, item in fields if other == name))
            for name, _ in fields
            if name in declared
        }
    for keyword, inner in (("items", items), ("additionalProperties", [item for _, item in fields])):
        if isinstance(kept.get(keyword), dict):
            kept[keyword] = _relevant(kept[keyword], *inner)
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in kept:
            kept[keyword] = [_restriction(part) for part in listing(kept[keyword])]
    if "not" in kept:
        kept["not"] = _restriction(kept["not"])
    return kept


def _restriction(part: Any) -> dict[str, Any]:
    """Give what a schema in a junctor may say; ST06 and ST07 tell of the rest."""
    kept: dict[str, Any] = {}
    for keyword, value in mapping(part).items():
        if keyword == "properties":
            kept[keyword] = {name: _restriction(inner) for name, inner in mapping(value).items()}
        elif keyword in ("items", "not"):
            kept[keyword] = _restriction(value)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            kept[keyword] = [_restriction(inner) for inner in listing(value)]
        elif keyword in _VALIDATIONS and value is not None:
            kept[keyword] = value
    return kept


RULE = Rule(
    id="DE03",
    name="default-invalid",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="A default fits its own schema as it stands, has no unknown fields, and is none of apiVersion, kind or "
    "metadata.",
    why="The API server refuses it otherwise. Defaults of a default's own fields are not filled in before it is "
    "checked: an object with a required field can't default to {}.",
    check=check,
    good=(
        spec("size: {type: integer, minimum: 1, default: 1, description: Defaults to 1.}"),
        spec("storage: {type: object, default: {}, properties: {size: {type: string, maxLength: 9}}}"),
    ),
    bad=(
        spec("size: {type: integer, default: one}"),
        spec("size: {type: integer, minimum: 1, default: 0}"),
        spec("mode: {type: string, enum: [Fast, Safe], default: fast}"),
        spec("name: {type: string, pattern: '^[a-z]+$', default: A}"),
        spec("storage: {type: object, default: {class: fast}, properties: {size: {type: string}}}"),
        spec("storage: {type: object, default: {}, required: [size], properties: {size: {type: string}}}"),
        crd("metadata: {type: object, properties: {name: {type: string, default: main}}}"),
    ),
    good_class=widget(
        '''
        size: Annotated[int32, Ge(1)] = 1
        """Number of parts; 1 if unset."""
        '''
    ),
)
