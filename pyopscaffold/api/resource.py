"""``@resource``: a dataclass becomes an API type."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from pyopscaffold.api.arguments import choice, mapping, refuse, several, single
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.meta import ObjectMeta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ColumnType = Literal["string", "integer", "number", "boolean", "date"]
_Shown = Literal["status", "reason", "message"]
_INT32 = 2**31


@dataclass(kw_only=True)
class Object:
    """An API object: ``metadata`` beside the ``spec`` and ``status`` that a subclass declares."""

    gvk: ClassVar[GroupVersionKind]
    api_version: ClassVar[str]
    kind: ClassVar[str]

    metadata: ObjectMeta = field(default_factory=ObjectMeta)


@dataclass(frozen=True)
class Column:
    """One column of ``kubectl get``.

    Exactly one of ``path`` (Python names, such as ``status.ready_replicas``), ``condition`` (a condition's type: the
    column shows its status, or its reason with ``show="reason"``) and ``json_path`` is given. ``type`` is inferred from
    the field that ``path`` names. ``priority`` above 0 shows the column with ``-o wide`` only.
    """

    name: str
    path: str = field(default="", kw_only=True)
    condition: str = field(default="", kw_only=True)
    show: _Shown = field(default="status", kw_only=True)
    json_path: str = field(default="", kw_only=True)
    type: ColumnType | None = field(default=None, kw_only=True)
    format: str = field(default="", kw_only=True)
    description: str = field(default="", kw_only=True)
    priority: int = field(default=0, kw_only=True)


def Age() -> Column:  # noqa: N802 - reads as a column in the list of columns
    """Return the usual last column: time since creation."""
    return Column("Age", json_path=".metadata.creationTimestamp", type="date")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The scale subresource; paths in Python names, such as ``spec.replicas``."""

    spec: str
    status: str
    selector: str = ""


@dataclass(frozen=True, kw_only=True)
class ResourceDeclaration:
    """What ``@resource`` was told, kept in the class's own ``__dict__`` so that no subclass inherits it."""

    gvk: GroupVersionKind
    singular: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    columns: tuple[Column, ...]
    scale: Scale | None
    served: bool
    storage: bool
    deprecated: str | None
    labels: dict[str, str] = field(default_factory=dict, hash=False)
    annotations: dict[str, str] = field(default_factory=dict, hash=False)
    status_subresource: bool | None = None
    skip: bool = False
    file: str
    line: int


_T = TypeVar("_T", bound=Object)

_SCOPES = ("Namespaced", "Cluster")

_DECLARATION = "__pyopscaffold_resource__"
_REFUSED = "__pyopscaffold_refused__"
_resources: dict[str, type[Object]] = {}
_refused: list[type] = []


def resource(
    *,
    group: str,
    version: str,
    kind: str = "",
    plural: str = "",
    singular: str = "",
    scope: Literal["Namespaced", "Cluster"] = "Namespaced",
    short_names: Sequence[str] = (),
    categories: Sequence[str] = (),
    columns: Sequence[Column] = (),
    scale: Scale | None = None,
    served: bool = True,
    storage: bool = True,
    deprecated: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    status_subresource: bool | None = None,
    skip: bool = False,
) -> Callable[[type[_T]], type[_T]]:
    """Declare the dataclass below as an API type; stands outermost, above ``@dataclass``.

    ``group`` is the whole API group (``db.example.com``). ``kind`` defaults to the class's name, ``plural`` to the
    kind's plural, ``singular`` to its lower case. ``deprecated`` is the warning that clients get, "" for the server's.
    ``labels`` and ``annotations`` are put on the CRD. The ``status_subresource`` is there where the class has a status,
    unless said otherwise; without it, whoever may write the spec may write the status. With ``skip`` nothing is
    generated from the class, nor is it checked: it is somebody else's API, or a version to come.

    Raises:
        DeclarationError: an argument has a wrong type, or the class below is no dataclass deriving from Object.

    """
    given = dict(locals())
    caller = sys._getframe(1)  # noqa: SLF001 - the only way to know where a declaration stands when source is absent
    file, line = caller.f_code.co_filename, caller.f_lineno
    wrong = list(_type_problems(given))

    def declare(cls: type[_T]) -> type[_T]:
        twice = ["@resource stands above it twice; remove one"] if declaration_of(cls) else []
        if refuse([*_misplaced(cls), *twice, *wrong], file=file, line=line, subject=cls.__name__):
            return _refuse(cls)
        return _declared(cls, _declaration(cls, given, file=file, line=line))

    return declare


