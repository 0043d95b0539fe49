"""``create api``: types, a reconciler and tests of one API, from its options to a plan."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from pyopscaffold.errors import UsageError
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import Plan, plan
from pyopscaffold.kube.names import is_python_name, plural_of, short_name, snake_case
from pyopscaffold.loader import project as project_file
from pyopscaffold.model.project import Project, ResourceEntry
from pyopscaffold.scaffold import checks
from pyopscaffold.scaffold.render import render
from pyopscaffold.scaffold.workload import ImageOptions, template_values, workload, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.model.project import Workload

LINE_LENGTH = 120
"""What the made project's pyproject.toml tells ruff."""

_TEST_MODULES = {"project", "deployment"}
"""What a new project tests already, in tests/ or in e2e/: names that a second module of tests can't have."""


@dataclass(frozen=True, kw_only=True)
class ApiOptions:
    """What ``create api`` was asked for.

    None takes the default: for ``plural``, ``namespaced`` what other versions of the kind have, else the English plural
    and True; for ``controller`` True unless another version of the kind has one.
    """

    group: str
    version: str
    kind: str
    plural: str | None = None
    resource: bool = True
    controller: bool | None = None
    namespaced: bool | None = None
    container: ImageOptions = field(default_factory=ImageOptions)
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class CreatedApi:
    """The plan, and what it adds to the project."""

    resource: ResourceEntry
    plan: Plan


def create_api(root: Path, options: ApiOptions) -> CreatedApi:
    """Plan another API in the project at ``root``; nothing is written.

    Raises:
        UsageError: an option can't be, or does not go with what the project has.
        ProjectError: PROJECT is malformed.
        FilesError: something stands in the way.

    """
    project = project_file.read(root)
    _check_names(project, options)
    resource = _entry(project, options)
    _check_fit(project, resource, options)
    artefacts = [*_code(project, resource, options), _record(root, project, resource)]
    return CreatedApi(resource=resource, plan=plan(root, artefacts, force=options.force))


def _check_names(project: Project, options: ApiOptions) -> None:
    checks.check_group(options.group, domain=project.domain)
    checks.check_version(options.version)
    checks.check_kind(options.kind, with_image=options.container.image is not None)
    if options.plural is not None:
        checks.check_plural(options.plural)
    if not options.resource and options.controller is False:
        raise UsageError("--no-resource and --no-controller together leave nothing to do", hint="leave one of them out")
    if options.container.image is not None and not (options.resource and options.controller is not False):
        left_out = "--no-controller" if options.resource else "--no-resource"
        raise UsageError(
            f"--image makes types and a reconciler that belong together; {left_out} leaves one of them out",
            hint=f"leave out --image or {left_out}",
        )


def _entry(project: Project, options: ApiOptions) -> ResourceEntry:
    versions = _versions(project, options)
    plural, namespaced, controller = options.plural, options.namespaced, options.controller
    if versions:
        plural = plural or versions[0].plural
        namespaced = versions[0].namespaced if namespaced is None else namespaced
    if controller is None:
        controller = not options.resource or not any(
            entry.has_controller and entry.version != options.version for entry in versions
        )
    return ResourceEntry(
        group=options.group,
        domain=project.domain,
        version=options.version,
        kind=options.kind,
        plural=plural or plural_of(options.kind),
        namespaced=True if namespaced is None else namespaced,
        has_api=options.resource,
        has_controller=controller,
        workload=workload(options.container) or _recorded(versions, options.version),
    )


def _recorded(versions: list[ResourceEntry], version: str) -> Workload | None:
    """Give the container that this very version was made for."""
    return next((entry.workload for entry in versions if entry.version == version), None)


def _versions(project: Project, options: ApiOptions) -> list[ResourceEntry]:
    """Return what the project has of this group and kind."""
    return [entry for entry in _own(project) if (entry.group, entry.kind) == (options.group, options.kind)]


def _own(project: Project) -> Iterator[ResourceEntry]:
    """Yield the project's own APIs: the imported ones of others have modules, and nothing else in common with them."""
    return (entry for entry in project.resources if not entry.external)


def _existing(project: Project, resource: ResourceEntry) -> ResourceEntry | None:
    return next((entry for entry in _own(project) if entry.gvk == resource.gvk), None)


