"""Which rules are on: profiles, and selectors as in ruff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import nearest
from pyopscaffold.lint.rule import Profile, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable


ALL_RULES = "lint-crd --profile strict --list-rules"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Rules by profile and by selectors: ids, prefixes of ids, or names.

    ``select`` replaces the profile, ``extend_select`` adds to either, ``ignore`` takes away. Where several match a
    rule, the longest counts, and ``ignore`` wins a draw; a name counts as much as the id.
    """

    profile: Profile = Profile.CHECKLIST
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def selectors(self) -> tuple[str, ...]:
        """All selectors."""
        return (*self.select, *self.extend_select, *self.ignore)

    def holds(self, rule: Rule[Any]) -> bool:
        """Whether the rule is on."""
        return self.adds(rule) or (not self.select and rule.profile <= self.profile and not self.drops(rule))

    def adds(self, rule: Rule[Any]) -> bool:
        """Whether the selectors turn the rule on."""
        return self._weight(rule) > 0

    def drops(self, rule: Rule[Any]) -> bool:
        """Whether the selectors turn the rule off."""
        return self._weight(rule) < 0

    def _weight(self, rule: Rule[Any]) -> int:
        wanted = max((match(selector, rule) for selector in (*self.select, *self.extend_select)), default=0)
        unwanted = max((match(selector, rule) for selector in self.ignore), default=0)
        return wanted if wanted > unwanted else -unwanted


def match(selector: str, rule: Rule[Any]) -> int:
    """Tell how closely a selector names a rule: the letters of the id that it gives, 0 where it is about others."""
    if selector.lower() == rule.name:
        return len(rule.id)
    return len(selector) if rule.id.startswith(selector.upper()) else 0


def mistake(selector: str, rules: Iterable[Rule[Any]]) -> tuple[str, str] | None:
    """Tell what is wrong with a selector that names no rule, and the way out; None where it names one."""
    known = tuple(rules)
    if selector and any(match(selector, rule) for rule in known):
        return None
    ids, names = [rule.id for rule in known], [rule.name for rule in known]
    near = nearest(selector.upper(), [*ids, *{rule_id[:2] for rule_id in ids}]) or nearest(selector.lower(), names)
    return f"no rule {selector!r}", f"did you mean {near}?" if near else f"{ALL_RULES} lists them"
