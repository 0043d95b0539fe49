"""The PROJECT file: kubebuilder's version 3 format, with what is ours under ``plugins``.

Format: https://book.kubebuilder.io/reference/project-config.html. Keys that we don't know are left alone.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from pyopscaffold.document.editor import append_unique, set_value
from pyopscaffold.errors import ProjectError
from pyopscaffold.kube.names import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_python_name,
    plural_of,
    snake_case,
)
from pyopscaffold.loader import early
from pyopscaffold.model.project import Project, ResourceEntry, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    _Key: TypeAlias = tuple[str, str, str, str]

FILE = early.PROJECT
LAYOUT = "python.pyopscaffold.dev/v1"
"""The layout that our projects have, and the key of our own entries under ``plugins``."""
DEPLOY_IMAGE = "deploy-image.python.pyopscaffold.dev/v1"
"""The key under ``plugins`` of the APIs made for an image; its value has the form of kubebuilder's deploy-image."""

_HEADER = (
    "# What this project was scaffolded from; pyopscaffold reads it and adds to it.\n"
    "# Format: https://book.kubebuilder.io/reference/project-config.html\n"
)


def read(root: Path) -> Project:
    """Read ``root``'s PROJECT.

    Raises:
        ProjectError: the file is missing or malformed; names file and line.

    """
    try:
        text = (root / FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise ProjectError(f"{root / FILE} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProjectError(f"{root / FILE} is not UTF-8 text") from error
    return parse(text)


def parse(text: str) -> Project:
    """Read the text of a PROJECT file.

    Raises:
        ProjectError: it is malformed.

    """
    top = _compose(text)
    if (version := top.string("version")) != "3":
        raise top.error("version", f'version {version!r} is unknown; it is to be "3"')
    layout = [entry.value for entry in top.items("layout")]
    if LAYOUT not in layout:
        raise top.error("layout", f"the project has the layout {', '.join(layout)}, not {LAYOUT}")
    domain, name = top.string("domain"), top.string("projectName")
    plugins = top.mapping("plugins")
    ours = plugins.mapping(LAYOUT)
    workloads = {_key(entry, domain): _workload(entry) for entry in plugins.mapping(DEPLOY_IMAGE).items("resources")}
    package = ours.string("package", default=snake_case(name))
    # They become parts of paths: what leads elsewhere, or nowhere, must not get that far.
    if not is_dns1123_subdomain(domain):
        raise top.error("domain", f"domain {domain!r} is no DNS name in lower case")
    if not is_dns1123_label(name):
        raise top.error("projectName", f"projectName {name!r} is to have lower-case letters, digits and '-' only")
    if not all(map(is_python_name, package.split("."))):
        raise ours.error("package", f"package {package!r} is no name of a Python package")
    longest = ours.string("maxDescription", default="")
    if longest and not longest.isdecimal():
        raise ours.error("maxDescription", f"maxDescription is to be a number of bytes, 0 or more, not {longest}")
    return Project(
        domain=domain,
        name=name,
        package=package,
        image=ours.string("image", default=name),
        cli_version=top.string("cliVersion", default=""),
        multigroup=top.flag("multigroup"),
        namespaced=top.flag("namespaced"),
        max_description=int(longest) if longest else None,
        resources=tuple(_resource(entry, workloads, domain=domain) for entry in top.items("resources")),
    )


def _resource(entry: _Node, workloads: Mapping[_Key, Workload], *, domain: str) -> ResourceEntry:
    kind = entry.string("kind")
    api = entry.mapping("api")
    return ResourceEntry(
        group=entry.string("group", default=""),
        domain=entry.string("domain", default=domain),
        version=entry.string("version"),
        kind=kind,
        plural=entry.string("plural", default=plural_of(kind)),
        namespaced=api.flag("namespaced"),
        has_api=bool(api.present),
        has_controller=entry.flag("controller") or any(True for _ in entry.items("controllers")),
        workload=workloads.get(_key(entry, domain)),
        external=entry.flag("external"),
        line=entry.line + 1,
    )


def _key(entry: _Node, domain: str) -> _Key:
    group, of = entry.string("group", default=""), entry.string("domain", default=domain)
    return group, of, entry.string("version"), entry.string("kind")


def _workload(entry: _Node) -> Workload:
    options = entry.mapping("options")
    user = options.string("runAsUser", default="")
    try:
        return Workload(
            image=options.string("image"),
            ports=tuple(map(int, filter(None, options.string("containerPort", default="").split(",")))),
            command=tuple(shlex.split(options.string("containerCommand", default=""))),
            run_as_user=int(user) if user else None,
        )
    except ValueError as error:
        raise entry.error("options", f"options can't be read: {error}") from error


def dump(project: Project) -> str:
    """Return the text of a new PROJECT file, keys sorted as kubebuilder sorts them."""
    deployed = [_deployed(resource, resource.workload) for resource in project.resources if resource.workload]
    longest = {} if project.max_description is None else {"maxDescription": project.max_description}
    data: dict[str, object] = {
        "cliVersion": project.cli_version,
        "domain": project.domain,
        "layout": [LAYOUT],
        **({"multigroup": True} if project.multigroup else {}),
        **({"namespaced": True} if project.namespaced else {}),
        "plugins": {
            **({DEPLOY_IMAGE: {"resources": deployed}} if deployed else {}),
            LAYOUT: {"image": project.image, **longest, "package": project.package},
        },
        "projectName": project.name,
    }
    if project.resources:
        data["resources"] = [_entry(project, resource) for resource in project.resources]
    return f'{_HEADER}{_yaml(data)}version: "3"\n'


def add_resource(text: str, resource: ResourceEntry) -> str:
    """Return PROJECT's ``text`` with ``resource`` added or, where the API is listed already, what its entry lacks.

    All else (comments, order, quotes) stays.

    Raises:
        ProjectError: the text is malformed.

    """
    project = parse(text)
    known = any(listed.gvk == resource.gvk and listed.workload for listed in project.resources)
    if resource.workload and not known:
        deployed = _deployed(resource, resource.workload)
        text = append_unique(text, ("plugins", DEPLOY_IMAGE, "resources"), deployed, file=FILE)
    entry = _entry(project, resource)
    for index, listed in enumerate(project.resources):
        if listed.gvk == resource.gvk:
            for key, value in entry.items():
                text = set_value(text, ("resources", index, key), value, file=FILE)
            return text
    return append_unique(text, ("resources",), entry, file=FILE)


def api_module(project: Project, resource: ResourceEntry) -> str:
    """Return the dotted name of the module with the API's types: ``my_operator.api.v1.my_database``."""
    group = [group_module(resource)] if project.multigroup else []
    return ".".join([project.package, "api", *group, resource.version, snake_case(resource.kind)])


def controller_module(project: Project, resource: ResourceEntry) -> str:
    """Return the dotted name of the module with the API's reconciler: ``my_operator.controllers.my_database``."""
    group = [group_module(resource)] if project.multigroup else []
    return ".".join([project.package, "controllers", *group, snake_case(resource.kind)])


def group_module(resource: ResourceEntry) -> str:
    """Return the package name that stands for the group where there are several; ``core`` for the bare domain."""
    return resource.group.replace(".", "_").replace("-", "_") or "core"


def _entry(project: Project, resource: ResourceEntry) -> dict[str, object]:
    irregular = resource.plural != plural_of(resource.kind)
    entry: dict[str, object] = {}
    if resource.has_api:
        entry["api"] = {"crdVersion": "v1", **({"namespaced": True} if resource.namespaced else {})}
    if resource.has_controller:
        entry["controller"] = True
    entry["domain"] = resource.domain
    if resource.external:
        entry["external"] = True
    if resource.group:
        entry["group"] = resource.group
    entry["kind"] = resource.kind
    entry["path"] = api_module(project, resource)
    if irregular:
        entry["plural"] = resource.plural
    return {**entry, "version": resource.version}


def _deployed(resource: ResourceEntry, workload: Workload) -> dict[str, object]:
    """Return what kubebuilder's deploy-image plugin would record: its options are texts."""
    options = {
        "containerCommand": shlex.join(workload.command),
        "containerPort": ",".join(map(str, workload.ports)),
        "image": workload.image,
        "runAsUser": str(workload.run_as_user or ""),
    }
    return {
        "domain": resource.domain,
        **({"group": resource.group} if resource.group else {}),
        "kind": resource.kind,
        "options": {name: text for name, text in options.items() if text},
        "version": resource.version,
    }


def _yaml(data: object) -> str:
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=False, width=1000)


@dataclass(frozen=True)
class _Node:
    """A mapping of the file with the place of each key; a missing one is empty."""

    node: yaml.Node | None
    line: int

    @property
    def present(self) -> dict[str, yaml.Node]:
        pairs = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        return {key.value: value for key, value in pairs}

    @property
    def value(self) -> str:
        return self.node.value if isinstance(self.node, yaml.ScalarNode) else ""

    def line_of(self, key: str) -> int:
        """Line (from 0) of the key."""
        pairs = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        return next((name.start_mark.line for name, _ in pairs if name.value == key), self.line)

    def error(self, key: str, message: str) -> ProjectError:
        return ProjectError(f"{FILE}:{self.line_of(key) + 1}: {message}")

    def string(self, key: str, *, default: str | None = None) -> str:
        node = self.present.get(key)
        if node is None and default is not None:
            return default
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.error(key, f"{key} is missing" if node is None else f"{key} is to be a text")
        return str(node.value)

    def flag(self, key: str) -> bool:
        node = self.present.get(key)
        if node is None:
            return False
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
            raise self.error(key, f"{key} is to be true or false")
        return str(node.value).lower() in ("true", "yes", "on")

    def mapping(self, key: str) -> _Node:
        node = self.present.get(key)
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise self.error(key, f"{key} is to be a mapping")
        return _Node(node, self.line_of(key))

    def items(self, key: str) -> Iterator[_Node]:
        node = self.present.get(key)
        if node is not None and not isinstance(node, yaml.SequenceNode):
            raise self.error(key, f"{key} is to be a list")
        for item in node.value if node else ():
            yield _Node(item, item.start_mark.line)


def _compose(text: str) -> _Node:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{FILE}:{mark.line + 1}" if mark else FILE
        raise ProjectError(f"{place}: {error.problem or 'this is no YAML'}") from error
    except yaml.YAMLError as error:
        raise ProjectError(f"{FILE}: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise ProjectError(f"{FILE}: it is nested too deeply") from error
    if not isinstance(node, yaml.MappingNode):
        raise ProjectError(f"{FILE}:1: the file is to hold a mapping with domain, layout, projectName and version")
    _refuse_twins(node)
    return _Node(node, 0)


def _refuse_twins(root: yaml.Node) -> None:
    """Refuse a key that stands twice: the last would win here, and another elsewhere."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in met or isinstance(node, yaml.ScalarNode):
            continue
        met.add(id(node))  # aliases share their nodes, and may contain themselves
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
            continue
        keys: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in keys:
                raise ProjectError(f"{FILE}:{key.start_mark.line + 1}: duplicate key {name!r}")
            keys.add(name)
            waiting.append(value)
