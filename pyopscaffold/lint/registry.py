"""The rules of a run, as a value."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import UsageError
from pyopscaffold.kube.names import nearest
from pyopscaffold.lint.rule import Profile, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Registry:
    """Rules in the order of their ids."""

    rules: tuple[Rule[Any], ...]

    def __iter__(self) -> Iterator[Rule[Any]]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def choose(
        self, *, profile: Profile = Profile.CHECKLIST, select: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> Registry:
        """Take the rules of a profile, or those selected instead, less the ignored ones.

        ``select`` and ``ignore`` hold ids or prefixes of ids; where both match a rule, the longer one counts.

        Raises:
            UsageError: a selector matches no rule.

        """
        for selector in (*select, *ignore):
            self._require(selector)
        return Registry(tuple(rule for rule in self.rules if _chosen(rule, profile, select, ignore)))

    def _require(self, selector: str) -> None:
        if selector and _specificity(selector, [rule.id for rule in self.rules]):
            return
        ids = [rule.id for rule in self.rules]
        near = nearest(selector.upper(), [*ids, *{rule_id[:2] for rule_id in ids}])
        known = ", ".join(ids)
        raise UsageError(f"no rule {selector!r}", hint=f"did you mean {near}?" if near else f"the rules are {known}")


def builtin() -> Registry:
    """Collect the rules that come with the linter: each module below ``lint.rules`` whose name starts with an id."""
    from pyopscaffold.lint import rules  # noqa: PLC0415 - rules import this package's vocabulary

    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
        if not module.ispkg
    )
    return Registry(tuple(sorted((module.RULE for module in modules), key=lambda rule: rule.id)))


def _specificity(selector: str, ids: Sequence[str]) -> int:
    """Give the length of a selector that matches one of the ids, else 0."""
    return len(selector) if any(rule_id.startswith(selector.upper()) for rule_id in ids) else 0


def _chosen(rule: Rule[Any], profile: Profile, select: Sequence[str], ignore: Sequence[str]) -> bool:
    wanted = max((_specificity(selector, [rule.id]) for selector in select), default=0)
    unwanted = max((_specificity(selector, [rule.id]) for selector in ignore), default=0)
    if select:
        return wanted > unwanted
    return rule.profile <= profile and not unwanted
