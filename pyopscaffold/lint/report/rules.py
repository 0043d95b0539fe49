"""A rule for people who ask: what it demands and why, what passes and what does not, and what can be set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.decode import schema
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
        "options": {key: option["default"] for key, option in _options(rule).items()},
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
    if options := _options(rule):
        yield from ("", "## Options", "", "In .lint-crd.toml; this is what holds where nothing is said:", "")
        yield from ("```toml", f"[rules.{rule.id}]")
        for key, option in options.items():
            yield from (f"# {line}" for line in option["description"].splitlines())
            yield f"{key} = {json.dumps(option['default'], ensure_ascii=False)}"
        yield "```"
    yield from ("", "## To let one place be", "", f"    # lint-crd: ignore[{rule.id}] the reason")


def _options(rule: Rule[Any]) -> dict[str, Any]:
    """Describe what can be set: for each key its ``description`` and ``default``."""
    return {} if rule.options is None else schema(type(rule.options), rule.options)["properties"]


def _example(title: str, texts: tuple[str, ...], language: str) -> Iterator[str]:
    for text in filter(None, texts):
        yield from ("", f"## {title}", "", f"```{language}", text.strip("\n"), "```")
