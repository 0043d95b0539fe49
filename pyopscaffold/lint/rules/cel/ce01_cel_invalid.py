"""CE01: CEL rules are well-formed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyopscaffold.cel import SyntaxFault, parse
from pyopscaffold.kube.values import listing, text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.fieldpath import BadPath, resolve
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES = "x-kubernetes-validations"
_REASONS = ("FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
_LINE_END = re.compile("[\n\r]")


def check(version: Version) -> Iterator[Hit]:
    """Report what the server refuses without knowing types."""
    for node in version.nodes:
        rules = listing(node.schema.get(_RULES))
        if rules and not _is_seen(node):
            message = f"{node.field} has rules, but no type down to its items and values, so CEL does not see it"
            yield Hit((*node.path, _RULES), message, node.field)
        for index, rule in enumerate(rules):
            if isinstance(rule, dict):
                yield from _texts(node, index, rule)
                yield from _reason_and_path(node, index, rule)
            elif rule is None:
                yield _hit(node, index, "rule", "is empty")


def _is_seen(node: Node) -> bool:
    """Whether CEL is shown the value: it has a type, and so have what a list or a map holds."""
    inner = {"array": node.items, "object": node.values}.get(node.type)
    if inner is not None:
        return _is_seen(inner)
    return bool(node.type) or node.schema.get("x-kubernetes-int-or-string") is True


def _texts(node: Node, index: int, rule: dict[str, Any]) -> Iterator[Hit]:
    expression, message, computed = (text(rule.get(key)) for key in ("rule", "message", "messageExpression"))
    if not expression.strip():
        yield _hit(node, index, "rule", "is empty")
    elif fault := _syntax(expression):
        yield _hit(node, index, "rule", f"is no CEL: {fault}")
    if message and not message.strip():
        yield _hit(node, index, "message", "is blank")
    elif _LINE_END.search(message.strip()):
        yield _hit(node, index, "message", "has line breaks")
    elif not message and _LINE_END.search(expression.strip()):
        yield _hit(node, index, "message", "is missing, where the rule has line breaks")
    if computed and not computed.strip():
        yield _hit(node, index, "messageExpression", "is blank")
    elif computed and (fault := _syntax(computed)):
        yield _hit(node, index, "messageExpression", f"is no CEL: {fault}")


def _syntax(expression: str) -> str:
    try:
        parse(expression)
    except SyntaxFault as fault:
        return str(fault)
    return ""


def _reason_and_path(node: Node, index: int, rule: dict[str, Any]) -> Iterator[Hit]:
    reason, path = rule.get("reason"), text(rule.get("fieldPath"))
    if isinstance(reason, str) and reason not in _REASONS:
        yield _hit(node, index, "reason", f"is {reason!r}, not one of {', '.join(_REASONS)}")
    if not path:
        return
    if not path.strip():
        yield _hit(node, index, "fieldPath", "is blank")
        return
    if _LINE_END.search(path):
        yield _hit(node, index, "fieldPath", "has line breaks")
    try:
        resolve(path, node.schema)
    except BadPath as fault:
        yield _hit(node, index, "fieldPath", f"is {path!r}, which leads to no field: {fault}")


def _hit(node: Node, index: int, key: str, problem: str) -> Hit:
    where = node.field or "the root"
    return Hit((*node.path, _RULES, index, key), f"{key} of rule {index + 1} of {where} {problem}", node.field)


def _rule(rule: str) -> str:
    return spec(
        f"range: {{type: object, properties: {{low: {{type: integer}}, high: {{type: integer}}}}, {_RULES}: [{rule}]}}"
    )


_GOOD = "{rule: self.low <= self.high, message: low is at most high, fieldPath: .low, reason: FieldValueInvalid}"

RULE = Rule(
    id="CE01",
    name="cel-invalid",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="A CEL rule can be parsed and is of a value with a type, its message is one line, its reason is known and its "
    "fieldPath leads to a field.",
    why="The API server refuses it otherwise. A rule of several lines needs a message, since the rule itself would be "
    "shown instead.",
    check=check,
    good=(
        _rule(_GOOD),
        _rule(
            "{rule: self.low <= self.high, messageExpression: \"'low is ' + (self.low < 0 ? 'negative' : 'too high')\"}"
        ),
    ),
    bad=(
        _rule("{rule: 'self.low <='}"),
        spec(f"any: {{x-kubernetes-preserve-unknown-fields: true, {_RULES}: [{{rule: self != null}}]}}"),
        _rule("{rule: ' ', message: Empty.}"),
        _rule("{message: None.}"),
        _rule('{rule: "self.low <=\\nself.high"}'),
        _rule('{rule: self.low <= self.high, message: "low\\nhigh"}'),
        _rule("{rule: self.low <= self.high, message: ' '}"),
        _rule('{rule: self.low <= self.high, messageExpression: "\'at most"}'),
        _rule("{rule: self.low <= self.high, messageExpression: ' '}"),
        _rule("{rule: self.low <= self.high, reason: Invalid}"),
        _rule("{rule: self.low <= self.high, fieldPath: low}"),
        _rule("{rule: self.low <= self.high, fieldPath: .middle}"),
    ),
    good_class=widget(
        '''
        size: Annotated[int32, CEL("self % 2 == 1", message="must be odd")] = 1
        """Number of parts; 1 if unset."""
        '''
    ),
)
