"""``@mutating_webhook`` and ``@validating_webhook``: which requests the API server asks the operator about.

The arguments are those of ``webhooks[]`` in admissionregistration.k8s.io/v1, in Python's spelling; controller-gen's
marker ``+kubebuilder:webhook`` is the reference for what they mean.
"""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pyopscaffold.api.arguments import choice, choices, refuse, several, single, undone
from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.api.resource import Object, declaration_of, was_refused
from pyopscaffold.kube import selector
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.names import is_dns1035_label, is_dns1123_label, is_dns1123_subdomain, is_qualified_name

if TYPE_CHECKING:
    from types import FrameType

Operation = Literal["create", "update", "delete", "connect", "*"]
FailurePolicy = Literal["fail", "ignore"]
MatchPolicy = Literal["exact", "equivalent"]
SideEffects = Literal["none", "none_on_dry_run"]
ReinvocationPolicy = Literal["never", "if_needed"]

SERVICE_NAME = "webhook-service"
SERVICE_NAMESPACE = "system"
"""The operator's own namespace in config/, which kustomize replaces by the real one."""


@dataclass(frozen=True, kw_only=True)
class WebhookDeclaration:
    """One webhook as declared, with every default worked out; ``""`` is the core group.

    Exactly one of ``path`` and ``url`` is set. The selectors are label selectors in text form.
    """

    mutating: bool
    name: str
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    operations: tuple[Operation, ...]
    path: str
    url: str
    failure_policy: FailurePolicy
    side_effects: SideEffects
    match_policy: MatchPolicy | None
    reinvocation_policy: ReinvocationPolicy | None
    timeout_seconds: int | None
    namespace_selector: str
    object_selector: str
    match_conditions: Mapping[str, str] = field(hash=False)
    service_name: str
    service_namespace: str
    service_port: int | None
    admission_review_versions: tuple[str, ...]
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class WebhookConfigurationNames:
    """What :func:`configure_webhooks` was told; "" where the usual name is meant."""

    mutating_name: str = ""
    validating_name: str = ""
    file: str = ""
    line: int = 0


_C = TypeVar("_C", bound=type)

_WEBHOOKS = "__pyopscaffold_webhooks__"
_declared: dict[str, type] = {}
_named: dict[str, WebhookConfigurationNames] = {}

_SEGMENTS = 3
_PORTS = range(1, 65536)
_SECONDS = range(1, 31)
_CONDITIONS = 64
_URL = re.compile(r"https://[^/@?#\s]+(/[^?#\s]*)?")


def mutating_webhook(
    kind: Kind,
    *,
    operations: Sequence[Operation] = ("create", "update"),
    groups: Sequence[str] = (),
    versions: Sequence[str] = (),
    resources: Sequence[str] = (),
    name: str = "",
    path: str = "",
    url: str = "",
    failure_policy: FailurePolicy = "fail",
    side_effects: SideEffects = "none",
    match_policy: MatchPolicy | None = None,
    reinvocation_policy: ReinvocationPolicy | None = None,
    timeout_seconds: int | None = None,
    namespace_selector: str = "",
    object_selector: str = "",
    match_conditions: Mapping[str, str] | None = None,
    service_name: str = SERVICE_NAME,
    service_namespace: str = SERVICE_NAMESPACE,
    service_port: int | None = None,
    admission_review_versions: Sequence[str] = ("v1",),
) -> Callable[[_C], _C]:
    """Declare the class below as a webhook that may change requests for a kind, before they are judged.

    ``groups``, ``versions`` and ``resources`` are those of ``kind`` unless they are given, as in
    ``resources=["pods", "pods/status"]``. ``name`` is a domain of three parts or more, ``m<kind>-<version>.kb.io`` by
    default; ``path`` is ``/mutate-<group>-<version>-<kind>``, in lower case with dashes, and a ``url`` stands in place
    of path and service. Selectors are label selectors such as ``"tier in (front, back)"``; ``match_conditions`` maps a
    condition's name to its CEL expression. What is None is left to the API server: a timeout of 10 seconds, the
    policies Equivalent and Never.

    Raises:
        DeclarationError: an argument is of a wrong type, or not what the API server takes.

    """
    # locals() are the arguments: naming twenty of them once more would only invite a slip.
    return _webhook(sys._getframe(1), {**locals(), "mutating": True})  # noqa: SLF001 - as in resource.py


