"""Manifests as YAML text, in the form that sigs.k8s.io/yaml gives: keys sorted, lists not indented under their key."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.files.plan import GENERATED
from pyopscaffold.generate.block import NeedsThoughtError, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = f"# {GENERATED}\n"

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# YAML 1.1 as Go reads it takes these for booleans or numbers, PyYAML does not and would leave the quotes out.
_AMBIGUOUS = re.compile(r"[yYnN=]|[-+.]?[0-9][0-9A-Za-z_.+:-]*")


class _Dumper(_Base):  # type: ignore[misc]  # the C dumper has no types
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        return True


def _string(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else "'" if _AMBIGUOUS.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _string)


def dump(manifest: Mapping[str, Any], *, sort_keys: bool = True) -> str:
    """Return one YAML document, without header and without ``---``."""
    try:
        return Writer(_scalar, sort_keys=sort_keys).document(dict(manifest))
    except NeedsThoughtError:
        return _by_yaml(manifest, sort_keys=sort_keys)


def _scalar(value: Any) -> str:
    return _text(value) if type(value) is str else _bare(value)


@cache
def _text(text: str) -> str:
    return _bare(text)


def _bare(value: Any) -> str:
    return _by_yaml(value).removesuffix("\n").removesuffix("\n...")


def _by_yaml(value: Any, *, sort_keys: bool = True) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=sort_keys, allow_unicode=True, width=2**20))


def documents(*manifests: Mapping[str, Any]) -> str:
    """Return the text of a file of the tool's: its header, then each manifest as a document of its own."""
    return HEADER + "".join(f"---\n{dump(manifest)}" for manifest in manifests)
