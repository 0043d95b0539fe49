"""``init``: a whole project, from its options to a plan."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from pyopscaffold import __version__
from pyopscaffold.errors import UsageError
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import Plan, plan
from pyopscaffold.loader import project as project_file
from pyopscaffold.model.project import Project
from pyopscaffold.scaffold import checks
from pyopscaffold.scaffold.render import render, templates_folder
from pyopscaffold.scaffold.sources import uv_sources

if TYPE_CHECKING:
    from pathlib import Path

License = Literal["apache2", "mit", "none"]

_SPDX = {"apache2": "Apache-2.0", "mit": "MIT", "none": ""}
_HARMLESS = {".git", ".venv", ".idea", ".vscode", ".DS_Store"}
"""What a new folder may have in it: nothing that a file of ours could meet."""
_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """What ``init`` was asked for; empty texts take their default."""

    domain: str
    name: str = ""
    image: str = ""
    license: License = "apache2"
    owner: str = ""
    namespaced: bool = False
    multigroup: bool = False
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class Initialised:
    """The plan, and the ``[tool.uv.sources]`` entries that it writes."""

    project: Project
    plan: Plan
    sources: dict[str, str]


def init(root: Path, options: InitOptions) -> Initialised:
    """Plan a new project in ``root``; nothing is written.

    Raises:
        UsageError: an option can't be, or the folder has something in it.
        FilesError: something stands in the way.

    """
    project = _project(root, options)
    _check_folder(root, force=options.force)
    sources = uv_sources(root)
    values = {
        "project": asdict(project),
        "spdx": _SPDX[options.license],
        "versions": version_range(__version__),
        "sources": sources,
    }
    made = [*render("project", values), Artefact(project_file.FILE, project_file.dump(project), owner=Owner.USER)]
    if options.license != "none":
        made.append(_license(options.license, owner=options.owner or f"The {project.name} authors"))
    return Initialised(project=project, plan=plan(root, made, force=options.force), sources=sources)


def version_range(version: str) -> str:
    """``0.1.3`` → ``>=0.1,<0.2``, ``1.4.2`` → ``>=1.4,<2``: releases that promise to fit."""
    major, minor, *_ = map(int, version.split(".")[:2])
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"


def _project(root: Path, options: InitOptions) -> Project:
    checks.check_domain(options.domain)
    name = options.name or root.resolve().name.lower()
    checks.check_project_name(name, option="--project-name" if options.name else "the folder's name")
    image = options.image or name
    checks.check_image(image)
    checks.check_owner(options.owner)
    return Project(
        domain=options.domain,
        name=name,
        package=checks.package_of(name),
        image=image,
        cli_version=__version__,
        multigroup=options.multigroup,
        namespaced=options.namespaced,
    )


def _check_folder(root: Path, *, force: bool) -> None:
    if force or not root.exists():
        return
    if (root / project_file.FILE).exists():
        raise UsageError(
            f"{root} is a project already: it has a {project_file.FILE} file",
            hint="add an API to it: pyopscaffold create api --group GROUP --version v1 --kind KIND",
        )
    found = sorted(path.name for path in root.iterdir() if path.name not in _HARMLESS)
    if found:
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise UsageError(
            f"{root} is not empty: it has {', '.join(found[:_LISTED])}{more}",
            hint="work in an empty folder, or go on with --force: files that are there are kept",
        )


def _license(name: License, *, owner: str) -> Artefact:
    text = (templates_folder() / "licenses" / f"{name}.txt").read_text(encoding="utf-8")
    year = str(dt.datetime.now(tz=dt.UTC).year)
    return Artefact(
        "LICENSE", text.replace("[yyyy]", year).replace("[name of copyright owner]", owner), owner=Owner.USER
    )
