"""Rules of other distributions, which name them in the entry point group ``pyopscaffold.lint.rules``.

An entry point is a :class:`~pyopscaffold.lint.rule.Rule`, or a list or tuple of them.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import LoadError
from pyopscaffold.lint.registry import Registry
from pyopscaffold.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

GROUP = "pyopscaffold.lint.rules"
_ID = re.compile(r"[A-Z]{2,}[0-9]{2,}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OWN = "pyopscaffold"


def with_plugins(own: Registry) -> Registry:
    """Add the rules of installed distributions.

    Raises:
        LoadError: some can't be loaded, are no rules, or have the id or name of another; it names the distribution.

    """
    if not _there_may_be_some():
        return own
    rules = {rule.id: rule for rule in own}
    names = {rule.name: _OWN for rule in own}
    subjects = {rule.subject for rule in own}
    origins: dict[str, str] = {}
    from importlib.metadata import entry_points  # noqa: PLC0415 - see _there_may_be_some

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_origin(entry), entry.name)):
        origin = _origin(entry)
        for rule in _rules(entry):
            if rule.subject not in subjects:
                raise _refused(origin, f"{rule.id} looks at {rule.subject!r}: take Crd, Version, Manifest or File")
            if rule.id in rules:
                raise _refused(origin, f"{rule.id} is a rule of {origins.get(rule.id, _OWN)} already")
            if rule.name in names:
                raise _refused(origin, f"{rule.name} is a rule of {names[rule.name]} already")
            rules[rule.id], names[rule.name], origins[rule.id] = rule, origin, origin
    return Registry(tuple(rules[rule_id] for rule_id in sorted(rules)), origins=origins)


def _there_may_be_some() -> bool:
    """Look for the group in what is installed, without importlib.metadata: its import takes as long as a small run."""
    return any(_names_group(place or os.curdir) for place in sys.path)


def _names_group(place: str) -> bool:
    try:
        with os.scandir(place) as entries:
            distributions = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except NotADirectoryError:
        return True  # a zip file, or what else an importer knows: let importlib.metadata look
    except OSError:
        return False
    return any(_contains_group(os.path.join(path, "entry_points.txt")) for path in distributions)  # noqa: PTH118


def _contains_group(file: str) -> bool:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - as cheap as can be: there may be hundreds
            return GROUP.encode() in stream.read()
    except OSError:
        return False


def _rules(entry: EntryPoint) -> Iterable[Rule[Any]]:
    """Load what an entry point names."""
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:  # whatever somebody else's module does when it is imported
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise _refused(_origin(entry), f"{entry.value} can't be loaded: {what}") from error
    rules = (loaded,) if isinstance(loaded, Rule) else loaded
    if not isinstance(rules, list | tuple) or not all(isinstance(rule, Rule) for rule in rules):
        raise _refused(_origin(entry), f"{entry.value} is neither a rule nor a list of rules")
    for rule in rules:
        if not _ID.fullmatch(rule.id) or not _NAME.fullmatch(rule.name):
            raise _refused(_origin(entry), f"a rule is called like AC01 and a-name, not {rule.id} and {rule.name}")
    return rules


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


def _refused(origin: str, problem: str) -> LoadError:
    return LoadError(
        f"the lint rules of {origin}: {problem}", hint=f"mend, upgrade or uninstall {origin.split(maxsplit=1)[0]}"
    )
