"""SE03: secrets are in Secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECRETS = frozenset({"password", "passwd", "passphrase", "token"})
_KEYS = frozenset({("api", "key"), ("private", "key"), ("secret", "key"), ("client", "secret")})
_ELSEWHERE = re.compile(
    r"\b(names? of|key (of|in|within)|path|file|references?|refers to|secret's|mounted|public)\b", re.IGNORECASE
)


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings in spec that hold a password, a token or a key, and not the place of one."""
    for node in version.own("spec"):
        if node.type == "string" and node.name and _is_secret(node) and not _points_elsewhere(node):
            yield Hit(node.path, f"{node.field} holds a secret: take a reference to a key of a Secret", node.field)


def _is_secret(node: Node) -> bool:
    spelt = words(node.name)
    return spelt[-1] in _SECRETS or spelt[-2:] in _KEYS or spelt[-3:] == ("secret", "access", "key")


def _points_elsewhere(node: Node) -> bool:
    """Whether the field is a part of a reference, beside the Secret's name perhaps, or is described as a place."""
    above = node.parent
    if above is not None and (
        not {"ref", "selector"}.isdisjoint(words(above.name)) or "secretName" in above.properties
    ):
        return True
    return _ELSEWHERE.search(text(node.schema.get("description"))) is not None


RULE = Rule(
    id="SE03",
    name="secret-inline",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="Passwords, tokens and keys are references to Secrets, not texts in the spec.",
    why="Who may read the object reads the secret; it is in Git, in the last-applied annotation, in audit logs, and "
    "not encrypted in etcd.",
    check=check,
    good=(
        spec(
            "passwordSecretRef: {type: object, x-kubernetes-map-type: atomic, required: [key], properties: "
            "{name: {type: string}, key: {type: string}, optional: {type: boolean}}}"
        ),
        spec("password: {type: string, description: Name of the Secret with the password.}"),
    ),
    bad=(spec("adminPassword: {type: string}"), spec("apiKey: {type: string, maxLength: 64}")),
    good_class=widget(
        '''
        password_secret: Annotated[str, MaxLen(253)]
        """Name of the Secret with the password."""
        '''
    ),
    bad_class=widget(
        '''
        password: Annotated[str, MaxLen(64)]
        """Password of the administrator."""
        '''
    ),
)
