"""``@controller`` and ``@rbac``: what a reconciler watches, owns and may do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyopscaffold.api.arguments import refuse, several, single, undone
from pyopscaffold.api.resource import Object, declaration_of, was_refused
from pyopscaffold.api.tenants import TenantConfig
from pyopscaffold.api.tenants import problems as tenant_problems
from pyopscaffold.kube import selector
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.names import is_dns1123_label

Kind = type[Object] | GroupVersionKind
"""An API type: a class under ``@resource``, or a value for types without one."""


@dataclass(frozen=True, kw_only=True)
class RbacRule:
    """One permission beyond those that ``@controller`` implies; ``""`` is the core group."""

    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    verbs: tuple[str, ...]
    resource_names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    namespace: str = ""
    role_name: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Watch:
    """A kind whose events reach the controller through a map function.

    ``map`` takes the changed object (a raw mapping, or an instance where ``kind`` is a class) and returns the
    ``(namespace, name)`` pairs of the objects to reconcile, or each as a ``Request``; of a change it is asked for the
    object before and after. If it takes two, it is asked once, for both: the first is None for an object that is new,
    the second for one that is gone. With ``labels`` and ``fields``, a label and a field selector, only the objects that
    they select are watched and kept: a cluster has many Pods and Secrets. They are read by the same selectors. With
    ``metadata_only`` no more than the metadata is fetched and kept, and ``map`` gets mappings of apiVersion, kind and
    metadata.
    ``predicate`` says which changes count, see ``pyopscaffold.runtime.predicate``.
    """

    kind: Kind
    map: Callable[..., Sequence[tuple[str, str] | tuple[str, str, str]]]
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    predicate: Callable[..., bool] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all objects of the kind are watched, with all that they have."""
        return not (self.labels or self.fields or self.metadata_only)


@dataclass(frozen=True, kw_only=True)
class Index:
    """Objects of a watched kind, findable in the cache by ``ctx.cache.by_index(kind, name, value)``.

    ``values`` takes an object and returns the texts that it is to be found by, always the same of the same object.
    Given a ``label`` in place of ``name`` and ``values``, ``ctx.cache.list(kind, labels="<label>=x")`` looks up what
    it would else look for.
    """

    kind: Kind
    name: str = ""
    values: Callable[..., Iterable[str]] | None = None
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class ControllerDeclaration:
    """What ``@controller`` was told; ``timeout`` in seconds bounds one reconcile."""

    name: str
    resource: type[Object]
    owns: tuple[Kind, ...]
    watches: tuple[Watch, ...]
    predicates: tuple[Callable[..., bool], ...]
    indexes: tuple[Index, ...]
    timeout: float
    workers: int
    file: str
    line: int
    tenants: TenantConfig | None = None


_C = TypeVar("_C", bound=type)

_INDEXES = ((True, True, False), (False, False, True))
_CONTROLLER = "__pyopscaffold_controller__"
_RBAC = "__pyopscaffold_rbac__"
_controllers: dict[str, type] = {}
_permitted: dict[str, type] = {}


