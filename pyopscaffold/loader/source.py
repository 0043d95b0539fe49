"""A project's Python declarations as a model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import annotated_types

from pyopscaffold.api import markers as own_markers
from pyopscaffold.api.declarations import RbacRule
from pyopscaffold.errors import DeclarationError, Problem
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.loader import checks, docstrings, selectors, transitions, versions, webhooks
from pyopscaffold.loader.interpreter import import_failure, relative, start
from pyopscaffold.loader.paths import PathReader
from pyopscaffold.loader.suggest import choose, spell_instead
from pyopscaffold.model.kinds import (
    UNREAD,
    ControllerModel,
    EnumType,
    FieldModel,
    KindModel,
    KnownType,
    ListType,
    MapType,
    ProjectModel,
    ScalarType,
    SourceSpan,
    StructType,
    TypeModel,
)
from pyopscaffold.model.known import is_known
from pyopscaffold.schema import formats

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Json = dict[str, Any]

_INT64 = 2**63


def read(root: Path, package: str, *, python: str = "", namespaced: bool = False) -> ProjectModel:
    """Read the declarations of ``package`` under ``root``, by the project's own interpreter (or ``python``).

    Raises:
        LoadError: a module can't be imported; the message names file and line.
        DeclarationError: declarations are wrong; all problems at once.

    """
    return model_of(root, start(root, package, python=python).answer(), namespaced=namespaced)


def model_of(root: Path, answer: Json, *, namespaced: bool = False) -> ProjectModel:
    """Return the model that a probe's answer describes; ``namespaced`` projects have no rights on cluster-scoped kinds.

    Raises:
        DeclarationError: declarations are wrong; all problems at once.

    """
    return _Reader(root, answer, namespaced=namespaced).model()


class _Reader:
    """Turns the probe's answer into a model, gathering every problem on the way."""

    def __init__(self, root: Path, answer: Json, *, namespaced: bool) -> None:
        self._root = root
        self._namespaced = namespaced
        self._answer = answer
        self._structs: dict[str, StructType] = {}
        self._open: list[str] = []
        self.problems: set[Problem] = set()
        self.warnings: set[Problem] = set()

    def model(self) -> ProjectModel:
        """Return the model.

        Raises:
            DeclarationError: there are problems.

        """
        self.problems.update(
            self._problem(self._span(item), item["subject"], item["message"]) for item in self._answer["problems"]
        )
        kinds = [self._kind(item) for item in self._answer.get("resources", ())]
        controllers = [self._controller(item) for item in self._answer.get("controllers", ())]
        self.problems.update(checks.kinds(kinds))
        self.problems.update(transitions.problems(kinds))
        for ref in self._answer["refused"]:
            self.problems.update(checks.values(self._struct(ref)))
        if not self._answer["incomplete"]:
            self.problems.update(versions.problems(kinds))
            self.problems.update(versions.unconvertible(kinds, {(item.file, item.line) for item in self.problems}))
        asked = webhooks.read(self._root, self._answer.get("webhooks", ()))
        self.problems.update(webhooks.problems(asked))
        findings = checks.controllers(controllers, namespaced=self._namespaced)
        self.problems.update(findings.problems)
        self.warnings.update(findings.warnings)
        self._fail()
        return ProjectModel(
            kinds=tuple(sorted(kinds, key=lambda kind: kind.gvk)),
            controllers=tuple(sorted(controllers, key=lambda item: (item.resource, item.name))),
            webhooks=asked,
            webhook_names=webhooks.names(self._answer),
            warnings=tuple(sorted(self.warnings)),
        )

    def _fail(self) -> None:
        """Tell all that is wrong, if anything is; a module that can't be imported and nothing else in its own form."""
        package = self._answer["package"]
        failures = [import_failure(self._root, package, failure) for failure in self._answer["failures"]]
        nowhere = [failure for failure in failures if not failure.problems]
        if nowhere or (len(failures) == 1 and not self.problems):
            raise (nowhere or failures)[0]
        for failure in failures:
            self.problems.update(
                dataclasses.replace(item, message=f"{item.message}; {failure.hint}") for item in failure.problems
            )
        if self.problems:
            raise DeclarationError(sorted(self.problems))

    def _span(self, item: Json) -> SourceSpan:
        return SourceSpan(relative(self._root, item["file"]), item["line"])

    @staticmethod
    def _problem(span: SourceSpan, subject: str, message: str) -> Problem:
        return Problem(span.file, span.line, subject, message)

    def _report(self, span: SourceSpan, subject: str, message: str) -> None:
        self.problems.add(self._problem(span, subject, message))

    def _kind(self, item: Json) -> KindModel:
        struct = self._struct(item["struct"])
        root = dataclasses.replace(struct, fields=tuple(field for field in struct.fields if field.name != "metadata"))
        for member in struct.fields:
            if member.name == "metadata" and (member.type != KnownType("ObjectMeta") or member.markers):
                message = "it is the ObjectMeta of every object, with no say in the CRD; remove the field"
                self._report(member.span, f"{struct.name}.metadata", message)
        span = self._span(item)
        paths = PathReader(root, lambda message: self._report(span, root.name, message))
        return KindModel(
            gvk=GroupVersionKind(**item["gvk"]),
            singular=item["singular"],
            short_names=tuple(item["short_names"]),
            categories=tuple(item["categories"]),
            columns=tuple(paths.column(column) for column in item["columns"]),
            scale=paths.scale(item["scale"]) if item["scale"] else None,
            root=root,
            served=item["served"],
            storage=item["storage"],
            deprecated=item["deprecated"],
            span=span,
            selectable=tuple("".join(f".{name}" for name in path) for path, _ in selectors.selectable(root)),
            **{name: item[name] for name in ("labels", "annotations", "status_subresource")},
        )

    def _controller(self, item: Json) -> ControllerModel:
        if not item["reconciles"]:
            message = f"{item['class']} has no reconcile; write async def reconcile(self, ctx, obj)"
            self._report(self._span(item), "@controller", message)
        return ControllerModel(
            name=item["name"],
            resource=GroupVersionKind(**item["resource"]),
            owns=tuple(GroupVersionKind(**gvk) for gvk in item["owns"]),
            watches=tuple(GroupVersionKind(**gvk) for gvk in item["watches"]),
            finalizes=item["finalizes"],
            has_status=item["has_status"],
            rbac=tuple(self._rule(rule) for rule in item["rbac"]),
            span=self._span(item),
        )

    def _rule(self, rule: Json) -> RbacRule:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in rule.items()
        }
        values["groups"] = tuple("" if group == "core" else group for group in rule["groups"])
        return RbacRule(**{**values, "file": relative(self._root, rule["file"])})

    def _struct(self, ref: str) -> StructType:
        if ref in self._structs:
            return self._structs[ref]
        item = self._answer["structs"][ref]
        texts = docstrings.field_texts(item["texts"])
        self._open.append(ref)
        fields = tuple(
            self._field(item["name"], self._named(item["name"], field), texts.get(field["name"], ""))
            for field in item["fields"]
        )
        self._open.pop()
        description, described = docstrings.split(self._whole(item["texts"][-1][0], self._span(item), item["name"]))
        struct = StructType(item["name"], description or _doc(item["markers"]), fields, self._span(item))
        names = {member.name for member in fields}
        for name in described.keys() - names - set(item["attributes"]) if names else ():
            message = f"its docstring describes {name}, and there is no such field; {choose(name, names)}"
            self.warnings.add(self._problem(struct.span, struct.name, message))
        markers = self._markers(item["markers"], struct, struct.span, struct.name)
        self.problems.update(checks.json_names(struct))
        self.problems.update(checks.on_class(struct, markers))
        self._structs[ref] = dataclasses.replace(struct, markers=markers)
        return self._structs[ref]

    def _named(self, owner: str, item: Json) -> Json:
        """Return a field whose JSON name is one."""
        if checks.is_text(item["json_name"]) and item["json_name"]:
            return item
        message = f'{item["json_name"]!r} is no JSON name; write Name("...")'
        self._report(self._span(item), f"{owner}.{item['name']}", message)
        return item | {"json_name": item["name"]}

    def _field(self, owner: str, item: Json, text: str) -> FieldModel:
        span, subject = self._span(item), f"{owner}.{item['name']}"
        shape = self._type(item["type"], span, subject)
        field = FieldModel(
            name=item["name"],
            json_name=item["json_name"],
            type=shape,
            span=span,
            markers=self._markers(item["markers"], shape, span, subject),
            optional=item["optional"],
            has_default=item["has_default"],
            default=item["default"],
            description=self._whole(text, span, subject) or _doc(item["markers"]),
        )
        self.problems.update(checks.field(field, subject))
        return field

    def _type(self, item: Json, span: SourceSpan, subject: str) -> TypeModel:  # noqa: PLR0911 - one case a type
        match item["is"]:
            case "scalar":
                return ScalarType(item["kind"])
            case "known" if is_known(item["name"]):
                return KnownType(item["name"])
            case "known":
                message = f"this pyopscaffold knows no {item['name']} of Kubernetes"
                self._report(span, subject, f"{message}; install it in the same version as pyopscaffold-runtime")
            case "enum":
                return self._enum(item["values"], item.get("doc", ""), span, subject)
            case "list":
                return ListType(*self._inner(item["items"], span, f"{subject}[]", "an item of a list"))
            case "map":
                return MapType(*self._inner(item["values"], span, f"{subject}{{}}", "a value of a dict"))
            case "struct" if item["ref"] in self._open:
                name = self._answer["structs"][item["ref"]]["name"]
                message = f"{name} contains itself, which no CRD schema can express; write Any for the inner one"
                self._report(span, subject, message)
            case "struct":
                return self._struct(item["ref"])
            case "unread":
                pass  # the probe has said why
            case _:
                self._report(span, subject, f"the type {item['text']} has no schema; {spell_instead(item)}")
        return UNREAD

    def _whole(self, text: str, span: SourceSpan, subject: str) -> str:
        if not checks.is_text(text):
            message = f"its docstring has half a character, which no file can hold: {text[:60]!r}; write it whole"
            self._report(span, subject, message)
        return text

    def _inner(self, item: Json, span: SourceSpan, subject: str, what: str) -> tuple[TypeModel, tuple[Any, ...]]:
        if item["optional"]:
            self._report(span, subject, f"{what} can't be None; remove it from the type")
        shape = self._type(item, span, subject)
        markers = self._markers(item["markers"], shape, span, subject)
        for marker in markers:
            if isinstance(marker, checks.OF_FIELDS):
                message = f"{type(marker).__name__} is for fields, not for {what}"
                self._report(span, subject, f"{message}; write it around the whole type, or remove it")
        return shape, markers

    def _enum(self, values: Sequence[Any], description: str, span: SourceSpan, subject: str) -> TypeModel:
        self._whole(description, span, subject)
        kinds = {type(value) if checks.is_text(value) or not isinstance(value, str) else None for value in values}
        if wide := [value for value in values if isinstance(value, int) and not -_INT64 <= value < _INT64]:
            self._report(span, subject, f"the value {wide[0]} does not fit into int64; write str for such numbers")
        if len(kinds) == 1 and kinds <= {str, int}:
            return EnumType(tuple(dict.fromkeys(values)), description)
        shown = ", ".join(value["repr"] if isinstance(value, dict) else repr(value) for value in values) or "nothing"
        advice = "write | None behind it" if None in values and len(values) > 1 else "write values of one type"
        self._report(span, subject, f"an enum of {shown} is neither all str nor all int; {advice}")
        return UNREAD

    def _markers(self, items: list[list[Any]], shape: TypeModel, span: SourceSpan, subject: str) -> tuple[Any, ...]:
        found = []
        for qualified, arguments, unfit in items:
            module, _, name = qualified.rpartition(".")
            cls = getattr(annotated_types if module else own_markers, name, None)
            if cls is None or (module and name in checks.WITHOUT_MEANING):
                message = f"{name} has no meaning in a CRD and is left out of it"
                self.warnings.add(self._problem(span, subject, message))
                continue
            if arguments is None:
                self._report(span, subject, f"{name} is the marker's class; write {name}(...)")
                continue
            if (misuse := _misuse(cls, arguments, unfit)) is not None:
                self._report(span, subject, misuse)
                continue
            marker = _revived(cls, arguments)
            if isinstance(marker, own_markers.Format) and marker.name and not formats.is_known(marker.name):
                message = f"the API server knows no format {marker.name}, and takes any value"
                self.warnings.add(self._problem(span, subject, f"{message}; {choose(marker.name, formats.NAMES)}"))
            if isinstance(marker, annotated_types.MultipleOf) and (doubt := checks.fractional(marker)):
                self.warnings.add(self._problem(span, subject, doubt))
            if isinstance(marker, own_markers.ListMap) and isinstance(shape, ListType):
                marker = own_markers.ListMap(*self._keys(marker.keys, shape.items, span, subject))
            if isinstance(marker, checks.CHOICES):
                marker = cls(self._chosen(marker.fields, shape, span, subject))
            found.append(marker)
        return tuple(found)

    def _chosen(self, names: Sequence[str], shape: TypeModel, span: SourceSpan, subject: str) -> tuple[str, ...]:
        """Return the JSON names of the fields that a choice is between."""
        members = checks.members_of(shape)
        for name in names:
            if members and name not in members:
                self._report(span, subject, f"there is no field {name} to choose; {choose(name, members)}")
        return tuple(members[name].json_name for name in names if name in members)

    def _keys(self, keys: tuple[str, ...], items: TypeModel, span: SourceSpan, subject: str) -> list[str]:
        members = checks.members_of(items)
        names = []
        for key in keys:
            member = members.get(key)
            if member is None and members:
                self._report(span, subject, f"there is no field {key} to be a key of the list; {choose(key, members)}")
            elif member is not None and not checks.is_single(member):
                self._report(span, subject, f"the key {key} is no single value; name a field that is")
            elif member is not None and not checks.can_be_key(member):
                message = f"the key {key} can be missing; give it no default, or one that is not None"
                self._report(span, subject, message)
            names.append(member.json_name if member else key)
        return names