def validating_webhook(
    kind: Kind,
    *,
    operations: Sequence[Operation] = ("create", "update"),
    groups: Sequence[str] = (),
    versions: Sequence[str] = (),
    resources: Sequence[str] = (),
    name: str = "",
    path: str = "",
    url: str = "",
    failure_policy: FailurePolicy = "fail",
    side_effects: SideEffects = "none",
    match_policy: MatchPolicy | None = None,
    timeout_seconds: int | None = None,
    namespace_selector: str = "",
    object_selector: str = "",
    match_conditions: Mapping[str, str] | None = None,
    service_name: str = SERVICE_NAME,
    service_namespace: str = SERVICE_NAMESPACE,
    service_port: int | None = None,
    admission_review_versions: Sequence[str] = ("v1",),
) -> Callable[[_C], _C]:
    """Declare the class below as a webhook that accepts or refuses requests for a kind.

    The arguments are those of :func:`mutating_webhook`; ``name`` defaults to ``v<kind>-<version>.kb.io``, ``path`` to
    ``/validate-<group>-<version>-<kind>``.

    Raises:
        DeclarationError: an argument is of a wrong type, or not what the API server takes.

    """
    return _webhook(sys._getframe(1), {**locals(), "mutating": False, "reinvocation_policy": None})  # noqa: SLF001


def configure_webhooks(*, mutating_name: str = "", validating_name: str = "") -> None:
    """Name the project's webhook configurations, in a module below ``webhooks``.

    They are ``mutating-webhook-configuration`` and ``validating-webhook-configuration`` otherwise.

    Raises:
        DeclarationError: a name is none, or there was another call before.

    """
    caller = sys._getframe(1)  # noqa: SLF001
    file, line = caller.f_code.co_filename, caller.f_lineno
    names = {"mutating_name": mutating_name, "validating_name": validating_name}
    wrong = [message for name, value in names.items() for message in single(name, value, str)]
    wrong = wrong or [
        f'{name} "{value}" is not in lower-case letters, digits, dashes and dots'
        for name, value in names.items()
        if value and not is_dns1123_subdomain(value)
    ]
    package = str(caller.f_globals.get("__name__", "")).partition(".")[0]
    before = _named.get(package)
    if before is not None and (before.file, before.line) != (file, line):
        place = f"{os.path.basename(before.file)}:{before.line}"  # noqa: PTH119 - pathlib would slow every import
        wrong.append(f"it is called at {place} too; write one call with both names")
    if not refuse(wrong, file=file, line=line, subject="configure_webhooks"):
        _named[package] = WebhookConfigurationNames(**names, file=file, line=line)


def webhooks_of(cls: type) -> tuple[WebhookDeclaration, ...]:
    """Return the webhooks that this very class was declared as, outermost first."""
    return tuple(cls.__dict__.get(_WEBHOOKS, ()))


def declared_webhooks() -> tuple[type, ...]:
    """Return every class that is a webhook in this process, in order of declaration."""
    return tuple(_declared.values())


def configuration_names(package: str) -> WebhookConfigurationNames:
    """Return what the modules of a package told :func:`configure_webhooks`, or the usual names."""
    return _named.get(package, WebhookConfigurationNames())


def _webhook(caller: FrameType, given: dict[str, Any]) -> Callable[[_C], _C]:
    file, line = caller.f_code.co_filename, caller.f_lineno
    subject = "@mutating_webhook" if given["mutating"] else "@validating_webhook"
    kind = given.pop("kind")
    wrong = [*_kind_problems(kind, subject), *_type_problems(given)]
    if refuse(wrong or list(_value_problems(given)), file=file, line=line, subject=subject) or was_refused(kind):
        return undone
    gvk = gvk_of(kind)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list | tuple) else value for name, value in given.items()
    }
    values |= {
        "groups": tuple("" if group == "core" else group for group in values["groups"] or (gvk.group,)),
        "versions": values["versions"] or (gvk.version,),
        "resources": values["resources"] or (gvk.plural,),
        "name": values["name"] or f"{'m' if given['mutating'] else 'v'}{gvk.kind.lower()}-{gvk.version}.kb.io",
        "path": values["path"] or ("" if values["url"] else _usual_path(gvk, mutating=given["mutating"])),
        "match_conditions": dict(values["match_conditions"] or {}),
    }
    declaration = WebhookDeclaration(**values, file=file, line=line)

    def declare(cls: _C) -> _C:
        setattr(cls, _WEBHOOKS, (declaration, *cls.__dict__.get(_WEBHOOKS, ())))
        _declared[f"{cls.__module__}.{cls.__qualname__}"] = cls
        return cls

    return declare


def _usual_path(gvk: GroupVersionKind, *, mutating: bool) -> str:
    verb = "mutate" if mutating else "validate"
    return f"/{verb}-{gvk.group.replace('.', '-')}-{gvk.version}-{gvk.kind.lower()}"


def _kind_problems(kind: object, subject: str) -> Iterator[str]:
    if isinstance(kind, GroupVersionKind):
        return
    name = getattr(kind, "__name__", repr(kind))
    if not isinstance(kind, type) or not issubclass(kind, Object):
        yield f"{name} is no API type; write {subject}(TYPE), with the API type or its GroupVersionKind"
    elif declaration_of(kind) is None and not was_refused(kind):
        yield f"{name} is no API type; put @resource(...) above it"


