"""A rule for people who ask: what it demands and why, what passes and what does not, and what can be set."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.example import without_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.rule import Rule


def render(rule: Rule[Any]) -> str:
    """Render one rule as Markdown."""
    return "\n".join(_lines(rule)).rstrip() + "\n"


def to_mapping(rule: Rule[Any]) -> dict[str, Any]:
    """Return one rule as JSON values."""
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": str(rule.severity),
        "profile": rule.profile.name.lower(),
        "what": rule.what,
        "why": rule.why,
        "good": list(rule.good),
        "bad": list(rule.bad),
        "good_class": rule.good_class,
        "bad_class": rule.bad_class,
        "options": dataclasses.asdict(rule.options) if rule.options is not None else {},
    }


def _lines(rule: Rule[Any]) -> Iterator[str]:
    yield f"# {rule.id} {rule.name}"
    yield ""
    yield f"{rule.severity}, profile {rule.profile.name.lower()}"
    yield from ("", rule.what, "", rule.why)
    yield from _example("Not so", tuple(map(without_frame, rule.bad[:1])), "yaml")
    yield from _example("But so", tuple(map(without_frame, rule.good[:1])), "yaml")
    yield from _example("As a class, not so", (rule.bad_class,), "python")
    yield from _example("As a class, but so", (rule.good_class,), "python")
    if rule.options is not None:
        yield from ("", "## Options", "", f"In .lint-crd.toml, under [rules.{rule.id}]:", "")
        yield from (f"- {name} = {value!r}" for name, value in dataclasses.asdict(rule.options).items())
    yield from ("", "## To let one place be", "", f"    # lint-crd: ignore[{rule.id}] the reason")


def _example(title: str, texts: tuple[str, ...], language: str) -> Iterator[str]:
    for text in filter(None, texts):
        yield from ("", f"## {title}", "", f"```{language}", text.strip("\n"), "```")
