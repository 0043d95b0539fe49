"""What can be wrong with the permissions that ``@rbac`` asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.names import is_dns1123_label, is_dns1123_subdomain, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.api.declarations import RbacRule

_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
_ALIKE = 0.8
_RESOURCE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[\w.-]+)*")


def problems(rule: RbacRule) -> Iterator[str]:
    """Yield what is wrong with a permission: it says nothing, too much, or what nobody asks for."""
    if not rule.verbs:
        yield 'it names no verb; write verbs=["get", "list", "watch"] or the like'
    if bool(rule.resources) == bool(rule.urls):
        yield "it takes either resources= or urls="
    if rule.resources and not rule.groups:
        yield 'it names no group; write groups=["apps"] or the like, groups=[""] for the core group'
    if rule.urls and (rule.groups or rule.resource_names or rule.namespace):
        yield "urls= stands alone: they have no group, name or namespace"
    for what in ("groups", "resources", "verbs", "resource_names"):
        if any("*" in value for value in getattr(rule, what)):
            yield f"{what} has *, which grants what nobody has thought of; name each one"
    yield from _names(rule)
    if "create" in rule.verbs and rule.resource_names:
        yield "create can't be limited by resource_names: the server does not know the name yet; split the rule"


def _names(rule: RbacRule) -> Iterator[str]:
    for verb in rule.verbs:
        if verb not in _VERBS and verb.lower() in _VERBS:
            yield f'verb "{verb}" is none; write {verb.lower()}'
    for name in rule.resources:
        if "*" not in name and not _RESOURCE.fullmatch(name):
            yield f'resource "{name}" is none; write the plural in lower case, as in deployments or deployments/scale'
    for url in rule.urls:
        if not url.startswith(("/", "*")):
            yield f'the path "{url}" starts with no slash; write /{url}'
    if rule.namespace and not is_dns1123_label(rule.namespace):
        yield f'namespace "{rule.namespace}" is not in lower-case letters, digits and dashes'
    if rule.role_name and not is_dns1123_subdomain(rule.role_name):
        yield f'role_name "{rule.role_name}" is not in lower-case letters, digits and dashes'


def warnings(rule: RbacRule) -> Iterator[str]:
    """Yield what is worth a second look."""
    for verb in sorted({"bind", "escalate", "impersonate"}.intersection(rule.verbs)):
        yield f"{verb} lets the operator become more than its own role says"
    for verb in sorted(set(rule.verbs).difference(_VERBS)):
        if near := nearest(verb, _VERBS, cutoff=_ALIKE):
            yield f"no request has the verb {verb}; did you mean {near}?"
    secrets = "secrets" in rule.resources and not rule.namespace and not rule.resource_names
    if secrets and {"list", "watch"}.intersection(rule.verbs):
        yield "it reads every Secret that the role reaches; limit it by namespace= or resource_names= where you can"
