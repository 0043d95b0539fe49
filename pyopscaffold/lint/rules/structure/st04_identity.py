"""ST04: name, group, names, scope and version flags are what the API server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyopscaffold.kube.names import is_dns1035_label, is_dns1123_subdomain
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd, listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_APPROVAL = "api-approved.kubernetes.io"
_MIXED_CASE = ("kind", "listKind")
_PROTECTED = ("k8s.io", "kubernetes.io")


def check(crd: Crd) -> Iterator[Hit]:
    """Report what is wrong with how the CRD names itself."""
    yield from _group(crd)
    yield from _names(crd)
    yield from _scope(crd)
    yield from _versions(crd)


def _group(crd: Crd) -> Iterator[Hit]:
    group, path = text(crd.spec.get("group")), ("spec", "group")
    if not group:
        yield Hit(path, "spec.group is missing")
    elif not is_dns1123_subdomain(group):
        yield Hit(path, f"group {group!r} is no DNS-1123 subdomain (lower-case letters, digits, '-' and '.')")
    elif "." not in group:
        yield Hit(path, f"group {group!r} has no dot: it must be a domain such as {group}.example.com")
    elif group.endswith(tuple(f".{domain}" for domain in _PROTECTED)) or group in _PROTECTED:
        annotations = mapping(mapping(crd.manifest.data.get("metadata")).get("annotations"))
        if not _is_approval(text(annotations.get(_APPROVAL))):
            yield Hit(
                path, f"group {group!r} belongs to the Kubernetes project: annotation {_APPROVAL} must approve it"
            )
    plural = text(mapping(crd.spec.get("names")).get("plural"))
    if group and plural and crd.name != f"{plural}.{group}":
        yield Hit(("metadata", "name"), f"name is {crd.name!r}, but must be {f'{plural}.{group}'!r}: plural.group")


def _is_approval(value: str) -> bool:
    if value.startswith("unapproved"):
        return True
    try:
        url = urlsplit(value)
    except ValueError:
        return False
    return bool(url.scheme and url.netloc)


def _names(crd: Crd) -> Iterator[Hit]:
    names, path = mapping(crd.spec.get("names")), ("spec", "names")
    for key in ("plural", "kind"):
        if not text(names.get(key)):
            yield Hit((*path, key), f"spec.names.{key} is missing")
    labels: list[tuple[tuple[str | int, ...], Any]]
    labels = [((key,), names.get(key)) for key in ("plural", "singular", "kind", "listKind")]
    for key in ("shortNames", "categories"):
        labels += [((key, index), name) for index, name in enumerate(listing(names.get(key)))]
    for where, value in labels:
        folded = text(value).lower() if where[0] in _MIXED_CASE else text(value)
        if value and not is_dns1035_label(folded):
            yield Hit(
                (*path, *where), f"{where[0]} {value!r} is no DNS-1035 label (letters, digits and '-', a letter first)"
            )
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield Hit((*path, "listKind"), f"listKind is the kind, {names['kind']!r}; usual is {names['kind']}List")


def _scope(crd: Crd) -> Iterator[Hit]:
    scope = crd.spec.get("scope")
    if scope is None:
        yield Hit(("spec",), "spec.scope is missing: Namespaced or Cluster")
    elif scope not in ("Namespaced", "Cluster"):
        yield Hit(("spec", "scope"), f"scope {scope!r} is neither Namespaced nor Cluster")


def _versions(crd: Crd) -> Iterator[Hit]:
    seen: set[str] = set()
    for version in crd.versions:
        if not is_dns1035_label(version.name):
            yield Hit((*version.path, "name"), f"version name {version.name!r} is no DNS-1035 label such as v1")
        elif version.name in seen:
            yield Hit((*version.path, "name"), f"version {version.name} is listed twice")
        seen.add(version.name)
    stored = [version for version in crd.versions if version.data.get("storage") is True]
    if len(stored) != 1:
        names = ", ".join(version.name for version in stored) or "none"
        place = (*stored[1].path, "storage") if stored else ("spec", "versions")
        yield Hit(
            place,
            f"exactly one version must have storage: true, but {names} has"
            if not stored
            else f"exactly one version must have storage: true, but {names} have",
        )


_GOOD = crd("spec: {type: object}")

RULE = Rule(
    id="ST04",
    name="identity",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Crd,
    what="The CRD is named plural.group, its names are DNS labels, and exactly one version is stored.",
    why="The API server refuses it otherwise: names become parts of URLs, and objects are stored in one form.",
    check=check,
    good=(
        _GOOD,
        _GOOD.replace("example.com", "example.k8s.io").replace(
            "metadata:", "metadata:\n  annotations: {api-approved.kubernetes.io: 'unapproved, an example'}"
        ),
    ),
    bad=(
        _GOOD.replace("name: widgets.example.com", "name: widget.example.com"),
        _GOOD.replace("example.com", "example"),
        _GOOD.replace("example.com", "Example.com"),
        _GOOD.replace("example.com", "example.k8s.io"),
        _GOOD.replace("kind: Widget", "kind: Widget_"),
        _GOOD.replace("kind: Widget", "kind: Widget\n    listKind: Widget"),
        _GOOD.replace("scope: Namespaced", "scope: namespaced"),
        _GOOD.replace("storage: true", "storage: false"),
        _GOOD.replace("name: v1\n", "name: V1\n"),
    ),
)
