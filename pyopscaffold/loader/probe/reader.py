"""What dataclasses say, told as JSON."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from pyopscaffold.api import introspect
from pyopscaffold.api.markers import markers_of
from pyopscaffold.errors import DeclarationError
from pyopscaffold.kube.names import camel_case

from . import faults
from .sources import Sources
from .values import KNOWN, is_marker, markers, path, strict, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCALARS = {
    "builtins.str": "string",
    "builtins.int": "integer",
    "builtins.float": "number",
    "builtins.bool": "boolean",
    "builtins.bytes": "bytes",
    "builtins.object": "any",
    "typing.Any": "any",
    "datetime.datetime": "datetime",
    "datetime.timedelta": "duration",
}
_LISTS = {"builtins.list", "builtins.tuple", "collections.abc.Sequence"}
_SETS = {"builtins.set", "builtins.frozenset"}
_MAPS = {"builtins.dict", "collections.abc.Mapping", "collections.abc.MutableMapping"}

_DEEPEST = 128
"""How many types may lie within each other: a generic that holds itself with longer and longer arguments has no end."""

Json = dict[str, Any]


class Reader:
    """Tells what the declarations of this process say; ``structs`` grows with every dataclass met."""

    def __init__(self) -> None:
        self.sources = Sources()
        self.structs: dict[str, Json] = {}
        self.problems: list[Json] = []
        self.failures: list[BaseException] = []
        self._owners: dict[str, Any] = {}
        self.depth = 0

    def struct(self, hint: Any) -> str:
        """Read a dataclass, maybe a generic one with its arguments, once, and return its id."""
        cls: type = get_origin(hint) or hint
        key = f"{cls.__module__}.{cls.__qualname__}" + (repr(list(get_args(hint))) if get_args(hint) else "")
        while self._owners.setdefault(key, hint) != hint:  # classes made by a function, or one defined twice
            key += "'"
        if key not in self.structs:
            self.structs[key] = entry = {"name": cls.__name__, **self.sources.place(cls)}
            entry["texts"] = self.sources.texts(cls)
            entry["attributes"] = [name for name in dir(cls) if not name.startswith("_")]
            entry["fields"] = list(self._fields(cls, hint))
            entry["markers"] = list(markers(markers_of(cls)))
            for item in markers_of(cls):
                if not is_marker(item):
                    self._problem(cls, f"mark takes markers, not {item!r}; write one such as Title(...)")
        return key

    def _fields(self, cls: type, hint: Any) -> Iterator[Json]:
        for name in (hidden := faults.hidden(cls)):
            message = f"it hides the type {name} from the fields beside it; write {name}_, which is {name} in YAML"
            self._problem(cls, message, name)
        infos = {} if hidden else self._infos(cls, hint)
        for name in faults.init_only(cls):
            self._problem(cls, "it is an InitVar, which no object has; give it a default, or make it a field", name)
        for base, names in faults.plain_bases(cls):
            message = (
                f"{base.__name__} is no dataclass, so its {names} is no field; put @dataclass(kw_only=True) above it"
            )
            self._problem(cls, message)
        places = self.sources.fields(cls)
        for field in filter(lambda field: field.init, dataclasses.fields(cls)):
            found = _unread(field)
            try:
                found = self._field(cls, infos[field.name]) if field.name in infos else found
            except Exception as error:  # noqa: BLE001 - a marker of the user's may raise anything
                self._fault(cls, error, field.name)
            yield found | (places.get(field.name) or self.sources.place(cls))

    def _infos(self, cls: Any, hint: Any) -> dict[str, introspect.FieldInfo]:
        """Return the fields that can be read by their names, and tell why the others can't."""
        try:
            return {info.name: info for info in introspect.fields_of(hint)}
        except Exception as error:  # noqa: BLE001 - a default_factory or a hint may raise anything
            faulty = list(faults.unreadable(cls)) or [("", error)]
        for name, fault in faulty:
            self._fault(cls, fault, name)
        told = {name for name, _ in faulty}
        left = () if "" in told else (field.name for field in dataclasses.fields(cls) if field.init)
        with suppress(Exception):  # what is wrong with a base's arguments is told once the fields are right
            return {name: introspect.field_of(hint, name) for name in left if name not in told}
        return {}

    def _field(self, cls: type, info: Any) -> Json:
        shape = self._shape(info.type)
        return {
            "name": info.name,
            "json_name": info.json_name,
            "type": shape,
            "markers": [*shape.pop("markers", ()), *markers(info.metadata)],
            "optional": info.optional or bool(shape.pop("optional", False)),
            **self._default(cls, info),
        }

    def _default(self, cls: type, info: Any) -> Json:
        if info.default is dataclasses.MISSING:
            return {"has_default": False, "default": None}
        try:
            default = strict(to_json(info.default))
            if wrong := faults.misfit(cls, info):
                self._problem(cls, wrong, info.name)
                default = None
            elif not faults.is_steady(cls, info.name, default):
                self._problem(
                    cls, "its default is another one each time, which no CRD can say; write = None", info.name
                )
        except Exception as error:  # noqa: BLE001 - the default is the user's own value
            message = f"its default can't be written as JSON: {getattr(error, 'message', error)}"
            if not self._is_told(error):
                self._problem(cls, message, info.name)
            default = None
        return {"has_default": True, "default": default}

    def _is_told(self, error: Exception) -> bool:
        """Whether it is about a hint in the class of a default, which was read before the default."""
        if isinstance(error, NameError):
            return any(f"a type hint says {error.name}," in item["message"] for item in self.problems)
        return isinstance(error, DeclarationError) and bool(self.failures)

    def _fault(self, cls: type, error: Exception, name: str) -> None:
        """Tell why a field can't be read, or keep it: that an import under TYPE_CHECKING fails is told as of others."""
        if isinstance(error, DeclarationError) and error.__cause__ is not None:
            self.failures.append(error.__cause__)
        else:
            self._problem(cls, faults.reason(cls, error), name)

    def _problem(self, cls: type, message: str, name: str = "") -> None:
        place = self.sources.fields(cls).get(name) or self.sources.place(cls)
        subject = f"{cls.__name__}.{name}" if name else cls.__name__
        self.problems.append({"file": place["file"], "line": place["line"], "subject": subject, "message": message})

    def _hint(self, hint: Any) -> Json:
        plain, metadata, optional = introspect.unwrap(hint)
        shape = self._shape(plain)
        shape["markers"] = [*shape.get("markers", ()), *markers(metadata)]
        shape["optional"] = optional or shape.get("optional", False)
        return shape

    def _shape(self, hint: Any) -> Json:
        """Describe a type by ``is`` and what that needs; ``unsupported`` carries the type's spelling."""
        if self.depth == _DEEPEST:
            raise RecursionError(f"there are more than {_DEEPEST} types within each other; write Any for an inner one")
        self.depth += 1
        try:
            return self._shape_of(hint)
        finally:
            self.depth -= 1

    def _shape_of(self, hint: Any) -> Json:  # noqa: PLR0911 - one case a type
        origin, arguments = get_origin(hint) or hint, get_args(hint)
        name = path(origin)
        if name in _SCALARS:
            return {"is": "scalar", "kind": _SCALARS[name]}
        if name in KNOWN:
            return {"is": "known", "name": KNOWN[name]}
        if builtin := vars(origin).get("__kubernetes_type__") if isinstance(origin, type) else None:
            return {"is": "known", "name": builtin}
        if dataclasses.is_dataclass(origin) and isinstance(origin, type):
            return {"is": "struct", "ref": self.struct(hint)}
        if origin is Literal:
            return {"is": "enum", "values": [_enum_value(value) for value in arguments]}
        if isinstance(hint, type) and issubclass(hint, enum.Flag):
            return _unsupported(hint) | {"name": "enum.Flag"}
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            values = [_enum_value(member) for member in hint]
            return {"is": "enum", "values": values, "doc": self.sources.description(hint)}
        if origin in {typing.Union, types.UnionType} and {*arguments} == {int, str}:
            return {"is": "scalar", "kind": "int-or-string"}
        return self._container(hint, name, arguments)

    def _container(self, hint: Any, name: str, arguments: tuple[Any, ...]) -> Json:
        inner = [argument for argument in arguments if argument is not ...]
        if name == "builtins.tuple" and inner == [*arguments]:  # of a fixed length, which the codec does not read
            return _unsupported(hint)
        if (name in _LISTS or name in _SETS) and len(inner) == 1:
            markers = [["ListSet", {}, []]] if name in _SETS else []
            return {"is": "list", "items": self._hint(inner[0]), "markers": markers}
        if name in _MAPS and len(inner) == 2 and self._hint(inner[0]).get("kind") == "string":  # noqa: PLR2004
            return {"is": "map", "values": self._hint(inner[1])}
        return _unsupported(hint)


def _unread(field: dataclasses.Field[Any]) -> Json:
    """Describe a field whose type is not known."""
    bare = field.default is field.default_factory is dataclasses.MISSING
    known = {"name": field.name, "json_name": camel_case(field.name), "has_default": not bare, "default": None}
    return {**known, "type": {"is": "unread"}, "markers": [], "optional": False}


def _unsupported(hint: Any) -> Json:
    if isinstance(hint, TypeVar):
        return {"is": "unsupported", "name": "typing.TypeVar", "text": hint.__name__}
    dataclass_union = any(dataclasses.is_dataclass(get_origin(part) or part) for part in get_args(hint))
    is_class = isinstance(hint, type) and not get_args(hint)
    text = hint.__qualname__ if is_class else str(hint).replace("typing.", "")
    found = {"is": "unsupported", "name": path(get_origin(hint) or hint), "text": text, "dataclasses": dataclass_union}
    plain = is_class and hint.__bases__ == (object,) and "__annotations__" in vars(hint)
    return found | {"plain": plain}


def _enum_value(value: Any) -> Any:
    value = value.value if isinstance(value, enum.Enum) else value
    return value if isinstance(value, str | int | float | None) else {"repr": repr(value)}