def _check_fit(project: Project, resource: ResourceEntry, options: ApiOptions) -> None:
    existing = _existing(project, resource)
    name = f"{resource.api_group}/{resource.version} {resource.kind}"
    if existing is None and not options.resource:
        raise UsageError(
            f"the project has no API {name} to control",
            hint="leave out --no-resource; a controller of this project may watch foreign kinds by owns= and watches=",
        )
    if project.namespaced and resource.has_controller and not resource.namespaced:
        raise UsageError(
            f"{resource.kind} can't be cluster-scoped: the operator of this project watches its own namespace only",
            hint="leave out --cluster, or write --no-controller for the types alone",
        )
    if options.container.image is not None:
        _check_workload(_versions(project, options), resource)
    if existing and not options.force:
        _check_new(existing, resource, name, options)
    _check_versions(_versions(project, options), resource)
    _check_group_module(project, resource)
    _check_others(project, resource)


def _check_new(existing: ResourceEntry, resource: ResourceEntry, name: str, options: ApiOptions) -> None:
    has_both = existing.has_api and existing.has_controller
    if has_both or (options.resource and existing.has_api):
        more = "--force writes its missing files again"
        add = f"--no-resource adds the controller that it lacks; {more}" if not existing.has_controller else more
        raise UsageError(f"the project has the API {name} already", hint=add)
    if resource.has_controller and existing.has_controller:
        raise UsageError(f"the API {name} has a controller already", hint="--no-controller adds the types only")


def _check_workload(versions: list[ResourceEntry], resource: ResourceEntry) -> None:
    """Refuse ``--image`` where the kind was made without one, or for another container."""
    for other in versions:
        if other.version != resource.version or other.workload is None:
            raise UsageError(
                f"the project has the kind {resource.kind} already, in version {other.version}: --image makes new ones",
                hint="leave out --image, or choose another kind",
            )
        if other.workload != resource.workload:
            raise UsageError(
                f"{resource.kind} was made for another container: its image is {other.workload.image}",
                hint=f"edit its reconciler; {project_file.FILE} has what it was made for",
            )


def _check_versions(versions: list[ResourceEntry], resource: ResourceEntry) -> None:
    for other in versions:
        if other.plural != resource.plural:
            raise UsageError(
                f"--plural {resource.plural} differs from {other.plural} of version {other.version}",
                hint="all versions of a kind have one plural; leave --plural out",
            )
        if other.namespaced != resource.namespaced:
            scope = "--namespaced" if other.namespaced else "--cluster"
            raise UsageError(
                f"version {other.version} of {resource.kind} has another scope", hint=f"write {scope}, or leave it out"
            )
        if other.version != resource.version and other.has_controller and resource.has_controller:
            raise UsageError(
                f"{resource.kind} has a controller already, for version {other.version}", hint="write --no-controller"
            )


def _check_group_module(project: Project, resource: ResourceEntry) -> None:
    module = project_file.group_module(resource)
    if project.multigroup and not is_python_name(module):
        raise UsageError(
            f"--group {resource.group!r} would name the Python package {module!r}, which can't be imported",
            hint=f"choose another group, such as --group my-{resource.group}",
        )


def _check_others(project: Project, resource: ResourceEntry) -> None:
    """Refuse what would meet another kind: in a module, in a name, or in a second group."""
    module = project_file.api_module(project, resource)
    names = _names_of_kind(resource.kind)
    for other in project.resources:
        if (other.group, other.kind) == (resource.group, resource.kind) and not other.external:
            continue
        if other.group != resource.group and not project.multigroup and not other.external:
            raise UsageError(
                f"the project has the group {other.api_group}; it is not laid out for a second one",
                hint=f"write --group {shlex.quote(other.group)}, or start another project, by init --multigroup",
            )
        if other.api_group == resource.api_group:
            taken = (*_names_of_kind(other.kind), other.plural)
            if name := next((name for name in (*names, resource.plural) if name in taken), ""):
                hint = "choose another kind" if name in names else "give another by --plural"
                raise UsageError(f"{other.kind} is called {name} too, in the same group", hint=hint)
        if project_file.api_module(project, other) == module:
            raise UsageError(f"the module {module} is taken by the kind {other.kind}", hint="choose another kind")


def _names_of_kind(kind: str) -> tuple[str, ...]:
    """Return what no other kind of the group may be called, besides the plural; see loader.versions."""
    return kind, f"{kind}List", kind.lower()


