"""Runs in the project's own interpreter, as ``python -P _probe.py ROOT PACKAGE``, and answers one JSON document.

It imports the project's declarations and tells what they say. It must stay cheap to start and run with nothing but the
standard library and the runtime wheel, so it only reports; :mod:`pyopscaffold.loader.source` does all the judging.
"""

from __future__ import annotations

import _thread
import ast
import dataclasses
import enum
import gc
import inspect
import json
import os
import stat
import sys
import types
import typing
from functools import cache
from operator import not_
from typing import Any, Literal, get_args, get_origin

if typing.TYPE_CHECKING:
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
_KNOWN = {"pyopscaffold.kube.meta.Condition": "Condition", "pyopscaffold.kube.meta.ObjectMeta": "ObjectMeta"}
_LISTS = {"builtins.list", "builtins.tuple", "collections.abc.Sequence"}
_SETS = {"builtins.set", "builtins.frozenset"}
_MAPS = {"builtins.dict", "collections.abc.Mapping", "collections.abc.MutableMapping"}

_DEEPEST = 128
"""How many types may lie within each other: a generic that holds itself with longer and longer arguments has no end."""

_BUILTIN = ("str", "int", "float", "bool", "bytes", "list", "dict", "set", "frozenset", "tuple", "object")

Json = dict[str, Any]


class Sources:
    """Where classes and fields stand, read from their source text; nothing is known where there is none."""

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, ast.ClassDef]] = {}

    def of(self, cls: type) -> tuple[str, ast.ClassDef | None]:
        """Return the file of a class, and its definition."""
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
        if file not in self._classes:
            self._classes[file] = _classes_in(file)
        return file, self._classes[file].get(cls.__qualname__.replace("<locals>.", ""))

    def description(self, cls: type) -> str:
        """Return the docstring of a class, "" where it has none (dataclasses make one up)."""
        _, node = self.of(cls)
        if node is not None:
            return _docstring(node.body[0])
        made_up = (cls.__doc__ or "").startswith(f"{cls.__name__}(")
        return "" if made_up else inspect.cleandoc(cls.__doc__ or "")

    def place(self, cls: type) -> Json:
        """Return file and line of a class."""
        file, node = self.of(cls)
        return {"file": file, "line": node.lineno if node else 0}

    def fields(self, cls: type) -> dict[str, Json]:
        """Return file and line of every field, inherited ones included."""
        found: dict[str, Json] = {}
        for base in reversed(cls.__mro__):
            file, node = self.of(base)
            found |= {name: {"file": file, "line": line} for name, line, _ in _annotated(node)}
        return found

    def texts(self, cls: type) -> list[tuple[str, dict[str, str]]]:
        """Return the docstring of each class in the inheritance, and those below its fields; bases first."""
        own = [base for base in reversed(cls.__mro__) if base is not object]
        below = [{name: text for name, _, text in _annotated(self.of(base)[1]) if text} for base in own]
        return list(zip(map(self.description, own), below, strict=True))


def _classes_in(file: str) -> dict[str, ast.ClassDef]:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib would cost a quarter of the start-up
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    return dict(_named_classes(tree, ""))


def _named_classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from _named_classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _named_classes(child, prefix)