def controller(
    resource: type[Object],
    *,
    name: str = "",
    owns: Sequence[Kind] = (),
    watches: Sequence[Watch] = (),
    predicates: Sequence[Callable[..., bool]] = (),
    indexes: Sequence[Index] = (),
    timeout: float = 30.0,
    workers: int = 1,
    tenants: TenantConfig | None = None,
) -> Callable[[_C], _C]:
    """Declare the class below as the reconciler of ``resource``.

    ``owns`` are the kinds of its children: their events reconcile the owner, and the generated role lets the operator
    list, watch, create, patch and delete them. ``name`` (default: the kind in lower case) names the controller in
    metrics, logs and field managers. ``timeout`` (seconds) bounds one reconcile, ``workers`` how many run at once.

    ``predicates`` say which changes of ``resource`` itself count, if all of them accept; without, all but writes of the
    status. What the framework has to know of (a deletion, its annotations, its finalizer) always counts. ``indexes``
    make objects of ``resource``, owned and watched kinds findable in the cache. ``tenants`` says where
    ``ctx.tenant_config(…)`` finds the configuration of an object's tenant, which reconciles its objects too.

    Raises:
        DeclarationError: ``resource`` is not under ``@resource``, or another argument can't be.

    """
    caller = sys._getframe(1)  # noqa: SLF001 - the only way to know where a declaration stands when source is absent
    file, line = caller.f_code.co_filename, caller.f_lineno
    wrong = [
        *_undeclared([resource]),
        *_name_problems(name),
        *_not_lists(owns, watches, predicates, indexes),
        *_at_least("timeout", timeout, float, int, bound=0.001),
        *_at_least("workers", workers, int, bound=1),
    ]
    kinds = () if wrong else (resource, *owns, *(watch.kind for watch in watches))
    wrong = wrong or [
        *_undeclared(kind for kind in owns if isinstance(kind, type)),
        *_not_selectors(watches),
        *_not_indexes(indexes, kinds),
        *tenant_problems(tenants, namespaced=was_refused(resource) or resource.gvk.namespaced),
    ]
    # Said now and not when the class comes: without its brackets, @controller gets no other call.
    if refuse(wrong, file=file, line=line, subject="@controller") or any(map(was_refused, kinds)):
        return undone
    declaration = ControllerDeclaration(
        name=name or resource.kind.lower(),
        resource=resource,
        owns=tuple(owns),
        watches=tuple(watches),
        predicates=tuple(predicates),
        indexes=tuple(indexes),
        timeout=timeout,
        workers=workers,
        file=file,
        line=line,
        tenants=tenants,
    )
    return lambda cls: _registered(cls, declaration)


