"""VA03: names of Kubernetes objects are checked as the API server checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.names import DNS1123_LABEL, DNS1123_SUBDOMAIN
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABELS = frozenset({"namespace", "service"})
"""Kinds whose names are DNS-1123 labels, of at most 63 characters."""
_SUBDOMAINS = frozenset(
    {
        *("secret", "map", "account", "pod", "node", "ingress", "deployment", "job", "claim", "pvc", "set", "cluster"),
        *("class", "gateway", "issuer"),
    }
)


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings in spec that name a Kubernetes object and take any text."""
    for node in version.own("spec"):
        embedded = node.parent is not None and node.parent.name == "metadata"
        if node.type != "string" or not node.name or embedded or node.is_checked:
            continue
        kind = _named_kind(node)
        if kind:
            longest, name = (63, DNS1123_LABEL) if kind in _LABELS else (253, DNS1123_SUBDOMAIN)
            given = node.schema.get("maxLength")
            bounds = {"maxLength": min(longest, given) if isinstance(given, int) else longest, "pattern": f"^{name}$"}
            message = f"{node.field} names a Kubernetes object, and may be no name at all: give it a DNS-1123 pattern"
            yield Hit(node.path, message, node.field, fix=Fix(with_keywords(node, **bounds), safe=False))


def _named_kind(node: Node) -> str:
    """Give the last word of the kind that a field names: ``secret`` of secretName, tlsSecretName and secretRef.name."""
    spelt = words(node.name)
    if spelt[-1] == "namespace":
        return "namespace"
    if spelt == ("name",) and node.parent is not None and words(node.parent.name)[-1] == "ref":
        spelt = (*words(node.parent.name)[:-1], "name")
    kind = spelt[-2] if len(spelt) > 1 and spelt[-1] == "name" else ""
    return kind if kind in _LABELS | _SUBDOMAINS else ""


RULE = Rule(
    id="VA03",
    name="name-dns1123",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A field that names a Kubernetes object, such as secretName or namespace, has a DNS-1123 pattern.",
    why="A name that no object can have is found when the controller looks for it, and then reads as 'not found'.",
    check=check,
    good=(
        spec(f"secretName: {{type: string, maxLength: 253, pattern: '^{DNS1123_SUBDOMAIN}$'}}"),
        spec("displayName: {type: string, maxLength: 63}"),
    ),
    bad=(
        spec("secretName: {type: string, maxLength: 253}"),
        spec("targetNamespace: {type: string}"),
        spec("secretRef: {type: object, properties: {name: {type: string, minLength: 1}}}"),
    ),
    good_class=widget(
        f'''
        secret_name: Annotated[
            str, Pattern(r"^{DNS1123_SUBDOMAIN}$"), MaxLen(253)
        ]
        """Secret with the password."""
        '''
    ),
    bad_class=widget(
        '''
        secret_name: Annotated[str, MaxLen(253)]
        """Secret with the password."""
        '''
    ),
)
