"""Where imported modules go: into a project, as types of its own or of others, or into any folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import read
from pyopscaffold.errors import DocumentError, UsageError
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import Plan, plan
from pyopscaffold.kube.names import is_python_name, snake_case
from pyopscaffold.loader import project as project_file
from pyopscaffold.loader.manifests import load_sources
from pyopscaffold.model.project import Project, ResourceEntry
from pyopscaffold.scaffold.importer.crd import Imported, Note, modules
from pyopscaffold.scaffold.importer.inputs import name_of
from pyopscaffold.scaffold.importer.openapi import module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from pyopscaffold.scaffold.importer.crd import Json


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where to: the root of a project, or with ``project`` None a folder. ``own``: its kinds are the project's own."""

    root: Path
    project: Project | None = None
    own: bool = False
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """The plan, the path of each kind's module, and what the CRDs say beyond it.

    ``refused`` are CRDs that were left out, by name: they have not the form of one.
    """

    plan: Plan
    modules: dict[str, Imported] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of all modules."""
        return tuple(note for item in self.modules.values() for note in item.notes)


def import_crds(crds: Sequence[Json], target: Target, *, report: Callable[[str], object] = lambda _: None) -> Result:
    """Plan the modules of these CRDs; nothing is written. ``report`` hears of each kind before it is worked on.

    Raises:
        UsageError: two kinds would share a module, or a module is there already and there is no ``force``.
        ProjectError: PROJECT is malformed.
        FilesError: something stands in the way.

    """
    made: dict[str, Imported] = {}
    refused: dict[str, str] = {}
    entries: list[ResourceEntry] = []
    for number, crd in enumerate(crds, 1):
        report(f"{number} of {len(crds)}: {crd['spec']['names']['kind']}")
        try:
            found = list(modules(crd, own=target.own))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            what = f"it has not the form that CRDs have: {type(error).__name__}: {error}"
            refused[name_of(crd)] = f"{what}; see what kubectl apply --dry-run=server says of it"
            continue
        for item in found:
            path, entry = _place(item, target)
            if path in made:
                twin, group = made[path].group, item.group
                raise UsageError(f"{path} would be of {twin} and of {group}", hint="import them into several folders")
            made[path] = item
            entries.append(entry)
    artefacts = [Artefact(path, item.text, owner=Owner.USER) for path, item in made.items()]
    artefacts += _packages(made, target)
    if target.project is not None:
        artefacts.append(_record(target.root, entries))
    planned = plan(target.root, artefacts, force=target.force)
    _refuse_existing(planned, made, force=target.force)
    return Result(plan=planned, modules=made, refused=refused)


@dataclass(frozen=True, kw_only=True)
class Types:
    """The plan of one module with the classes of a document, and what of it they do not say."""

    plan: Plan
    classes: int
    notes: tuple[Note, ...]


def import_openapi(source: str, target: Target, *, name: str = "") -> Types:
    """Plan the module of an OpenAPI document or JSON schema; nothing is written. ``name`` is the module's.

    Raises:
        UsageError: the name is no module's, or the module is there already and there is no ``force``.
        DocumentError: the document can't be read, or describes no object.
        FilesError: something stands in the way.

    """
    (text,) = load_sources([source])
    stem = re.sub(r"\W+", "_", snake_case(Path(text.file).stem)).strip("_")
    module = name or (stem if is_python_name(stem) else f"types_{stem}".rstrip("_"))
    if not is_python_name(module) or not module.isascii():
        raise UsageError(f"{module!r} is no name of a Python module", hint="write --name NAME")
    documents = read(text)
    if len(documents) != 1 or not isinstance(documents[0].data, dict):
        raise DocumentError(f"{text.file}: it is no single document with a mapping", hint="is it OpenAPI, or a schema?")
    made = module_of(documents[0].data, name=module, file=text.file)
    folder = f"{target.project.package.replace('.', '/')}/api/" if target.project else ""
    path = f"{folder}{module}.py"
    artefacts = [Artefact(path, made.text, owner=Owner.USER)]
    if target.project is not None:
        artefacts += _packages([path], target)
    planned = plan(target.root, artefacts, force=target.force)
    _refuse_existing(planned, {path}, force=target.force)
    return Types(plan=planned, classes=made.classes, notes=made.notes)


def _place(item: Imported, target: Target) -> tuple[str, ResourceEntry]:
    module = snake_case(item.kind)
    module = module if is_python_name(module) else f"{module}_"
    project = target.project
    entry = _entry(item, project.domain if project else "", own=target.own)
    if project is None:
        return f"{item.version}/{module}.py", entry
    if module != snake_case(item.kind):
        raise UsageError(f"the kind {item.kind} would name the module {module}", hint="write --output-dir FOLDER")
    _check_fit(project, entry, own=target.own)
    return f"{project_file.api_module(project, entry).replace('.', '/')}.py", entry


def _entry(item: Imported, domain: str, *, own: bool) -> ResourceEntry:
    """Return the entry of PROJECT; the group of another's API is what stands before its first dot."""
    if item.group == domain:
        group = ""
    elif domain and item.group.endswith(f".{domain}"):
        group = item.group.removesuffix(f".{domain}")
    else:
        group, _, domain = item.group.partition(".")
    return ResourceEntry(
        group=group,
        domain=domain,
        version=item.version,
        kind=item.kind,
        plural=item.plural,
        namespaced=item.namespaced,
        has_api=own,
        has_controller=False,
        external=not own,
    )


