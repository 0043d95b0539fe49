"""Names of classes, fields and modules, from those in JSON."""

from __future__ import annotations

import builtins
import keyword
import re

from pyopscaffold.kube.names import camel_case, snake_case

_TAKEN = frozenset(
    # The hints of a class are evaluated with its fields in sight, and defaults where they stand.
    {"str", "int", "float", "bool", "bytes", "dict", "list", "field", "datetime", "int32", "int64"}
    # ruff calls it ambiguous
    | {"l"}
)
_PLURAL_MIN = 4
_NO_PLURAL = re.compile(r"(series|ss|us|is|os|as|tls|dns|https|kubernetes)$", re.IGNORECASE)
_SINGULARS = (
    (re.compile(r"(?<=[^aeiou])ies$"), "y"),
    (re.compile(r"(?<=ss|.x|sh|ch)es$(?<!caches)"), ""),
    (re.compile(r"s$"), ""),
)


def field_name(json_name: str, taken: set[str]) -> str:
    """Return a name for a field, unlike those in ``taken``: ``clusterIP`` → ``cluster_ip``, ``from`` → ``from_``."""
    name = re.sub(r"\W", "_", snake_case(json_name), flags=re.ASCII).strip("_")
    if not name or not name[0].isalpha():
        name = f"field_{name}".rstrip("_")
    if keyword.iskeyword(name) or name in _TAKEN:
        name += "_"
    return _distinct(name, taken, "_")


def needs_name(python_name: str, json_name: str) -> bool:
    """Whether ``Name(...)`` must say what camelCase of the field's name does not."""
    return camel_case(python_name) != json_name


def class_part(json_name: str) -> str:
    """Return what a field adds to the name of its class: ``httpGet`` → ``HttpGet``."""
    words = re.findall(r"[A-Za-z0-9]+", json_name)
    return "".join(word[0].upper() + word[1:] for word in words)


def class_name(text: str, taken: set[str]) -> str:
    """Return a name for a class, unlike those in ``taken``."""
    name = class_part(text)
    if not name or not name[0].isalpha() or keyword.iskeyword(name) or hasattr(builtins, name):
        name = f"Type{name}"
    return _distinct(name, taken, "")


def singular(text: str) -> str:
    """Return the name of one item of a list: ``policies`` → ``policy``; the text itself where it may be no plural."""
    if len(text) < _PLURAL_MIN or _NO_PLURAL.search(text):
        return text
    for ending, instead in _SINGULARS:
        if ending.search(text):
            return ending.sub(instead, text)
    return text


def _distinct(name: str, taken: set[str], separator: str) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name.rstrip('_')}{separator}{number}"
    taken.add(found)
    return found
