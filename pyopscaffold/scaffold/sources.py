"""Where the running tool was installed from, for a made project's ``[tool.uv.sources]``.

A tool from an index needs no entry. One from a checkout, a wheel file or a repository does, since no index may have
that version. Format of the record: https://packaging.python.org/en/latest/specifications/direct-url/.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

TOOL, RUNTIME = "pyopscaffold", "pyopscaffold-runtime"


def uv_sources(project: Path) -> dict[str, str]:
    """Return distribution → the TOML value of its source; empty where both came from an index."""
    checkout = _checkout()
    places = {TOOL: checkout, RUNTIME: checkout / "runtime"} if checkout else {}
    entries = {name: _from_record(name, project) or _from_folder(places.get(name), project) for name in (TOOL, RUNTIME)}
    return {name: entry for name, entry in entries.items() if entry}


def _checkout() -> Path | None:
    """Return the top of the source tree that this very file is in, unless it was installed."""
    top = Path(__file__).resolve().parent.parent.parent
    return top if (top / "pyproject.toml").is_file() and (top / "runtime/pyproject.toml").is_file() else None


def _from_record(name: str, project: Path) -> str:
    try:
        text = importlib.metadata.distribution(name).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return ""
    record: dict[str, Any] = json.loads(text) if text else {}
    url = record.get("url", "")
    if git := record.get("vcs_info"):
        entry = {"git": url, "rev": git["commit_id"], "subdirectory": record.get("subdirectory")}
        return _table({key: value for key, value in entry.items() if value})
    if not url.startswith("file:"):
        return _table({"url": url}) if url else ""
    path = Path(urllib.request.url2pathname(urllib.parse.urlsplit(url).path))
    return _from_folder(path, project) if path.is_dir() else _table({"path": _spelling(path, project)})


def _from_folder(folder: Path | None, project: Path) -> str:
    return _table({"path": _spelling(folder, project), "editable": True}) if folder else ""


def _spelling(place: Path, project: Path) -> str:
    """Relative within one repository, so that a clone elsewhere still works; absolute otherwise."""
    repository = _repository(place)
    if repository and repository == _repository(project):
        return Path(os.path.relpath(place, project)).as_posix()
    return place.as_posix()


def _repository(path: Path) -> Path | None:
    resolved = path.resolve()
    return next((folder for folder in (resolved, *resolved.parents) if (folder / ".git").exists()), None)


def _table(entry: dict[str, Any]) -> str:
    """Write an inline TOML table; JSON's strings and booleans are TOML's too."""
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items()) + " }"
