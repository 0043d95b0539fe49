"""The rules as they are configured: which check a file, and how much a finding matters."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.config import Config
from pyopscaffold.lint.configcheck import checked_options
from pyopscaffold.lint.derived import RENDERED, origins
from pyopscaffold.lint.evolution import Evolution
from pyopscaffold.lint.globs import matches_field, matches_path
from pyopscaffold.lint.registry import Registry
from pyopscaffold.lint.selection import Selection, match

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.config import FieldSettings
    from pyopscaffold.lint.evolution import Before
    from pyopscaffold.lint.finding import Finding, Severity
    from pyopscaffold.lint.rule import Rule


class FileRules:
    """The rules that check one file; of ``severities``, the first that tell of a rule count."""

    def __init__(
        self, rules: Registry, severities: Sequence[Mapping[str, Severity]], fields: Mapping[str, FieldSettings]
    ) -> None:
        self.rules = rules
        self._severities = severities
        self._fields = fields
        self._rules = {rule.id: rule for rule in rules}

    def judge(self, finding: Finding) -> Finding | None:
        """Give a finding the severity that is configured, or None where its file or field is exempt."""
        rule = self._rules.get(finding.rule)
        if rule is None:
            return None
        severity = next((found for layer in self._severities if (found := _longest(layer, rule))), None)
        for pattern, settings in self._fields.items():
            if _meant(pattern, finding):
                if any(match(selector, rule) for selector in settings.ignore):
                    return None
                severity = _longest(settings.severity, rule) or severity
        return dataclasses.replace(finding, severity=severity) if severity else finding


class Ruleset:
    """All rules that may run, and the configuration that says where; ``before`` are the CRDs as they were earlier.

    Raises:
        UsageError: the configuration names a rule that there is not, or an option can't be.

    """

    def __init__(self, known: Registry, config: Config | None = None, *, before: Before | None = None) -> None:
        self.config = config = config or Config()
        self.before = before or {}
        options = checked_options(config, known)
        self._known = Registry(
            tuple(
                dataclasses.replace(rule, options=options[rule.id]) if rule.id in options else rule for rule in known
            ),
            known.known,
            known.origins,
        )
        self.rules = self._known.chosen(config.selection)
        self._made: dict[tuple[str, ...], FileRules] = {}

    @classmethod
    def of(cls, rules: Registry, *, before: Before | None = None) -> Ruleset:
        """Take just these rules, everywhere."""
        return cls(rules, Config(select=tuple(rule.id for rule in rules) or ("",)), before=before)

    @property
    def known(self) -> tuple[Rule[Any], ...]:
        """All rules, whether they are on or not."""
        return self._known.known

    def can_find(self, rule: Rule[Any]) -> bool:
        """Whether a rule that is on may find something: where nothing is known of before, nothing has changed."""
        return rule.subject is not Evolution or bool(self.before)

    def severity(self, rule: Rule[Any]) -> Severity:
        """Return how much a finding matters that is of no file that is checked."""
        return _longest(self.config.severity, rule) or rule.severity

    def for_file(self, file: str) -> FileRules:
        """Return the rules for a file, by the name under which it was given; what was rendered of it has the same."""
        config = self.config
        path = config.relative(file.removesuffix(RENDERED)) if config.per_path else ""
        patterns = tuple(pattern for pattern in config.per_path if matches_path(pattern, path))
        if patterns not in self._made:
            self._made[patterns] = self._make(patterns)
        return self._made[patterns]

    def by_subject(self, source: Source) -> dict[type, list[Rule[Any]]]:
        """Return the rules for a text, by what they look at: all that check it or a file that it was made of."""
        files = dict.fromkeys((source.file, *(text.file for text in origins(source))))
        found: dict[type, list[Rule[Any]]] = {}
        for rule in {rule.id: rule for file in files for rule in self.for_file(file).rules}.values():
            found.setdefault(rule.subject, []).append(rule)
        return found

    def _make(self, patterns: tuple[str, ...]) -> FileRules:
        chosen, severities = {rule.id for rule in self.rules}, [self.config.severity]
        for pattern in patterns:
            settings = self.config.per_path[pattern]
            layer = Selection(extend_select=settings.extend_select, ignore=settings.ignore)
            chosen |= {rule.id for rule in self._known if layer.adds(rule)}
            chosen -= {rule.id for rule in self._known if layer.drops(rule)}
            severities.insert(0, settings.severity)
        rules = tuple(rule for rule in self._known if rule.id in chosen)
        return FileRules(Registry(rules, self._known.known, self._known.origins), severities, self.config.per_field)


def _longest(severities: Mapping[str, Severity], rule: Rule[Any]) -> Severity | None:
    selector = max(severities, key=lambda key: match(key, rule), default="")
    return severities[selector] if selector and match(selector, rule) else None


def _meant(pattern: str, finding: Finding) -> bool:
    """Whether a pattern such as ``widgets.example.com/v1:.spec.*`` means the place of a finding; each part may lack."""
    head, _, field = ("", "", pattern) if pattern.startswith(".") else pattern.partition(":")
    crd, _, version = head.partition("/")
    if (crd and not matches_field(crd, finding.crd)) or (version and not matches_field(version, finding.version)):
        return False
    return not field or matches_field(field, finding.field)
