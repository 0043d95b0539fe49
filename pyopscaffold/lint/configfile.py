"""Where the configuration is found, and how it is read.

It stands in ``.lint-crd.toml`` or below ``[tool.pyopscaffold.lint-crd]`` of ``pyproject.toml``, in the working
directory or the nearest folder above it that has one.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Problem, SettingsError
from pyopscaffold.lint.config import Config, Misfit
from pyopscaffold.lint.selection import match, mistake
from pyopscaffold.lint.tomlplaces import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.lint.config import Keys
    from pyopscaffold.lint.registry import Registry
    from pyopscaffold.lint.rule import Rule

FILE = ".lint-crd.toml"
PYPROJECT = "pyproject.toml"
_TABLE: Keys = ("tool", "pyopscaffold", "lint-crd")


def find(folder: Path) -> Path | None:
    """Return the configuration that counts in a folder: its own, or that of the nearest folder above."""
    for place in (folder, *folder.parents):
        own, project = place / FILE, place / PYPROJECT
        if _is_file(own):
            return own
        if _is_file(project) and _TABLE[-1] in project.read_text("utf-8", "replace") and _table(_parsed(project)[1]):
            return project
    return None


def read(file: Path, registry: Registry) -> Config:
    """Read a configuration, in a file of any name.

    Raises:
        SettingsError: it can't be read, or something in it can't be; all mistakes are listed, each with its line.

    """
    from pyopscaffold.lint.decode import decode  # noqa: PLC0415 - imports msgspec, which few runs need

    text, content = _parsed(file)
    prefix = _TABLE if file.name == PYPROJECT else ()
    data = _table(content) if prefix else content
    if data is None:
        raise SettingsError([], f"{file}: there is no [{'.'.join(_TABLE)}]", hint=f"add it, or name a {FILE}")
    misfits: list[Misfit] = []
    config: Config = decode(Config, data, misfits)
    options = _options(config, registry, misfits)
    if not misfits:
        misfits += check(config, registry)
    if misfits:
        raise SettingsError(
            Problem(str(file), line_of(text, (*prefix, *misfit.keys)), _dotted(misfit.keys), misfit.message)
            for misfit in misfits
        )
    return dataclasses.replace(config, _root=file.parent, _options=options)


def check(config: Config, registry: Registry) -> Iterator[Misfit]:
    """Find selectors that name no rule."""
    places: list[tuple[Keys, Any]] = [((), config)]
    places += [(("per-path", glob), settings) for glob, settings in config.per_path.items()]
    places += [(("per-field", glob), settings) for glob, settings in config.per_field.items()]
    for keys, settings in places:
        for key in ("select", "extend-select", "ignore", "severity"):
            for selector in getattr(settings, key.replace("-", "_"), ()):
                if wrong := mistake(selector, registry.known):
                    inner = (selector,) if key == "severity" else ()
                    yield Misfit((*keys, key, *inner), "; ".join(wrong))


def json_schema(registry: Registry) -> dict[str, Any]:
    """Describe ``.lint-crd.toml`` as a JSON schema, with the options of these rules."""
    from pyopscaffold.lint.decode import schema  # noqa: PLC0415

    content = schema(Config, Config())
    options = {
        rule.id: {"description": rule.what, **schema(type(rule.options), rule.options)}
        for rule in registry.known
        if rule.options is not None
    }
    content["properties"]["rules"] |= {"properties": options, "additionalProperties": {"type": "object"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lint-crd",
        "description": "Settings of pyopscaffold lint-crd, in .lint-crd.toml or [tool.pyopscaffold.lint-crd].",
        **content,
    }


def _options(config: Config, registry: Registry, misfits: list[Misfit]) -> dict[str, Any]:
    """Make the options of rules; each is a value of the rule's own class."""
    from pyopscaffold.lint.decode import decode  # noqa: PLC0415

    made = {}
    for key, data in config.rules.items():
        rule = next((rule for rule in registry.known if _is(rule, key)), None)
        if rule is None:
            known = [rule for rule in registry.known if rule.options is not None]
            misfits.append(Misfit(("rules", key), "; ".join(mistake(key, known) or (f"{key!r} is no whole id",))))
        elif rule.options is None:
            misfits.append(Misfit(("rules", key), f"{rule.id} has no options"))
        else:
            made[rule.id] = decode(type(rule.options), data, misfits, ("rules", key), base=rule.options)
    return made


def _is_file(place: Path) -> bool:
    return os.path.isfile(place)  # noqa: PTH113 - Path.is_file raises where a folder above may not be looked into


def _is(rule: Rule[Any], key: str) -> bool:
    return match(key, rule) == len(rule.id)


def _parsed(file: Path) -> tuple[str, dict[str, Any]]:
    import tomllib  # noqa: PLC0415 - only for those who configure

    try:
        text = file.read_text("utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise SettingsError([], f"{file}: can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SettingsError([], f"{file}: not UTF-8 text", hint="save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([], f"{file}: not readable as TOML: {error}") from error


def _table(content: dict[str, Any]) -> dict[str, Any] | None:
    inner: Any = content
    for key in _TABLE:
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else None


def _dotted(keys: Keys) -> str:
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    return ".".join(key if key and not key.strip(plain) else f'"{key}"' for key in keys) or "the table"
