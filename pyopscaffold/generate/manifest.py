"""Manifests as YAML text, in the form that sigs.k8s.io/yaml gives: keys sorted, lists not indented under their key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.files.plan import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    return str(yaml.dump(manifest, Dumper=_Dumper, sort_keys=sort_keys, allow_unicode=True, width=2**20))


def dump_each(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what :func:`dump` says of each, in a third of the time."""
    text = yaml.dump_all(manifests, Dumper=_Dumper, explicit_start=True, allow_unicode=True, width=2**20)
    # Nothing else starts a line like this: what a text says is indented, a key would be in quotes.
    return re.split(r"^---(?: |\n)", str(text), flags=re.MULTILINE)[1:]


def documents(*manifests: Mapping[str, Any]) -> str:
    """Return the text of a file of the tool's: its header, then each manifest as a document of its own."""
    return HEADER + "".join(f"---\n{dump(manifest)}" for manifest in manifests)
