"""The rules of a run, as a value."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import UsageError
from pyopscaffold.lint.rule import Profile, Rule
from pyopscaffold.lint.selection import Selection, mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Registry:
    """Rules in the order of their ids, and ``known``: all that they were chosen from.

    ``origins`` tells of which distribution a rule is, by its id, for those that are not the linter's own.
    """

    rules: tuple[Rule[Any], ...]
    known: tuple[Rule[Any], ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.known:
            object.__setattr__(self, "known", self.rules)

    def __iter__(self) -> Iterator[Rule[Any]]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def choose(
        self,
        *,
        profile: Profile = Profile.CHECKLIST,
        select: Sequence[str] = (),
        extend_select: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> Registry:
        """Take the rules that a :class:`Selection` of these holds.

        Raises:
            UsageError: a selector matches no rule.

        """
        selection = Selection(
            profile=profile, select=tuple(select), extend_select=tuple(extend_select), ignore=tuple(ignore)
        )
        for selector in selection.selectors:
            if wrong := mistake(selector, self.rules):
                raise UsageError(wrong[0], hint=wrong[1])
        return self.chosen(selection)

    def chosen(self, selection: Selection) -> Registry:
        """Take the rules that a selection holds."""
        return Registry(tuple(rule for rule in self.rules if selection.holds(rule)), self.known, self.origins)


def builtin() -> Registry:
    """Collect the rules that come with the linter: each module below ``lint.rules`` whose name starts with an id."""
    from pyopscaffold.lint import rules  # noqa: PLC0415 - rules import this package's vocabulary

    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
        if not module.ispkg
    )
    return Registry(tuple(sorted((module.RULE for module in modules), key=lambda rule: rule.id)))