def _code(project: Project, resource: ResourceEntry, options: ApiOptions) -> Iterator[Artefact]:
    api, controller = project_file.api_module(project, resource), project_file.controller_module(project, resource)
    others = [entry for entry in _versions(project, options) if entry.version != resource.version]
    container = resource.workload or next((entry.workload for entry in others if entry.workload), None)
    values = {
        **_values(project, resource),
        "api_import": _import(api, resource.kind),
        "storage": not others,
        "declared": _declared(project, resource, container),
    }
    if container is None:
        values["test_imports"] = [
            _import(api, resource.kind, f"{resource.kind}Spec"),
            _import(controller, "config_map", "desired", "report"),
        ]
    else:
        values |= {
            **template_values(
                container, variable=f"{snake_case(resource.kind).upper()}_IMAGE", line_length=LINE_LENGTH
            ),
            "test_imports": [_import(api, resource.kind), _import(controller, *_tested(container))],
        }
    template = "api" if container is None else "deploy_image"
    texts = {artefact.path: artefact.text for artefact in render(template, values)}
    if resource.has_api:
        yield _module(api, texts["types.py"])
        yield from _packages(api, resource)
    if resource.has_controller:
        yield _module(controller, texts["controller.py"])
        yield from _packages(controller, resource)
        yield Artefact(_test_path(project, resource), texts["test.py"], owner=Owner.USER)


def _declared(project: Project, resource: ResourceEntry, container: Workload | None) -> str:
    """Write the decorator of a reconciler; with a name of its own where another group has the kind, and the name."""
    children = ["CONFIG_MAP"] if container is None else ["DEPLOYMENT", *(["SERVICE"] if container.ports else [])]
    arguments = [resource.kind, f"owns=[{', '.join(children)}]", "timeout=5.0"]
    if any(other.kind.lower() == resource.kind.lower() and other.group != resource.group for other in _own(project)):
        group = project_file.group_module(resource).replace("_", "-")
        arguments.insert(1, f'name="{group}-{resource.kind.lower()}"')
    return wrapped("@controller(", arguments, ")", line_length=LINE_LENGTH)


def _test_path(project: Project, resource: ResourceEntry) -> str:
    group = f"{project_file.group_module(resource)}_" if project.multigroup else ""
    name = f"{group}{snake_case(resource.kind)}"
    return f"tests/test_{name}_kind.py" if name in _TEST_MODULES else f"tests/test_{name}.py"


def _values(project: Project, resource: ResourceEntry) -> dict[str, object]:
    article = "an" if resource.kind[0] in "AEIO" else "a"
    return {
        "project": asdict(project),
        "api": asdict(resource),
        "api_group": resource.api_group,
        "snake": snake_case(resource.kind),
        "a_kind": f"{article} {resource.kind}",
        "A_kind": f"{article.capitalize()} {resource.kind}",
        "irregular_plural": resource.plural != plural_of(resource.kind),
        "short_name": _short_name(project, resource),
    }


def _short_name(project: Project, resource: ResourceEntry) -> str:
    """Return the short name of a long kind; "" where it is taken: the server serves no CRD with a name of another."""
    others = [entry for entry in project.resources if entry.api_group == resource.api_group]
    taken = {
        name
        for other in others
        if other.kind != resource.kind
        for name in (other.plural, other.kind.lower(), short_name(other.kind, other.plural))
    }
    name = short_name(resource.kind, resource.plural)
    return "" if name in taken else name


def _tested(container: Workload) -> Iterator[str]:
    """Name what the tests import of the reconciler's module, sorted as the linter wants it."""
    yield from ("COMMAND", "IMAGE") if container.command else ("IMAGE",)
    yield from ("changes", "deployment", "report")
    if container.ports:
        yield "service"
    yield from ("stopped", "validate")


def _import(module: str, *names: str) -> str:
    """Write an import as the formatter of the made project would: in one line where it fits."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _module(dotted: str, text: str) -> Artefact:
    return Artefact(dotted.replace(".", "/") + ".py", text, owner=Owner.USER)


def _packages(module: str, resource: ResourceEntry) -> Iterator[Artefact]:
    """Make the packages above a module, below the project's own."""
    top, *parts = module.split(".")[:-1]
    for depth, part in enumerate(parts):
        folder = "/".join([top, *parts[: depth + 1]])
        what = {"api": "The types of the APIs", "controllers": "The reconcilers"}.get(part, f"{resource.api_group}")
        if part == resource.version:
            what = f"Version {part} of {resource.api_group}"
        yield Artefact(f"{folder}/__init__.py", f'"""{what}."""\n', owner=Owner.USER)


def _record(root: Path, project: Project, resource: ResourceEntry) -> Artefact:
    existing = _existing(project, resource)
    if existing:
        has_controller = existing.has_controller or resource.has_controller
        resource = replace(resource, has_api=existing.has_api or resource.has_api, has_controller=has_controller)
    text = (root / project_file.FILE).read_bytes().decode()  # with the line ends that it has
    return Artefact(project_file.FILE, project_file.add_resource(text, resource), owner=Owner.BOTH)