def _misuse(cls: Any, arguments: Json, unfit: Sequence[str]) -> str | None:
    """Return what is wrong with a marker's arguments whatever it stands on, None if nothing."""
    if unfit and issubclass(cls, checks.OF_JSON):
        return f"{cls.__name__} has {arguments[unfit[0]]}, which JSON can't say; write what it can"
    if cls is own_markers.Format and not isinstance(arguments["name"], str):
        return f"Format has {arguments['name']!r}, no text; write one in quotes"
    names = arguments["keys" if cls is own_markers.ListMap else "fields"] if cls in checks.OF_NAMES else ()
    if wrong := [item for item in names if not isinstance(item, str)]:
        said = checks.OF_NAMES[cls]
        return f'{said} names fields by texts, not {wrong[0]!r}; write {said}("name")'
    return None


def _doc(markers: list[list[Any]]) -> str:
    return next((arguments["text"] for name, arguments, _ in reversed(markers) if name == "Doc" and arguments), "")


def _revived(cls: Any, arguments: Json) -> Any:
    """Make a marker from its fields; ``__init__`` may take them in another form, as that of ListMap does."""
    marker = cls.__new__(cls)
    for name, value in arguments.items():
        object.__setattr__(
            marker, name, tuple(value) if isinstance(value, list) and cls is own_markers.ListMap else value
        )
    return marker
