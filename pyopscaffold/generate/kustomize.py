"""The kustomizations that list generated files, kept in step with what there is.

The files are the user's too: other entries, comments and order stay, by round-trip edits. An entry that the user has
commented out stays out, and a kustomization that the user has deleted is not made again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.document.editor import append_unique, get_value, remove_value
from pyopscaffold.errors import DocumentError
from pyopscaffold.files.artefact import Artefact, Owner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.model.kinds import ProjectModel
    from pyopscaffold.model.project import Project

_KEY = ("resources",)


@dataclass(frozen=True)
class _Listing:
    """A folder whose kustomization lists each file with a name of the given form, relative to the folder."""

    folder: str
    form: re.Pattern[str]

    @property
    def path(self) -> str:
        return f"{self.folder}/kustomization.yaml"

    def files(self, present: Mapping[str, str]) -> list[str]:
        names = (path.removeprefix(f"{self.folder}/") for path in present if path.startswith(f"{self.folder}/"))
        return sorted(name for name in names if self.form.fullmatch(name))


_LISTINGS = (
    _Listing("config/crd", re.compile(r"bases/[^/]+\.yaml")),
    _Listing("config/rbac", re.compile(r"role\.yaml|[^/]+_(admin|editor|viewer)_role\.yaml")),
    _Listing("config/samples", re.compile(r"([^/_]+_)?v[0-9][a-z0-9]*_[a-z0-9]+\.yaml")),
)


def artefacts(model: ProjectModel, project: Project, present: Mapping[str, str]) -> tuple[Artefact, ...]:  # noqa: ARG001 - the signature that all generators have
    """Return ``config/{crd,rbac,samples}/kustomization.yaml``, where there, with their lists brought up to date.

    ``present`` maps the path of each file below ``config/`` to its text, as it will be once the other generators'
    artefacts are written and stale ones deleted.

    Raises:
        DocumentError: a kustomization is no YAML document, or its ``resources`` is no list.

    """
    return tuple(
        Artefact(listing.path, _updated(listing, present), owner=Owner.BOTH)
        for listing in _LISTINGS
        if listing.path in present
    )


def _updated(listing: _Listing, present: Mapping[str, str]) -> str:
    text, files = present[listing.path], listing.files(present)
    entries = _entries(text)
    gone = [entry for entry in entries if listing.form.fullmatch(entry) and entry not in files]
    fresh = [name for name in files if name not in entries and not _commented_out(text, name)]
    if not gone and not fresh:
        return text
    for name in fresh:
        text = append_unique(text, _KEY, name, file=listing.path)
    for name in gone:
        text = remove_value(text, _KEY, name, file=listing.path)
    return text


def _commented_out(text: str, name: str) -> bool:
    return re.search(rf"^\s*#\s*-\s+{re.escape(name)}\s*$", text, re.MULTILINE) is not None


def _entries(text: str) -> list[str]:
    """Give the strings listed; none where the text is malformed, of which the editor complains in its own words."""
    try:
        listed = get_value(text, _KEY)
    except DocumentError:
        return []
    return [entry for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []
