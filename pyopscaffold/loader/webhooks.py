"""Webhooks as the probe tells of them, and what can be wrong between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.api.webhooks import WebhookConfigurationNames, WebhookDeclaration
from pyopscaffold.errors import Problem
from pyopscaffold.loader.interpreter import relative
from pyopscaffold.model.rules import bad_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Json = dict[str, Any]


def read(root: Path, items: Iterable[Json]) -> tuple[WebhookDeclaration, ...]:
    """Return the webhooks, sorted by name, with files relative to the project's root."""
    found = []
    for item in items:
        values: Json = {name: tuple(value) if isinstance(value, list) else value for name, value in item.items()}
        found.append(WebhookDeclaration(**{**values, "file": relative(root, item["file"])}))
    return tuple(sorted(found, key=lambda item: (item.name, item.mutating, item.file, item.line)))


def names(answer: Json) -> WebhookConfigurationNames:
    """Return the names that the project gives to its webhook configurations."""
    return WebhookConfigurationNames(**answer.get("webhook_names", {}))


def problems(found: Sequence[WebhookDeclaration]) -> Iterator[Problem]:
    """Yield conditions that do not parse, and webhooks that share a path, or a name within their configuration."""
    for item in found:
        yield from _unparsable(item)
    by_name: dict[tuple[bool, str], WebhookDeclaration] = {}
    by_path: dict[str, WebhookDeclaration] = {}
    for item in found:
        first = by_name.setdefault((item.mutating, item.name), item)
        if first is not item:
            yield _problem(item, f'the webhook at {first.file}:{first.line} has the name "{item.name}" too', "name")
            continue
        first = by_path.setdefault(item.path, item) if item.path else item
        if first is not item:
            yield _problem(item, f"the webhook at {first.file}:{first.line} is served at {item.path} too", "path")


def _unparsable(item: WebhookDeclaration) -> Iterator[Problem]:
    for name, expression in item.match_conditions.items():
        from pyopscaffold import cel  # noqa: PLC0415 - few projects have conditions, and it takes time to load

        try:
            bad = bad_pattern(cel.parse(expression))
            message = f"match_conditions: {name} has {bad}"
        except cel.SyntaxFault as fault:
            message = bad = (
                f"match_conditions: {name} does not parse: {fault.message} at {fault.position}; mend it there"
            )
        if bad:
            yield Problem(item.file, item.line, _subject(item), message)


def _problem(item: WebhookDeclaration, message: str, argument: str) -> Problem:
    return Problem(item.file, item.line, _subject(item), f"{message}; write {argument}= on one of them")


def _subject(item: WebhookDeclaration) -> str:
    return "@mutating_webhook" if item.mutating else "@validating_webhook"
