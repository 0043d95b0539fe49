"""Makes the classes of Kubernetes' own types from the fields that lie, packed, beside each module.

``@dataclass`` compiles three methods a class, half a millisecond: much for the 150 classes below a pod template. These
share the methods of one base instead, and behave the same.

A packed type is a text of fields, each the JSON name, ``:`` if required or ``?`` if not, and the type:
``containers:[]Container hostIP?string limits?{}quantity selector?meta/v1.LabelSelector``.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import Field
from datetime import datetime
from functools import cached_property
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pyopscaffold.api.markers import Name
from pyopscaffold.api.resource import Object, declare_builtin
from pyopscaffold.api.types import Quantity, RawExtension, int32, int64
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.meta import MicroTime, ObjectMeta
from pyopscaffold.kube.names import camel_case, field_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PACKAGE = __package__ or ""

_SCALARS: dict[str, Any] = {
    "boolean": bool,
    "bytes": bytes,
    "int32": int32,
    "int64": int64,
    "int-or-string": int | str,
    "microtime": MicroTime,
    "object": RawExtension,
    "quantity": Quantity,
    "string": str,
    "time": datetime,
}
_METADATA: Field[Any] = Object.__dataclass_fields__["metadata"]
_FIELD = _METADATA._field_type  # type: ignore[attr-defined]  # noqa: SLF001 - what tells a field from a ClassVar
_lock = RLock()
"""One for all modules, as types reach from one to the other: no class may be made twice."""


class KubernetesType:
    """What all classes of this package share: the methods of ``@dataclass(kw_only=True)``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __dataclass_params__ = Object.__dataclass_params__  # type: ignore[attr-defined]  # typeshed has no private parts
    __kubernetes_required__: ClassVar[frozenset[str]]
    __match_args__ = ()
    __hash__ = None  # type: ignore[assignment]  # as that of any mutable dataclass

    def __init__(self, /, **values: Any) -> None:
        cls = type(self)
        fields = cls.__dataclass_fields__
        if not (values.keys() <= fields.keys() and cls.__kubernetes_required__ <= values.keys()):
            _refuse(cls, values)
        if "metadata" not in values and fields.get("metadata") is _METADATA:
            values["metadata"] = ObjectMeta()
        # What is not given is None by the class.
        self.__dict__.update(values)

    def __repr__(self) -> str:
        # Most fields of most types are not set; shown, they would hide the others.
        values = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        shown = ", ".join(f"{name}={value!r}" for name, value in values if value is not None)
        return f"{type(self).__qualname__}({shown})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__dataclass_fields__)

    def __replace__(self, /, **changes: Any) -> Any:
        return dataclasses.replace(self, **changes)


def _refuse(cls: type[KubernetesType], values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in cls.__dataclass_fields__:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
    missing = [name for name in cls.__dataclass_fields__ if name in cls.__kubernetes_required__ - values.keys()]
    raise TypeError(f"{cls.__name__}.__init__() missing required keyword arguments: {', '.join(map(repr, missing))}")


class Module:
    """The types of one module."""

    def __init__(self, name: str, others: tuple[type, ...]) -> None:
        self._name = name
        self._others = others
        self._hints: dict[str, Any] = {}

    @cached_property
    def _packed(self) -> dict[str, Any]:
        spec = sys.modules[self._name].__spec__
        path = str(spec and spec.origin).removesuffix(".py") + ".json"
        return json.loads(spec.loader.get_data(path))  # type: ignore[no-any-return,union-attr]  # as all loaders of files

    def names(self) -> list[str]:
        """Return the names of all types, made or not."""
        return sorted([*self._packed["types"], *(other.__name__ for other in self._others)])

    def attribute(self, name: str) -> Any:
        """Return the class of a type, or what ``from … import *`` asks for."""
        return self.names() if name == "__all__" else self.get(name)

    def get(self, name: str) -> type:
        """Return the class of a type, made at the first call.

        Raises:
            AttributeError: the module has no such type.

        """
        with _lock:
            found: type | None = vars(sys.modules[self._name]).get(name)
            if found is None:
                if name not in self._packed["types"]:
                    raise AttributeError(f"module {self._name!r} has no attribute {name!r}")
                found = self._make(name)
                setattr(sys.modules[self._name], name, found)
            return found

    def _make(self, name: str) -> type:
        kind = self._packed["kinds"].get(name)
        hints: dict[str, Any] = {}
        fields = {"metadata": _METADATA} if kind else {}
        required = set()
        namespace: dict[str, Any] = {}
        for text in self._packed["types"][name].split():
            json_name, optional, type_text = text.partition("?")
            if not optional:
                json_name, _, type_text = text.partition(":")
            own = field_name(json_name)
            hint = self._hint(type_text + optional)
            hints[own] = hint if camel_case(own) == json_name else Annotated[hint, Name(json_name)]
            fields[own] = _field(own, hints[own], optional=bool(optional))
            if optional:
                namespace[own] = None
            else:
                required.add(own)
        namespace |= {
            "__module__": self._name,
            "__doc__": f"{name} of {self._packed['module']}.",
            "__annotations__": hints,
            "__dataclass_fields__": fields,
            "__kubernetes_required__": frozenset(required),
            "__kubernetes_type__": f"{self._packed['prefix']}.{name}",
        }
        if kind is None:
            return type(name, (KubernetesType,), namespace)
        group, version = self._packed["group"], self._packed["version"]
        gvk = GroupVersionKind(group, version, name, plural=kind["plural"], namespaced=kind["namespaced"])
        made: type[Object] = type(name, (KubernetesType, Object), namespace)
        return declare_builtin(made, gvk, short_names=tuple(kind["short_names"]))

    def _hint(self, text: str) -> Any:
        """Return the type that a text says, with ``?`` behind it also None."""
        if text not in self._hints:
            self._hints[text] = self._hint(text[:-1]) | None if text.endswith("?") else self._plain(text)
        return self._hints[text]

    def _plain(self, text: str) -> Any:
        if text.startswith("[]"):
            return list[self._hint(text[2:])]  # type: ignore[misc]  # built from values
        if text.startswith("{}"):
            return dict[str, self._hint(text[2:])]  # type: ignore[misc]  # as above
        if text in _SCALARS:
            return _SCALARS[text]
        module, _, name = text.rpartition(".")
        if not module:
            return self.get(name)
        return getattr(import_module(f"{_PACKAGE}.{module.replace('/', '.')}"), name)


def _field(name: str, hint: Any, *, optional: bool) -> Field[Any]:
    made: Any = dataclasses.field(default=None, kw_only=True) if optional else dataclasses.field(kw_only=True)
    made.name, made.type = name, hint
    made._field_type = _FIELD  # noqa: SLF001 - as above
    return made  # type: ignore[no-any-return]  # Any only for the private attribute


def lazy(name: str, *others: type) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` (PEP 562) for the module of that name, which has ``others`` as well."""
    module = Module(name, others)
    return module.attribute, module.names
