"""What a role grants against what was asked of the server: permissions unused, requests refused, the least role.

A request may take more permissions than its own verb, for some are checked only when the server looks at the object:

- an apply or update that makes a new object takes ``create`` too; its answer is 201;
- a write whose owner references set blockOwnerDeletion takes ``update`` on the owner's ``finalizers``, and one that
  puts an owner reference on an object that was there takes ``delete`` on it. Both are checks of the admission plugin
  OwnerReferencesPermissionEnforcement, and neither is a request of its own. Whether the object had the reference
  before is not in the audit log, so that every apply with owners counts for both.

Matching: https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyopscaffold.generate.rbac import PolicyRule, normalise
from pyopscaffold.kube.gvk import GroupVersionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.testing.audit import AuditRecord

    Plurals = Mapping[tuple[str, str], str]

EVERYBODY = (
    PolicyRule(urls=("/healthz", "/livez", "/readyz", "/version", "/version/"), verbs=("get",)),
    PolicyRule(urls=("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"), verbs=("get",)),
    PolicyRule(
        groups=("authorization.k8s.io",),
        resources=("selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        verbs=("create",),
    ),
    PolicyRule(groups=("authentication.k8s.io",), resources=("selfsubjectreviews",), verbs=("create",)),
)
"""What Kubernetes lets every account do: the roles system:discovery, system:basic-user, system:public-info-viewer."""

EVENTS = (PolicyRule(groups=("events.k8s.io",), resources=("events",), verbs=("create", "patch")),)
"""What the runtime needs to report a failure, in whatever tests do not make it fail (twice, for ``patch``)."""

_FORBIDDEN = 403


@dataclass(frozen=True, order=True, kw_only=True)
class Permission:
    """One verb on one resource (``statefulsets/status``) or URL; ``name`` of the object, where it matters."""

    group: str = ""
    resource: str = ""
    name: str = ""
    url: str = ""
    verb: str

    def __str__(self) -> str:
        if self.url:
            return f"{self.verb} {self.url}"
        resource, slash, subresource = self.resource.partition("/")
        group = f".{self.group}" if self.group else ""
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{group}{slash}{subresource}{name}"

    def covers(self, need: Permission) -> bool:
        """Whether a role that grants this grants the need, wildcards and all."""
        if self.verb not in ("*", need.verb) or bool(self.url) != bool(need.url):
            return False
        if self.url:
            return self.url == need.url or (self.url.endswith("*") and need.url.startswith(self.url[:-1]))
        _, slash, subresource = need.resource.partition("/")
        return (
            self.group in ("*", need.group)
            and self.resource in ("*", need.resource, f"*{slash}{subresource}")
            and self.name in ("", need.name)
        )

    def rule(self) -> PolicyRule:
        """Return the rule that grants just this."""
        if self.url:
            return PolicyRule(urls=(self.url,), verbs=(self.verb,))
        names = (self.name,) if self.name else ()
        return PolicyRule(groups=(self.group,), resources=(self.resource,), names=names, verbs=(self.verb,))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """``unused`` of what is granted, ``refused`` with how many times, and the ``least`` role that would have done."""

    unused: tuple[Permission, ...]
    refused: Mapping[Permission, int]
    least: tuple[PolicyRule, ...]

    @property
    def exact(self) -> bool:
        """Whether nothing was refused, and nothing is unused."""
        return not self.unused and not self.refused


def permissions(rules: Iterable[PolicyRule]) -> tuple[Permission, ...]:
    """Take rules apart."""
    found: set[Permission] = set()
    for rule in rules:
        found.update(Permission(url=url, verb=verb) for url, verb in product(rule.urls, rule.verbs))
        parts = product(rule.groups, rule.resources, rule.names or ("",), rule.verbs)
        found.update(Permission(group=g, resource=r, name=name, verb=verb) for g, r, name, verb in parts)
    return tuple(sorted(found))


def compare(
    granted: Iterable[PolicyRule],
    records: Iterable[AuditRecord],
    *,
    plurals: Plurals | None = None,
    elsewhere: Iterable[PolicyRule] = (),
    standing: Iterable[PolicyRule] = (),
) -> Comparison:
    """Hold the rules of a role against the requests of its account.

    ``plurals`` gives the resource of an owner's (group, kind), the English plural by default. What ``elsewhere`` grants
    is another role's affair. ``standing`` permissions may be granted without use. A wildcard is wider than any
    requests, and so never counts as used.
    """
    role, others, kept = permissions(granted), permissions(elsewhere), permissions(standing)
    needs: set[Permission] = set()
    refused: Counter[Permission] = Counter()
    for record in records:
        asked = [need for need in needed(record, plurals or {}) if not _any_covers(others, need)]
        needs.update(asked)
        if record.code == _FORBIDDEN:
            lacking = [_as_granted(need, role) for need in asked if not _any_covers(role, need)]
            # RBAC allowed it, and nothing lacks: a quota or a policy has refused it.
            refused.update(lacking or (asked[:1] if record.decision != "allow" else ()))
    unused = [one for one in role if not _any_covers(kept, one) and not _is_used(one, needs)]
    standing_here = [one for one in role if _any_covers(kept, one)]
    wanted = {_as_granted(need, role) for need in needs}
    # one of them was granted by name, another not at all: the rule for all names then has the named one in it
    doubled = {one for one in wanted if one.name and replace(one, name="") in wanted}
    least = [*(wanted - doubled), *standing_here]
    return Comparison(
        unused=tuple(unused),
        refused=dict(sorted(refused.items())),
        least=normalise(one.rule() for one in least),
    )


def needed(record: AuditRecord, plurals: Plurals) -> Iterator[Permission]:
    """Yield what a request takes, the verb that RBAC checks first; a watch, recorded twice, gives it twice."""
    if not record.resource:
        yield Permission(url=urlsplit(record.uri).path, verb=record.verb)
        return
    resource = "/".join(filter(None, (record.resource, record.subresource)))
    name = "" if record.verb == "create" else record.name  # RBAC does not know the name in a body
    yield Permission(group=record.group, resource=resource, name=name, verb=record.verb)
    if record.verb not in ("create", "update", "patch") or record.subresource:
        return
    if record.verb != "create":
        yield from _on_write(record, name)
    for owner in record.owners:
        if owner.blocking:
            kind = (owner.group, owner.kind)
            plural = plurals.get(kind) or GroupVersionKind(owner.group, "", owner.kind).plural
            yield Permission(group=owner.group, resource=f"{plural}/finalizers", name=owner.name, verb="update")


def _on_write(record: AuditRecord, name: str) -> Iterator[Permission]:
    """Yield what a write takes that finds no such object, or finds one without its owner."""
    # Refused though RBAC allowed the verb itself: the object may be one that is not there yet.
    if record.code == 201 or (record.code == _FORBIDDEN and record.decision == "allow"):  # noqa: PLR2004 - Created
        yield Permission(group=record.group, resource=record.resource, name=name, verb="create")
    if record.owners:
        yield Permission(group=record.group, resource=record.resource, name=name, verb="delete")


def _any_covers(granted: Iterable[Permission], need: Permission) -> bool:
    return any(one.covers(need) for one in granted)


def _is_used(one: Permission, needs: Iterable[Permission]) -> bool:
    wild = "*" in one.verb + one.group + one.resource
    return not wild and any(one.covers(need) for need in needs)


def _as_granted(need: Permission, role: Iterable[Permission]) -> Permission:
    """Return the need with its name where the role grants it by name only, and else without."""
    nameless = Permission(group=need.group, resource=need.resource, url=need.url, verb=need.verb)
    by_name = not _any_covers(role, nameless) and _any_covers(role, need)
    return need if by_name else nameless
