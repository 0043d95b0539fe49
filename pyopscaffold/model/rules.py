"""CEL rules as they stand in a schema, and what is wrong with those of an author.

Expressions are parsed here, when there are any; their types and costs are the API server's to judge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from pyopscaffold.api.markers import CEL, AtLeastOneOf, AtMostOneOf, ExactlyOneOf, Immutable, Reason
from pyopscaffold.kube.celnames import escape_field
from pyopscaffold.kube.names import camel_case, nearest
from pyopscaffold.schema import UNSET, Rule, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.cel import Expression

UNCHANGED = Rule(rule="self == oldSelf", message="field is immutable")

_REASONS = get_args(Reason)
_SHOWN = 60
_MATCHING = {"matches", "find", "findAll"}
"""Functions whose argument is a regular expression; of a constant one, the API server reads it with the rule."""
_BREAK = re.compile("[\r\n]")
_STEP = re.compile(r"\.(\w+)|\['([^']+)'\]")


def kept(json_name: str) -> Rule:
    """Return the rule, for the object around it, that an optional immutable field stays once it is set."""
    name = escape_field(json_name)
    return Rule(rule=f"!has(oldSelf.{name}) || has(self.{name})", message=f"field {json_name} is immutable once set")


def rule_of(marker: CEL) -> Rule:
    """Return the rule that a marker asks for."""
    return Rule(
        rule=marker.rule,
        message=marker.message,
        message_expression=marker.message_expression,
        reason=marker.reason,
        field_path=marker.field_path,
        optional_old_self=marker.optional_old_self,
    )


def is_spelled(json_name: str) -> bool:
    """Whether CEL has a spelling for a field's name at all; ``$ref`` has none."""
    return re.fullmatch("[a-zA-Z_][a-zA-Z0-9_./-]*", json_name) is not None


def is_opaque(schema: Schema) -> bool:
    """Whether no rule can look into a value: nothing says of which type it, its items or its values are.

    Source: k8s.io/apiserver/pkg/cel/common, SchemaDeclType.
    """
    inner = schema.items or schema.additional_properties
    return not schema.int_or_string and (not schema.type or (inner is not None and is_opaque(inner)))


def opaque(_marker: Any, schema: Schema) -> str | None:
    """Return what is wrong with a rule on such a value, None if nothing."""
    return (
        "no rule can look into what has no schema; write a type for the items or values" if is_opaque(schema) else None
    )


def choice(marker: AtMostOneOf | ExactlyOneOf | AtLeastOneOf) -> Rule:
    """Return the rule of a choice between fields, which are JSON names by now; words and form are controller-gen's."""
    names = [escape_field(name) for name in marker.fields]
    listed = f"of the fields in [{' '.join(marker.fields)}]"
    count = "+".join(f"(has(self.{name})?1:0)" for name in names)
    match marker:
        case AtMostOneOf():
            return Rule(rule=f"{count} <= 1", message=f"at most one {listed} may be set")
        case ExactlyOneOf():
            return Rule(rule=f"{count} == 1", message=f"exactly one {listed} must be set")
        case AtLeastOneOf():
            any_of = "||".join(f"has(self.{name})" for name in names)
            return Rule(rule=any_of, message=f"at least one {listed} must be set")


def bad_choice(marker: AtMostOneOf | ExactlyOneOf | AtLeastOneOf, schema: Schema) -> str | None:
    """Return what is wrong with a choice, None if nothing: each of its fields can be set or not."""
    said = {AtMostOneOf: "at_most_one_of", ExactlyOneOf: "exactly_one_of", AtLeastOneOf: "at_least_one_of"}[
        type(marker)
    ]
    if len(set(marker.fields)) < len(marker.fields) or not marker.fields:
        return f'{said} is to name each field once; write {said}("a", "b")'
    for name in marker.fields:
        if name in schema.required:
            return f"{name} is required, which leaves {said} no choice; give it = None"
        if name in schema.properties and schema.properties[name].default is not UNSET:
            return f"{name} has a default, which leaves {said} no choice; write = None"
        if name in schema.properties and (is_opaque(schema.properties[name]) or not is_spelled(name)):
            return f"{said} is a rule, and none can look into {name}; give it a type and a name in letters"
    return None