def _type_problems(given: Mapping[str, Any]) -> Iterator[str]:
    for name in ("name", "path", "url", "namespace_selector", "object_selector", "service_name", "service_namespace"):
        yield from single(name, given[name], str)
    for name in ("timeout_seconds", "service_port"):
        yield from single(name, given[name], int, type(None))
    yield from several("groups", given["groups"], str, such_as='"apps"')
    yield from several("versions", given["versions"], str, such_as='"v1"')
    yield from several("resources", given["resources"], str, such_as='"deployments"')
    yield from several("admission_review_versions", given["admission_review_versions"], str, such_as='"v1"')
    yield from choices("operations", given["operations"], get_args(Operation))
    yield from choice("failure_policy", given["failure_policy"], get_args(FailurePolicy))
    yield from choice("side_effects", given["side_effects"], get_args(SideEffects))
    yield from choice("match_policy", given["match_policy"], (*get_args(MatchPolicy), None))
    yield from choice("reinvocation_policy", given["reinvocation_policy"], (*get_args(ReinvocationPolicy), None))
    conditions = given["match_conditions"]
    texts = [text for item in conditions.items() for text in item] if isinstance(conditions, Mapping) else [conditions]
    if conditions is not None and not all(isinstance(text, str) for text in texts):
        yield f'match_conditions is to be CEL expressions by name, not {conditions!r}; write {{"name": "rule"}}'


def _value_problems(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the API server would refuse (k8s.io/kubernetes/pkg/apis/admissionregistration/validation)."""
    name = given["name"]
    if name and not (is_dns1123_subdomain(name) and name.count(".") >= _SEGMENTS - 1):
        yield f'name "{name}" is no domain of three parts or more; write {name.split(".")[0] or "widget"}.example.com'
    for what in ("operations", "admission_review_versions"):
        if not given[what]:
            yield f"{what} is empty; leave it out for the usual ones"
    yield from _rule_problems(given)
    yield from _address_problems(given)
    if given["timeout_seconds"] is not None and given["timeout_seconds"] not in _SECONDS:
        yield f"timeout_seconds is to be 1 to 30, not {given['timeout_seconds']}"
    if len({*given["admission_review_versions"]}) < len(given["admission_review_versions"]):
        yield "admission_review_versions names a version twice; remove one"
    if not {"v1", "v1beta1"}.intersection(given["admission_review_versions"]):
        yield 'admission_review_versions has none that the API server speaks; write admission_review_versions=["v1"]'
    for what in ("namespace_selector", "object_selector"):
        try:
            selector.parse(given[what])
        except ValueError as error:
            yield f"{what}: {error}"
    yield from _condition_problems(given["match_conditions"] or {})


def _rule_problems(given: Mapping[str, Any]) -> Iterator[str]:
    for what in ("operations", "groups", "versions"):
        if "*" in given[what] and len(given[what]) > 1:
            yield f'{what} has "*" beside others; write {what}=["*"] for all'
    for what in ("versions", "resources"):
        if "" in given[what]:
            yield f"{what} has an empty name in it; remove it"
    resources = given["resources"]
    others = resources if "*/*" in resources else [name for name in resources if "/" not in name]
    if {"*", "*/*"}.intersection(others) and len(others) > 1:
        yield 'resources has a "*" beside others, which it holds already; remove those'
    if "*" in given["groups"] and not resources:
        yield 'groups=["*"] says nothing about the resources; write resources=[...] too'


def _address_problems(given: Mapping[str, Any]) -> Iterator[str]:
    path, url, port = given["path"], given["url"], given["service_port"]
    if path and url:
        yield "it takes either path= or url="
    if path and not _is_path(path):
        yield f'path "{path}" is none that a Service takes; write it like /mutate-example-com-v1-widget'
    if url and not _URL.fullmatch(url):
        yield f'url "{url}" is no https:// address without user, query and fragment; write https://host/path'
    service = (given["service_name"], given["service_namespace"], port)
    if url and service != (SERVICE_NAME, SERVICE_NAMESPACE, None):
        yield "url= stands in place of a Service; leave out service_name, service_namespace and service_port"
    if not is_dns1035_label(given["service_name"]):
        yield f'service_name "{given["service_name"]}" is not in lower-case letters, digits and dashes'
    if not is_dns1123_label(given["service_namespace"]):
        yield f'service_namespace "{given["service_namespace"]}" is not in lower-case letters, digits and dashes'
    if port is not None and port not in _PORTS:
        yield f"service_port is to be 1 to 65535, not {port}"


def _is_path(path: str) -> bool:
    return path.startswith("/") and all(map(is_dns1123_subdomain, path[1:].removesuffix("/").split("/")))


def _condition_problems(conditions: Mapping[str, str]) -> Iterator[str]:
    if len(conditions) > _CONDITIONS:
        yield f"match_conditions has {len(conditions)} conditions, and the API server takes {_CONDITIONS}"
    for name, expression in conditions.items():
        if not is_qualified_name(name):
            yield f'match_conditions: "{name}" is no name; write letters, digits and dashes'
        if not expression.strip():
            yield f"match_conditions: {name} has no expression; write a rule in CEL"
