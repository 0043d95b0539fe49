"""ST04: name, group, names, scope, versions and conversion are what the API server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_approval, is_dns1035_label, is_dns1123_subdomain, is_reserved_group
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint import conversion, objectmeta, shape
from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path

_APPROVAL = "api-approved.kubernetes.io"
_MIXED_CASE = ("kind", "listKind")
_LONGEST_WARNING = 256
_CASES = {"namespaced": "Namespaced", "cluster": "Cluster"}


def check(crd: Crd) -> Iterator[Hit]:
    """Report what is wrong with the CRD outside of its schemas, columns and subresources."""
    for fault in shape.faults(crd.manifest.data, shape.MANIFEST):
        yield Hit(fault.path, f"{_at(fault.path)}: {fault.message}")
    for path, message in objectmeta.problems(mapping(crd.manifest.data.get("metadata"))):
        yield Hit(("metadata", *path), message)
    yield from _group(crd)
    yield from _approval(crd)
    yield from _names(crd)
    yield from _scope(crd)
    yield from _versions(crd)
    yield from conversion.check(crd)
    if crd.spec.get("preserveUnknownFields") is True:
        path = ("spec", "preserveUnknownFields")
        yield Hit(path, "preserveUnknownFields can't be true: write x-kubernetes-preserve-unknown-fields in the schema")


def _at(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _group(crd: Crd) -> Iterator[Hit]:
    group, path = text(crd.spec.get("group")), ("spec", "group")
    if not group:
        yield Hit(path, "spec.group is missing")
    elif not is_dns1123_subdomain(group):
        yield Hit(path, f"group {group!r} is no DNS-1123 subdomain (lower-case letters, digits, '-' and '.')")
    elif "." not in group:
        yield Hit(path, f"group {group!r} has no dot: it must be a domain such as {group}.example.com")
    plural = text(mapping(crd.spec.get("names")).get("plural"))
    name = f"{plural}.{group}"
    if crd.name != name:
        fix = Fix((Edit(("metadata", "name"), name),)) if plural and group else None
        yield Hit(("metadata", "name"), f"name is {crd.name!r}, but must be {name!r}: plural.group", fix=fix)
    elif not is_dns1123_subdomain(name):
        yield Hit(("metadata", "name"), f"name {name!r} is no DNS-1123 subdomain of at most 253 characters")


def _approval(crd: Crd) -> Iterator[Hit]:
    group = text(crd.spec.get("group"))
    annotations = mapping(mapping(crd.manifest.data.get("metadata")).get("annotations"))
    if is_reserved_group(group) and not is_approval(text(annotations.get(_APPROVAL))):
        path = ("metadata", "annotations", _APPROVAL)
        yield Hit(path, f"group {group!r} belongs to the Kubernetes project: annotation {_APPROVAL} must approve it")


def _names(crd: Crd) -> Iterator[Hit]:
    names, path = mapping(crd.spec.get("names")), ("spec", "names")
    for key in ("plural", "kind"):
        if not text(names.get(key)):
            yield Hit((*path, key), f"spec.names.{key} is missing")
    for where, value in _labels(names):
        folded = value.lower() if where[0] in _MIXED_CASE else value
        if not is_dns1035_label(folded):
            problem = f"{where[0]} {value!r} is no DNS-1035 label (63 letters, digits and '-', a letter first)"
            yield Hit((*path, *where), problem)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        fix = Fix((Edit((*path, "listKind"), f"{names['kind']}List"),))
        message = f"listKind is the kind, {names['kind']!r}; usual is {names['kind']}List"
        yield Hit((*path, "listKind"), message, fix=fix)


def _labels(names: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for key in ("plural", "singular", "kind", "listKind"):
        if text(names.get(key)):
            yield (key,), names[key]
    kind = text(names.get("kind"))
    if not names.get("listKind") and is_dns1035_label(kind.lower()):
        yield ("listKind",), f"{kind}List"
    for key in ("shortNames", "categories"):
        for index, name in enumerate(listing(names.get(key))):
            if name is None or isinstance(name, str):
                yield (key, index), name or ""


def _scope(crd: Crd) -> Iterator[Hit]:
    scope, path = crd.spec.get("scope"), ("spec", "scope")
    if not scope:
        yield Hit(path, "spec.scope is missing: Namespaced or Cluster")
    elif scope not in ("Namespaced", "Cluster"):
        meant = _CASES.get(text(scope).lower())
        fix = Fix((Edit(path, meant),)) if meant else None
        yield Hit(path, f"scope {scope!r} is neither Namespaced nor Cluster", fix=fix)


def _versions(crd: Crd) -> Iterator[Hit]:
    seen: set[str] = set()
    for version in crd.versions:
        if not is_dns1035_label(version.name):
            yield Hit((*version.path, "name"), f"version name {version.name!r} is no DNS-1035 label such as v1")
        if version.name in seen:
            yield Hit((*version.path, "name"), f"version {version.name} is listed twice")
        seen.add(version.name)
        if problem := _problem_of_warning(version.data):
            yield Hit((*version.path, "deprecationWarning"), f"deprecationWarning of {version.name} {problem}")
    stored = [version for version in crd.versions if version.data.get("storage") is True]
    if len(stored) != 1:
        names = ", ".join(version.name for version in stored)
        place = (*stored[1].path, "storage") if stored else ("spec", "versions")
        have = f"{names} have" if stored else "none has"
        yield Hit(place, f"exactly one version must have storage: true, but {have}")


def _problem_of_warning(version: dict[str, Any]) -> str:
    warning = version.get("deprecationWarning")
    if not isinstance(warning, str):
        return ""
    if version.get("deprecated") is not True:
        return "stands at a version that is not deprecated"
    if not warning:
        return "is empty"
    if len(warning.encode()) > _LONGEST_WARNING:
        return f"has more than {_LONGEST_WARNING} bytes"
    return "" if warning.isprintable() else "has characters that can't be printed"


_GOOD = crd("spec: {type: object}")


def _converted(how: str) -> str:
    return _GOOD.replace("  scope:", f"  conversion: {{{how}}}\n  scope:")


RULE = Rule(
    id="ST04",
    name="identity",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Crd,
    what="The CRD is named plural.group, its names are DNS labels, exactly one version is stored, a conversion webhook "
    "can be called, and there are no other fields than a CRD has.",
    why="The API server refuses it otherwise: names become parts of URLs, and objects are stored in one form. kubectl "
    "has unknown fields refused; otherwise they are dropped.",
    check=check,
    good=(
        _GOOD,
        _GOOD.replace("example.com", "example.k8s.io").replace(
            "metadata:", "metadata:\n  annotations: {api-approved.kubernetes.io: 'unapproved, an example'}"
        ),
        _converted(
            "strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: shop, "
            "namespace: shop-system, path: /convert}}}"
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
        _GOOD.replace("    served: true\n", "    served: true\n    deprecationWarning: Use v2.\n"),
        _GOOD.replace("  scope:", "  preserveUnknownFields: true\n  scope:"),
        _converted("strategy: Webhook"),
        _converted("strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {}}"),
        _converted("strategy: Webhook, webhook: {conversionReviewVersions: [v2], clientConfig: {url: 'https://a.b'}}"),
        _converted("strategy: None, webhook: {conversionReviewVersions: [v1]}"),
        _GOOD.replace("    served: true\n", "    served: true\n    printerColumns: []\n"),
        _GOOD.replace("plural: widgets", "plural: widgets\n    shortNames: wd"),
    ),
    good_class=widget(),
)