def compares(marker: Any) -> bool:
    """Whether a marker puts a transition rule into the schema, one that reads the old value."""
    return isinstance(marker, Immutable) or (isinstance(marker, CEL) and _reads_old(marker.rule))


def _reads_old(rule: str) -> bool:
    """Whether a rule has the variable oldSelf, or one of that name: the API server makes no difference."""
    from pyopscaffold import cel  # noqa: PLC0415 - most projects have no rules

    try:
        return "oldSelf" in (name.lstrip(".") for name in cel.variables(cel.parse(rule)))
    except cel.SyntaxFault:
        return False


def misuse(marker: CEL, schema: Schema) -> str | None:
    """Return what the API server would find wrong around a rule's expression, None if nothing."""
    for name in ("rule", "message", "message_expression", "field_path"):
        value = getattr(marker, name)
        if not isinstance(value, str) or (value and not value.strip()):
            return f"{name} of CEL is {value!r}, no text; write one in quotes"
    given: object = marker.optional_old_self
    if not isinstance(given, bool | None):
        return f"optional_old_self of CEL is {given!r}; write True, or leave it out"
    return (
        opaque(marker, schema)
        or _unparsable(marker)
        or next(_misuses(marker), None)
        or _bad_path(marker.field_path, schema)
    )


def _unparsable(marker: CEL) -> str | None:
    from pyopscaffold import cel  # noqa: PLC0415 - as above

    for name in ("rule", "message_expression"):
        text = getattr(marker, name)
        try:
            bad = text and bad_pattern(cel.parse(text))
        except cel.SyntaxFault as fault:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            return f"{name} of CEL does not parse, {shown!r}: {fault}"
        if bad:
            return f"{name} of CEL has {bad}"
    return None


def bad_pattern(expression: Expression) -> str | None:
    """Return what is wrong with the first pattern in an expression that the API server can't read, None if nothing."""
    from pyopscaffold import cel  # noqa: PLC0415 - as above
    from pyopscaffold.schema import regex  # noqa: PLC0415

    for node in cel.walk(expression):
        if not isinstance(node, cel.Call) or node.function not in _MATCHING:
            continue
        for argument in node.arguments[0 if node.target else 1 :][:1]:
            if not isinstance(argument, cel.Constant) or not isinstance(argument.value, str):
                continue
            try:
                regex.parse(argument.value)
            except regex.BadPattern as fault:
                what = f"the pattern {argument.value!r} in {node.function}, at {argument.position}"
                return f"{what}, which is no regular expression to the API server: {fault}"
    return None


def _misuses(marker: CEL) -> Iterator[str]:
    if not marker.rule:
        yield 'CEL("") says nothing; write an expression such as CEL("self.size() > 0")'
    if marker.reason and marker.reason not in _REASONS:
        yield f"CEL has no reason {marker.reason!r}; write {', '.join(_REASONS[:-1])} or {_REASONS[-1]}"
    if _BREAK.search(marker.message.strip()):
        yield "the message of a CEL rule is one line; write it in one"
    if _BREAK.search(marker.rule.strip()) and not marker.message:
        yield 'a CEL rule of several lines has no message; write message="..."'
    if marker.optional_old_self is not None and not _reads_old(marker.rule):
        yield "optional_old_self is for rules that read oldSelf; leave it out"


def _bad_path(path: str, schema: Schema) -> str | None:
    """Return what is wrong with the path of a field below a value, None if nothing."""
    node, rest = schema, path
    while rest:
        step: Any = _STEP.match(rest)
        if step is None:
            return f"the field_path {path!r} is no JSON path; write one such as .podCount or .limits['cpu']"
        name, key, rest = step[1], step[2], rest[step.end() :]
        child = node.properties.get(name or key, node.additional_properties if key else None)
        if child is None:
            near = nearest(camel_case(name or key), node.properties)
            hint = f"write .{near}" if near else f"there are {', '.join(sorted(node.properties))}"
            return f"the field_path {path!r} names no field; {hint if node.properties else 'leave it out'}"
        node = child
    return None