def _registered(cls: _C, declaration: ControllerDeclaration) -> _C:
    setattr(cls, _CONTROLLER, declaration)
    _controllers[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return cls


def _not_lists(owns: object, watches: object, predicates: object, indexes: object) -> Iterator[str]:
    yield from several("owns", owns, type, GroupVersionKind, such_as='GroupVersionKind("apps", "v1", "StatefulSet")')
    yield from several("watches", watches, Watch, such_as="Watch(kind=..., map=...)")
    yield from several("predicates", predicates, Callable, such_as="predicate.generation_changed")  # type: ignore[arg-type]  # isinstance takes it
    yield from several("indexes", indexes, Index, such_as='Index(kind=..., name="...", values=...)')


def _undeclared(resources: Iterable[object]) -> Iterator[str]:
    for item in resources:
        if not isinstance(item, type):
            yield f"{item!r} is no API type; name the class itself"
        elif declaration_of(item) is None and not was_refused(item):
            way = (
                "write @controller(TYPE), with the API type"
                if hasattr(item, "reconcile")
                else "put @resource(...) above it"
            )
            yield f"{item.__name__} is no API type; {way}"


def _not_selectors(watches: Iterable[Watch]) -> Iterator[str]:
    for watch in watches:
        wrong = [
            *single("labels", watch.labels, str),
            *single("fields", watch.fields, str),
            *single("metadata_only", watch.metadata_only, bool),
        ]
        yield from wrong
        if wrong:
            continue
        given: object = watch.predicate
        if given is not None and not callable(given):
            yield f"predicate is to be a function, not {given!r}"
        if watch.fields and not all("=" in term for term in watch.fields.split(",")):
            yield f"{watch.fields!r} is no field selector; write it as spec.nodeName=one,status.phase!=Failed"
        try:
            selector.parse(watch.labels)
        except ValueError as error:
            yield str(error)


def _not_indexes(indexes: Iterable[Index], kinds: Iterable[Kind]) -> Iterator[str]:
    for index in indexes:
        what = f"an index of {getattr(index.kind, 'kind', index.kind)}"
        if (bool(index.name), callable(index.values), bool(index.label)) not in _INDEXES:
            yield f"{what} needs either name= and values=, or label="
        elif index.kind not in kinds and gvk_of(index.kind) not in (getattr(kind, "gvk", kind) for kind in kinds):
            yield f"{what}, which is not watched; name it in owns= or watches="


def _name_problems(name: object) -> Iterator[str]:
    yield from single("name", name, str)
    # The API server takes events of qualified names only, and metrics and field managers bear it too.
    if isinstance(name, str) and name and not is_dns1123_label(name):
        yield f'name "{name}" is not in lower-case letters, digits and dashes'


def _at_least(name: str, value: float, *types: type, bound: float) -> Iterator[str]:
    wrong = list(single(name, value, *types))
    yield from wrong
    if not wrong and not value >= bound:
        yield f"{name} is to be {bound:g} or more, not {value!r}"


def rbac(
    *,
    verbs: Sequence[str],
    groups: Sequence[str] = (),
    resources: Sequence[str] = (),
    resource_names: Sequence[str] = (),
    urls: Sequence[str] = (),
    namespace: str = "",
    role_name: str = "",
) -> Callable[[_C], _C]:
    """Grant the operator a permission that ``@controller`` does not imply.

    With ``namespace`` the rule goes into a Role in that namespace, else into the ClusterRole; with ``role_name`` into a
    role of that name instead of the operator's own, which is yours to bind.

    Raises:
        DeclarationError: an argument is of a wrong type.

    """
    caller = sys._getframe(1)  # noqa: SLF001 - the only way to know where a declaration stands when source is absent
    wrong = [
        *several("verbs", verbs, str, such_as='"get", "list", "watch"'),
        *several("groups", groups, str, such_as='"apps"'),
        *several("resources", resources, str, such_as='"deployments"'),
        *several("resource_names", resource_names, str, such_as='"name"'),
        *several("urls", urls, str, such_as='"/healthz"'),
        *single("namespace", namespace, str),
        *single("role_name", role_name, str),
    ]
    if refuse(wrong, file=caller.f_code.co_filename, line=caller.f_lineno, subject="@rbac"):
        return undone
    rule = RbacRule(
        groups=tuple(groups),
        resources=tuple(resources),
        verbs=tuple(verbs),
        resource_names=tuple(resource_names),
        urls=tuple(urls),
        namespace=namespace,
        role_name=role_name,
        file=caller.f_code.co_filename,
        line=caller.f_lineno,
    )

    def declare(cls: _C) -> _C:
        setattr(cls, _RBAC, (rule, *cls.__dict__.get(_RBAC, ())))
        _permitted[f"{cls.__module__}.{cls.__qualname__}"] = cls
        return cls

    return declare


def controller_of(cls: type) -> ControllerDeclaration | None:
    """Return what ``@controller`` was told about this very class, or None."""
    found = cls.__dict__.get(_CONTROLLER)
    return found if isinstance(found, ControllerDeclaration) else None


def rbac_of(cls: type) -> tuple[RbacRule, ...]:
    """Return the ``@rbac`` rules of this very class, outermost first, and what its ``tenants=`` takes."""
    declared = controller_of(cls)
    return (*cls.__dict__.get(_RBAC, ()), *(() if declared is None else _of_tenants(declared)))


def _of_tenants(declared: ControllerDeclaration) -> Iterator[RbacRule]:
    granted = {gvk_of(kind) for kind in (*declared.owns, *(watch.kind for watch in declared.watches))}
    for extent in declared.tenants.extents() if declared.tenants else ():
        if extent.namespace or extent.kind not in granted:
            yield RbacRule(
                groups=(extent.kind.group,),
                resources=(extent.kind.plural,),
                verbs=("list", "watch"),
                resource_names=(extent.name,) if extent.name else (),
                namespace=extent.namespace,
                file=declared.file,
                line=declared.line,
            )


def declared_controllers() -> tuple[type, ...]:
    """Return every class that ``@controller`` has seen in this process, in order of declaration."""
    return tuple(_controllers.values())


def permitted_classes() -> tuple[type, ...]:
    """Return every class that ``@rbac`` has seen in this process; the rules count on reconcilers only."""
    return tuple(_permitted.values())


def gvk_of(kind: Kind) -> GroupVersionKind:
    """Return the group, version and kind of a class under ``@resource``, or the value itself."""
    return kind if isinstance(kind, GroupVersionKind) else kind.gvk
