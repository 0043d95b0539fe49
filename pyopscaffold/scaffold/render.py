"""Templates to artefacts: copier renders into a temporary folder, from where the files are read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import FilesError
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import GENERATED

if TYPE_CHECKING:
    from collections.abc import Mapping


def templates_folder() -> Path:
    """Return where the templates lie: within the installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "_templates"
    return shipped if shipped.is_dir() else package.parent / "templates"


def render(template: str, values: Mapping[str, Any]) -> tuple[Artefact, ...]:
    """Render all files of a template (``project``, ``api``) with ``values``, sorted by path.

    Files whose header says that they are generated belong to the tool, all others to the user.

    Raises:
        FilesError: there is no room for temporary files.

    """
    from copier import Settings, run_copy  # noqa: PLC0415 - takes a second to import
    from plumbum import local  # noqa: PLC0415 - what copier starts programs with

    try:
        # Without a PATH copier finds no git, which it would start once for every file and which has nothing to do here.
        with tempfile.TemporaryDirectory(prefix="pyopscaffold-") as folder, local.env(PATH=""):
            run_copy(
                str(templates_folder() / template),
                folder,
                data=dict(values),
                settings=Settings(),  # not those of the user's own templates
                defaults=True,
                quiet=True,
                skip_tasks=True,
                overwrite=True,
            )
            root = Path(folder)
            return tuple(_artefact(root, path) for path in sorted(root.rglob("*")) if path.is_file())
    except OSError as error:
        raise FilesError(f"the templates can't be rendered: {error}") from error


def _artefact(root: Path, path: Path) -> Artefact:
    text = path.read_text(encoding="utf-8")
    owner = Owner.TOOL if GENERATED in text.partition("\n")[0] else Owner.USER
    name = path.relative_to(root).as_posix()
    return Artefact(name, text, owner=owner, executable=os.access(path, os.X_OK))