def _check_fit(project: Project, entry: ResourceEntry, *, own: bool) -> None:
    module = project_file.api_module(project, entry)
    for other in project.resources:
        if other.gvk == entry.gvk:
            if other.external == own:
                whose = "another's" if other.external else "the project's own"
                raise UsageError(
                    f"{entry.kind} {entry.version} is recorded as {whose} API",
                    hint="to take it over, remove skip=True from its class and external from PROJECT"
                    if own
                    else "write --own",
                )
            continue
        if project_file.api_module(project, other) == module:
            raise UsageError(
                f"the module {module} is taken by {other.kind} of {other.api_group}",
                hint="write --output-dir FOLDER",
            )
        if own and not other.external and other.api_group != entry.api_group and not project.multigroup:
            raise UsageError(
                f"the project has the group {other.api_group}; it is not laid out for a second one",
                hint="leave --own out, or start projects with several groups by init --multigroup",
            )


def _packages(paths: Iterable[str], target: Target) -> Iterator[Artefact]:
    """Make the missing packages that hold the modules, below the project's own; a bare folder gets one a version."""
    top = target.project.package.replace(".", "/") if target.project else ""
    folders = {folder for path in paths for folder in _above(path)}
    for folder in sorted(folders):
        is_below = folder != top and folder.startswith(f"{top}/" if top else "")
        if is_below and not (target.root / folder / "__init__.py").exists():
            what = "The types of the APIs" if folder == f"{top}/api" else f"Types of {folder.rpartition('/')[2]}"
            yield Artefact(f"{folder}/__init__.py", f'"""{what}."""\n', owner=Owner.USER)


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _record(root: Path, entries: Iterable[ResourceEntry]) -> Artefact:
    text = (root / project_file.FILE).read_bytes().decode()  # with the line ends that it has
    known = {listed.gvk: listed for listed in project_file.parse(text).resources}
    for entry in entries:
        listed = known.get(entry.gvk, entry)
        text = project_file.add_resource(text, replace(entry, has_controller=listed.has_controller))
    return Artefact(project_file.FILE, text, owner=Owner.BOTH)


def _refuse_existing(planned: Plan, made: Container[str], *, force: bool) -> None:
    kept = [change.path for change in planned.kept if change.path in made]
    if kept and not force:
        more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
        raise UsageError(
            f"{kept[0]}{more} is there already, and is yours" if not more else f"{kept[0]}{more} are there already",
            hint="move it away to have it written anew; --force leaves it as it is and writes the others",
        )