def _annotated(node: ast.ClassDef | None) -> Iterator[tuple[str, int, str]]:
    """Yield name, line and docstring of each field that a class itself declares."""
    body = node.body if node else []
    for statement, below in zip(body, [*body[1:], None], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.lineno, _docstring(below)


def _docstring(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return _cleaned(text, statement.col_offset) if isinstance(text, str) else ""
    return ""


def _cleaned(text: str, column: int) -> str:
    """As inspect.cleandoc, which would take a code block's indentation for the margin where all else is on one line."""
    head, *lines = text.splitlines() or [""]
    if any(line[:column].strip(" ") for line in lines):
        return inspect.cleandoc(text)  # tabs, or a text that starts left of its quotes
    return "\n".join([head.lstrip(), *(line[column:].rstrip() for line in lines)]).strip("\n")


class Reader:
    """Tells what the declarations of this process say; ``structs`` grows with every dataclass met."""

    def __init__(self) -> None:
        self.sources = Sources()
        self.structs: dict[str, Json] = {}
        self.problems: list[Json] = []
        self._owners: dict[str, Any] = {}
        self.depth = 0

    def struct(self, hint: Any) -> str:
        """Read a dataclass, maybe a generic one with its arguments, once, and return its id."""
        from pyopscaffold.api.markers import markers_of  # noqa: PLC0415 - its absence is answered, not raised

        cls: type = get_origin(hint) or hint
        key = f"{cls.__module__}.{cls.__qualname__}" + (repr(list(get_args(hint))) if get_args(hint) else "")
        while self._owners.setdefault(key, hint) != hint:  # classes made by a function, or one defined twice
            key += "'"
        if key not in self.structs:
            self.structs[key] = entry = {"name": cls.__name__, **self.sources.place(cls)}
            entry["texts"] = self.sources.texts(cls)
            entry["attributes"] = [name for name in dir(cls) if not name.startswith("_")]
            entry["fields"] = list(self._fields(cls, hint))
            entry["markers"] = list(_markers(markers_of(cls)))
            for item in markers_of(cls):
                if not _is_marker(item):
                    self._problem(cls, f"mark takes markers, not {item!r}; write one such as Title(...)")
        return key

    def _fields(self, cls: type, hint: Any) -> Iterator[Json]:
        from pyopscaffold.api import introspect  # noqa: PLC0415

        for name in (hidden := _hidden(cls)):
            message = f"it hides the type {name} from the fields beside it; write {name}_, which is {name} in YAML"
            self._problem(cls, message, name)
        if hidden:
            return
        try:
            infos = introspect.fields_of(hint)
        except Exception as error:  # noqa: BLE001 - a default_factory or a hint may raise anything
            for name, fault in list(_unreadable(cls)) or [("", error)]:
                self._problem(cls, _reason(cls, fault), name)
            return
        for name in _init_only(cls):
            self._problem(cls, "it is an InitVar, which no object has; give it a default, or make it a field", name)
        for base, names in _plain_bases(cls):
            message = (
                f"{base.__name__} is no dataclass, so its {names} is no field; put @dataclass(kw_only=True) above it"
            )
            self._problem(cls, message)
        places = self.sources.fields(cls)
        for info in infos:
            place = places.get(info.name) or self.sources.place(cls)
            try:
                yield self._field(cls, info) | place
            except Exception as error:  # noqa: BLE001 - a marker of the user's may raise anything
                self._problem(cls, _reason(cls, error), info.name)

    def _field(self, cls: type, info: Any) -> Json:
        shape = self._shape(info.type)
        return {
            "name": info.name,
            "json_name": info.json_name,
            "type": shape,
            "markers": [*shape.pop("markers", ()), *_markers(info.metadata)],
            "optional": info.optional or bool(shape.pop("optional", False)),
            **self._default(cls, info),
        }

    def _default(self, cls: type, info: Any) -> Json:
        if info.default is dataclasses.MISSING:
            return {"has_default": False, "default": None}
        try:
            default = _strict(_to_json(info.default))
            if not _is_steady(cls, info.name, default):
                self._problem(
                    cls, "its default is another one each time, which no CRD can say; write = None", info.name
                )
        except Exception as error:  # noqa: BLE001 - the default is the user's own value
            message = f"its default can't be written as JSON: {getattr(error, 'message', error)}"
            self._problem(cls, message, info.name)
            default = None
        return {"has_default": True, "default": default}

    def _problem(self, cls: type, message: str, name: str = "") -> None:
        place = self.sources.fields(cls).get(name) or self.sources.place(cls)
        subject = f"{cls.__name__}.{name}" if name else cls.__name__
        self.problems.append({"file": place["file"], "line": place["line"], "subject": subject, "message": message})

    def _hint(self, hint: Any) -> Json:
        from pyopscaffold.api import introspect  # noqa: PLC0415

        plain, metadata, optional = introspect.unwrap(hint)
        shape = self._shape(plain)
        shape["markers"] = [*shape.get("markers", ()), *_markers(metadata)]
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
        name = _path(origin)
        if name in _SCALARS:
            return {"is": "scalar", "kind": _SCALARS[name]}
        if name in _KNOWN:
            return {"is": "known", "name": _KNOWN[name]}
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


def _hidden(cls: Any) -> list[str]:
    """Return the fields whose default stands where hints look for a type: in the class, under the type's name."""
    bare = (dataclasses.MISSING, dataclasses.MISSING)
    given = {name: (field.default, field.default_factory) for name, field in cls.__dataclass_fields__.items()}
    hints = [hint for base in cls.__mro__ for hint in inspect.get_annotations(base).values() if isinstance(hint, str)]
    hiding = [name for name in _BUILTIN if given.get(name, bare) != bare]
    said = {name for hint in hints for name in _names_in(hint)} if hiding else ()
    return [name for name in hiding if name in said]


def _names_in(hint: str) -> Iterator[str]:
    """Yield the names that a hint says; texts in it may hold any word."""
    try:
        tree = ast.parse(hint.strip(), mode="eval")
    except SyntaxError:
        return
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _unreadable(cls: Any) -> Iterator[tuple[str, Exception]]:
    """Yield the fields of which the type hint or the default_factory raises, with what it raises."""
    for base in cls.__mro__:
        known = vars(sys.modules.get(base.__module__, types))
        local = {**vars(base), **{item.__name__: item for item in getattr(base, "__type_params__", ())}}
        for name, hint in inspect.get_annotations(base).items():
            alone = type(base.__name__, (), {"__annotations__": {name: hint}})
            try:
                typing.get_type_hints(alone, known, local, include_extras=True)
            except Exception as error:  # noqa: BLE001 - a hint may raise anything
                yield name, error
    for field in dataclasses.fields(cls):
        try:
            _ = field.default_factory is dataclasses.MISSING or field.default_factory()
        except Exception as error:  # noqa: BLE001 - as above
            yield field.name, error


def _reason(cls: type, error: Exception) -> str:
    """Say why a field can't be read."""
    if not isinstance(error, NameError):
        return f"it can't be read: {type(error).__name__}: {error}"
    from pyopscaffold.api.failures import name_advice  # noqa: PLC0415 - not cheap

    message = f"a type hint says {error.name}, which the module does not define when it runs"
    advice = name_advice(error.name or "", vars(sys.modules[cls.__module__]))
    return f"{message}; {advice or 'import it outside of TYPE_CHECKING'}"


def _is_steady(cls: Any, name: str, default: Any) -> bool:
    """Whether a field's factory gives the same default again; time and chance do not."""
    factory = cls.__dataclass_fields__[name].default_factory
    return isinstance(factory, type) or factory is dataclasses.MISSING or _to_json(factory()) == default


def _plain_bases(cls: type) -> Iterator[tuple[type, str]]:
    """Yield bases that look like dataclasses, with the names that their annotations lose."""
    known = {field.name for field in dataclasses.fields(cls)}
    for base in cls.__mro__[1:]:
        if "__dataclass_fields__" in vars(base):
            continue
        hints = {name: hint for name, hint in inspect.get_annotations(base).items() if name not in known}
        if lost := [name for name, hint in hints.items() if "ClassVar" not in str(hint)]:
            yield base, ", ".join(lost)


def _init_only(cls: Any) -> list[str]:
    """Return the names of a dataclass's InitVars without a default: no object that is read has a value for them."""
    bare = {name: field for name, field in cls.__dataclass_fields__.items() if field.default is dataclasses.MISSING}
    return [name for name, field in bare.items() if repr(getattr(field, "_field_type", "")) == "_FIELD_INITVAR"]


def _unsupported(hint: Any) -> Json:
    dataclass_union = any(dataclasses.is_dataclass(get_origin(part) or part) for part in get_args(hint))
    is_class = isinstance(hint, type) and not get_args(hint)
    text = hint.__qualname__ if is_class else str(hint).replace("typing.", "")
    return {"is": "unsupported", "name": _path(get_origin(hint) or hint), "text": text, "dataclasses": dataclass_union}


def _path(hint: Any) -> str:
    return f"{getattr(hint, '__module__', '')}.{getattr(hint, '__qualname__', getattr(hint, '_name', ''))}"


def _enum_value(value: Any) -> Any:
    value = value.value if isinstance(value, enum.Enum) else value
    return value if isinstance(value, str | int | float | None) else {"repr": repr(value)}


def _is_marker(item: Any) -> bool:
    """Whether this is a marker or, by a slip that is told elsewhere, a marker's class."""
    from annotated_types import BaseMetadata, GroupedMetadata  # noqa: PLC0415

    from pyopscaffold.api.markers import Marker  # noqa: PLC0415

    cls = item if isinstance(item, type) else type(item)
    return issubclass(cls, Marker | BaseMetadata) or isinstance(item, GroupedMetadata)


def _markers(metadata: tuple[Any, ...]) -> Iterator[list[Any]]:
    from annotated_types import GroupedMetadata  # noqa: PLC0415

    from pyopscaffold.api.markers import Marker  # noqa: PLC0415

    def name_of(cls: type) -> str:
        return cls.__name__ if issubclass(cls, Marker) else f"annotated_types.{cls.__name__}"

    for item in metadata:
        cls: Any = type(item)
        if isinstance(item, type):
            if issubclass(item, Marker) or item.__module__ == "annotated_types":
                yield [name_of(item), None, []]
        elif isinstance(item, Marker) or _is_bound(cls):
            given = {field.name: _argument(getattr(item, field.name)) for field in _fields(item)}
            unfit = [name for name, (_, fits) in given.items() if not fits]
            yield [name_of(cls), {name: value for name, (value, _) in given.items()}, unfit]
        elif isinstance(item, GroupedMetadata):
            yield from _markers(_parts(item))


def _parts(group: Any) -> tuple[Any, ...]:
    from annotated_types import Len, MaxLen, MinLen  # noqa: PLC0415

    # Len compares its sizes to see what it is made of, which a text has it fail at; the loader says what is wrong.
    if type(group) is not Len:
        return tuple(group)
    least = (MinLen(group.min_length),) if group.min_length != 0 else ()
    return (*least, MaxLen(group.max_length)) if group.max_length is not None else least


@cache
def _is_bound(cls: Any) -> bool:
    """Whether a class is one of annotated-types that stands for itself; to ask its protocol each time takes long."""
    from annotated_types import GroupedMetadata  # noqa: PLC0415

    return cls.__module__ == "annotated_types" and GroupedMetadata not in cls.__mro__


def _fields(item: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()


def _argument(value: Any) -> tuple[Any, bool]:
    """Return a marker's argument as JSON, and whether JSON can say it; what it can't is shown as it is."""
    try:
        return _strict(_to_json(value)), True
    except Exception:  # noqa: BLE001 - the value is the user's own
        return repr(value), False


def _strict(value: Any) -> Any:
    """Return a value that JSON has, which infinity and lone surrogates are not; raises ValueError for others."""
    if not (value is None or type(value) in {int, bool} or (type(value) is str and value.isascii())):
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def _to_json(value: Any) -> Any:
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if type(value) in {list, tuple}:
        return [_to_json(item) for item in value]
    if type(value) is dict:
        return {_key(name): _to_json(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value):
        from pyopscaffold.api.introspect import fields_of  # noqa: PLC0415

        # As the codec: of metadata, what is empty is left to the server.
        left_out = not_ if _KNOWN.get(_path(type(value))) == "ObjectMeta" else _is_none
        members = [(info, getattr(value, info.name)) for info in fields_of(type(value))]
        return {info.json_name: _to_json(item) for info, item in members if info.keeps_null or not left_out(item)}
    # The codec takes msgspec in, a quarter of the start-up, and only times, bytes and sets need it.
    from pyopscaffold.codec.write import dump  # noqa: PLC0415

    return json.loads(json.dumps(dump(value)))


def _is_none(value: Any) -> bool:
    return value is None


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"the key {name!r} is no text")  # noqa: TRY004 - as all that is no JSON
    return str(name)


def _gvk(gvk: Any) -> Json:
    return {name: getattr(gvk, name) for name in ("group", "version", "kind", "plural", "namespaced")}


def _resource(reader: Reader, cls: Any) -> Json:
    from pyopscaffold.api.resource import declaration_of  # noqa: PLC0415

    declared = declaration_of(cls)
    assert declared is not None  # noqa: S101 - the registry holds declared classes only
    return {**dataclasses.asdict(declared), "struct": reader.struct(cls), "gvk": _gvk(declared.gvk)}


def _controller(cls: Any) -> Json:
    from pyopscaffold.api.declarations import controller_of, gvk_of, rbac_of  # noqa: PLC0415

    declared = controller_of(cls)
    assert declared is not None  # noqa: S101 - the registry holds declared classes only
    own = [base for base in cls.__mro__ if not base.__module__.startswith("pyopscaffold.")]
    return {
        "name": declared.name,
        "class": cls.__name__,
        "resource": _gvk(declared.resource.gvk),
        "owns": [_gvk(gvk_of(kind)) for kind in declared.owns],
        "watches": [_gvk(gvk_of(watch.kind)) for watch in declared.watches],
        "has_status": "status" in declared.resource.__dataclass_fields__,
        "reconciles": any("reconcile" in base.__dict__ for base in own),
        "finalizes": any("finalize" in base.__dict__ for base in own),
        "rbac": [dataclasses.asdict(rule) for rule in rbac_of(cls)],
        "file": declared.file,
        "line": declared.line,
    }


def _unused_rules(cls: type) -> Iterator[Json]:
    from pyopscaffold.api.declarations import controller_of, rbac_of  # noqa: PLC0415

    if controller_of(cls) is None:
        message = f"{cls.__name__} is no reconciler, so the rule grants nothing; put it above a @controller"
        for rule in rbac_of(cls):
            yield {"file": rule.file, "line": rule.line, "subject": "@rbac", "message": message}


def _failures(package: str, root: str) -> list[Json]:
    """Import the project's declarations, and say why modules of it can't be imported."""
    from pyopscaffold.api import discover  # noqa: PLC0415

    try:
        errors = discover.import_each(package)
    except BaseException as error:  # noqa: BLE001 - sys.exit() at a module's top is a failure as any other
        errors = [error]
    if not errors:
        return []
    from pyopscaffold.api.failures import explain  # noqa: PLC0415 - seldom needed, and not cheap

    return [dataclasses.asdict(explain(error, root, package)) for error in errors]


def read(root: str, package: str) -> Json:
    """Import the project's declarations, and describe them or the failure."""
    try:
        import pyopscaffold.api  # noqa: PLC0415
        from pyopscaffold.api.arguments import refusals_kept  # noqa: PLC0415
        from pyopscaffold.api.declarations import declared_controllers, permitted_classes  # noqa: PLC0415
        from pyopscaffold.api.resource import declared_resources, refused_resources  # noqa: PLC0415
        from pyopscaffold.api.webhooks import configuration_names, declared_webhooks, webhooks_of  # noqa: PLC0415
    except ImportError as error:
        return {"runtime_missing": str(error)}
    with refusals_kept() as refused:
        failures = _failures(package, root)
    reader = Reader()
    permitted = () if refused else permitted_classes()  # a refused @controller leaves its class without one
    reader.problems += [found for cls in permitted if _belongs(cls, package) for found in _unused_rules(cls)]
    webhooks = [webhook for cls in declared_webhooks() if _belongs(cls, package) for webhook in webhooks_of(cls)]
    return {
        "package": package,
        "failures": failures,
        "resources": [
            _resource(reader, cls) for cls in declared_resources() if _belongs(cls, package) and _counts(cls)
        ],
        "refused": [reader.struct(cls) for cls in refused_resources() if _belongs(cls, package)],
        "controllers": [_controller(cls) for cls in declared_controllers() if _belongs(cls, package)],
        "webhooks": [dataclasses.asdict(webhook) for webhook in webhooks],
        "webhook_names": dataclasses.asdict(configuration_names(package)),
        "structs": reader.structs,
        "problems": [*map(dataclasses.asdict, refused), *reader.problems],
        "incomplete": bool(failures or refused),
        "version": pyopscaffold.__version__,
    }


def _belongs(cls: type, package: str) -> bool:
    """Whether a class is the project's own, of a module that could be imported; others may be other operators'."""
    own = cls.__module__ == package or cls.__module__.startswith(f"{package}.")
    return own and sys.modules.get(cls.__module__) is not None


def _counts(cls: Any) -> bool:
    """Whether something is generated from a kind; those of others may be large, and are not read."""
    from pyopscaffold.api.resource import declaration_of  # noqa: PLC0415

    declared = declaration_of(cls)
    return declared is not None and not declared.skip


def _end_with_the_caller() -> None:
    """Stop where whoever waits for the answer is gone, however it ended: the project's code may run for ever."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # run by hand
    lifeline = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def watch() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    _thread.start_new_thread(watch, ())


def main(root: str, package: str) -> None:
    """Answer on stdout; whatever the project prints goes to stderr."""
    gc.set_threshold(50_000)  # importing makes much that stays
    answer = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    _end_with_the_caller()
    root = os.path.realpath(root)
    sys.path.insert(0, root)
    json.dump(read(root, package), answer)
    answer.flush()
    # Threads that the project's modules started must not keep the generator waiting.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