def _type_problems(given: Mapping[str, Any]) -> Iterator[str]:
    for name in ("group", "version", "kind", "plural", "singular"):
        yield from single(name, given[name], str)
    if given["scope"] not in _SCOPES:
        yield f'scope is to be "Namespaced" or "Cluster", not {given["scope"]!r}'
    yield from several("short_names", given["short_names"], str, such_as='"db"')
    yield from several("categories", given["categories"], str, such_as='"all"')
    yield from several("columns", given["columns"], Column, such_as="Column(...), Age()")
    yield from _column_problems(given["columns"])
    yield from single("scale", given["scale"], Scale, type(None))
    if isinstance(scale := given["scale"], Scale):
        for name in ("spec", "status", "selector"):
            yield from (f"scale: {text}" for text in single(name, getattr(scale, name), str))
    for name in ("served", "storage", "skip"):
        yield from single(name, given[name], bool)
    yield from single("deprecated", given["deprecated"], str, type(None))
    yield from single("status_subresource", given["status_subresource"], bool, type(None))
    yield from mapping("labels", given["labels"])
    yield from mapping("annotations", given["annotations"])


def _column_problems(columns: object) -> Iterator[str]:
    for column in columns if isinstance(columns, Sequence) else ():
        if not isinstance(column, Column):
            continue
        wrong = [*single("priority", column.priority, int), *choice("show", column.show, get_args(_Shown))]
        for name in ("name", "path", "condition", "json_path", "format", "description"):
            wrong += single(name, getattr(column, name), str)
        if column.type is not None:
            wrong += choice("type", column.type, get_args(ColumnType))
        if not wrong and not 0 <= column.priority < _INT32:
            wrong.append(f"priority is to be 0 or more, not {column.priority}")
        yield from (f"the column {column.name}: {text}" for text in wrong)


def _declaration(cls: type, given: Mapping[str, Any], *, file: str, line: int) -> ResourceDeclaration:
    name = given["kind"] or cls.__name__
    namespaced = given["scope"] == "Namespaced"
    values: dict[str, Any] = {
        "singular": given["singular"] or name.lower(),
        **{name: tuple(given[name]) for name in ("short_names", "categories", "columns")},
        **{name: dict(given[name] or {}) for name in ("labels", "annotations")},
        **{name: given[name] for name in ("scale", "served", "storage", "deprecated", "status_subresource", "skip")},
    }
    gvk = GroupVersionKind(given["group"], given["version"], name, plural=given["plural"], namespaced=namespaced)
    return ResourceDeclaration(gvk=gvk, **values, file=file, line=line)


def _declared(cls: type[_T], declaration: ResourceDeclaration) -> type[_T]:
    _resources[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return _marked(cls, declaration)


def _marked(cls: type[_T], declaration: ResourceDeclaration) -> type[_T]:
    gvk = declaration.gvk
    setattr(cls, _DECLARATION, declaration)
    cls.gvk, cls.api_version, cls.kind = gvk, gvk.api_version, gvk.kind
    return cls


def declare_builtin(cls: type[_T], gvk: GroupVersionKind, *, short_names: tuple[str, ...] = ()) -> type[_T]:
    """Make a class a type of Kubernetes itself: controllers take it, but it is none of the project's own resources."""
    declaration = ResourceDeclaration(
        gvk=gvk,
        singular=gvk.kind.lower(),
        short_names=short_names,
        categories=(),
        columns=(),
        scale=None,
        served=True,
        storage=True,
        deprecated=None,
        file="",
        line=0,
    )
    return _marked(cls, declaration)


def _refuse(cls: type[_T]) -> type[_T]:
    setattr(cls, _REFUSED, True)
    _refused.append(cls)
    return cls


def _misplaced(cls: type) -> Iterator[str]:
    if "__dataclass_fields__" not in cls.__dict__ or not is_dataclass(cls):
        yield "@resource must stand above @dataclass(kw_only=True); write that line between @resource and the class"
    elif not issubclass(cls, Object):
        yield f"an API type derives from Object; write class {cls.__name__}(Object)"


def declaration_of(cls: type[Object]) -> ResourceDeclaration | None:
    """Return what ``@resource`` was told about this very class, or None where it was not used on it."""
    found = cls.__dict__.get(_DECLARATION)
    return found if isinstance(found, ResourceDeclaration) else None


def was_refused(kind: object) -> bool:
    """Whether this is a class whose ``@resource`` was wrong, which is told already."""
    return isinstance(kind, type) and _REFUSED in kind.__dict__


def refused_resources() -> tuple[type, ...]:
    """Return every dataclass whose ``@resource`` was wrong: the fields may be wrong too."""
    return tuple(filter(is_dataclass, _refused))


def declared_resources() -> tuple[type[Object], ...]:
    """Return every class that ``@resource`` has seen in this process, in order of declaration."""
    return tuple(_resources.values())
