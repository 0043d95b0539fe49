"""SE04: references stay in the namespace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFERENCES = frozenset({"ref", "refs", "reference", "references"})
_GRANTED = re.compile(r"grant|permit|explicitly|allowed", re.IGNORECASE)


def check(version: Version) -> Iterator[Hit]:
    """Report references of a namespaced kind that have a namespace, unless a description says who allows it."""
    if version.crd.spec.get("scope") != "Namespaced":
        return
    for node in version.own("spec"):
        if last_word(node.holder.name) not in _REFERENCES:
            continue
        if {"name", "namespace"} <= node.properties.keys() and not _is_granted(node):
            message = f"{node.field} reaches into other namespaces: does the object's author have rights there?"
            yield Hit((*node.path, "properties", "namespace"), message, node.field)


def _is_granted(node: Node) -> bool:
    nodes = (node.holder, node, node.property("namespace"))
    return any(_GRANTED.search(text(place.schema.get("description"))) for place in nodes if place)


RULE = Rule(
    id="SE04",
    name="cross-namespace-ref",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="References of a namespaced kind have no namespace.",
    why="The controller reads with its own rights what the object's author may not read: who may create the object in "
    "one namespace gets at Secrets of all. Where it is wanted, the other namespace should have to grant it.",
    check=check,
    good=(
        spec("secretRef: {type: object, properties: {name: {type: string}}}"),
        spec("secretRef: {type: object, properties: {name: {type: string}, namespace: {type: string}}}").replace(
            "scope: Namespaced", "scope: Cluster"
        ),
        spec(
            "secretRef: {type: object, description: Needs a ReferenceGrant in another namespace., "
            "properties: {name: {type: string}, namespace: {type: string}}}"
        ),
    ),
    bad=(spec("secretRef: {type: object, properties: {name: {type: string}, namespace: {type: string}}}"),),
    good_class=widget(
        '''
        secret_ref: SecretRef
        """Secret with the password."""
        ''',
        before=struct("SecretRef", "name: str"),
    ),
    bad_class=widget(
        '''
        secret_ref: SecretRef
        """Secret with the password."""
        ''',
        before=struct("SecretRef", "name: str", 'namespace: str = ""'),
    ),
)
