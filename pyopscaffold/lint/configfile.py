"""Where the configuration is found, and how it is read.

It stands in ``.lint-crd.toml`` or below ``[tool.pyopscaffold.lint-crd]`` of ``pyproject.toml``, in the working
directory or the nearest folder above it that has one.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Problem, SettingsError
from pyopscaffold.kube.names import nearest
from pyopscaffold.lint.config import Config, Misfit
from pyopscaffold.lint.configcheck import dotted, options, unknown_selectors
from pyopscaffold.lint.tomlplaces import line_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.lint.config import Keys
    from pyopscaffold.lint.registry import Registry

FILE = ".lint-crd.toml"
PYPROJECT = "pyproject.toml"
_TABLE: Keys = ("tool", "pyopscaffold", "lint-crd")
_MENTIONED = re.compile(r"tool\.pyopscaffold|lint[-_]crd")


def find(folder: Path) -> Path | None:
    """Return the configuration that counts in a folder: its own, or that of the nearest folder above."""
    for place in (folder, *folder.parents):
        own, project = place / FILE, place / PYPROJECT
        if _is_file(own):
            return own
        if _is_file(project) and _configures(project):
            return project
    return None


def _configures(project: Path) -> bool:
    """Whether a pyproject.toml has the table; a misspelt one is an error."""
    if not _MENTIONED.search(project.read_text("utf-8", "replace")):
        return False  # parsing it takes time, and most have no such table
    text, content = _parsed(project)
    section = _inner(content, _TABLE[:2]) or {}
    for key in section.keys() - {_TABLE[2]}:
        if nearest(key.replace("_", "-"), _TABLE[2:]):
            keys = (*_TABLE[:2], key)
            problem = Problem(str(project), line_of(text, keys), dotted(keys), f"did you mean {_TABLE[2]}?")
            raise SettingsError([problem])
    return _TABLE[2] in section


def read(file: Path, registry: Registry) -> Config:
    """Read a configuration, in a file of any name.

    Raises:
        SettingsError: it can't be read, or something in it can't be; all mistakes are listed, each with its line.

    """
    from pyopscaffold.lint.decode import decode  # noqa: PLC0415 - imports msgspec, which few runs need

    text, content = _parsed(file)
    prefix = _TABLE if file.name == PYPROJECT else ()
    data = _inner(content, prefix)
    if data is None:
        raise SettingsError([], f"{file}: there is no [{'.'.join(_TABLE)}]", hint=f"add it, or name a {FILE}")
    misfits: list[Misfit] = []
    config: Config = decode(Config, data, misfits)
    options(config, registry, misfits)
    if not misfits:
        misfits += unknown_selectors(config, registry)
    if misfits:
        raise SettingsError(
            Problem(str(file), line_of(text, (*prefix, *misfit.keys)), dotted(misfit.keys), misfit.message)
            for misfit in misfits
        )
    return dataclasses.replace(config, _root=file.parent)


def json_schema(registry: Registry) -> dict[str, Any]:
    """Describe ``.lint-crd.toml`` as a JSON schema, with the options of these rules."""
    from pyopscaffold.lint.decode import schema  # noqa: PLC0415

    content = schema(Config, Config())
    by_rule = {
        key: {"description": rule.what, **schema(type(rule.options), rule.options)}
        for rule in registry.known
        if rule.options is not None
        for key in (rule.id, rule.name)
    }
    content["properties"]["rules"] |= {"properties": by_rule, "additionalProperties": {"type": "object"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lint-crd",
        "description": "Settings of pyopscaffold lint-crd, in .lint-crd.toml or [tool.pyopscaffold.lint-crd].",
        **content,
    }


def _is_file(place: Path) -> bool:
    return os.path.isfile(place)  # noqa: PTH113 - Path.is_file raises where a folder above may not be looked into


def _parsed(file: Path) -> tuple[str, dict[str, Any]]:
    import tomllib  # noqa: PLC0415 - only for those who configure

    try:
        text = file.read_text("utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        hint = f"name one that is there, or none: {FILE} and {PYPROJECT} are found" if not _is_file(file) else None
        raise SettingsError([], f"{file}: can't be read: {error.strerror or error}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise SettingsError([], f"{file}: not UTF-8 text", hint="save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([], f"{file}: not readable as TOML: {error}") from error


def _inner(content: dict[str, Any], keys: Keys) -> dict[str, Any] | None:
    """Return the table that keys lead to."""
    inner: Any = content
    for key in keys:
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else None
