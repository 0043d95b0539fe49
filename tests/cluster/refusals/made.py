"""Makes a class of refusal of the few lines that it is about."""

from __future__ import annotations

from typing import Final, NamedTuple

from pyopscaffold.lint.example import crd, spec

WHOLE: Final = crd("spec: {type: object}")


class Refusal(NamedTuple):
    """One class: the rule that finds it, a CRD with the fault and one without."""

    name: str
    rule: str
    bad: str
    good: str


def head(name: str, old: str, bad: str, good: str = "", *, rule: str = "ST04") -> Refusal:
    """Exchange one text of a plain CRD."""
    assert old in WHOLE
    return Refusal(name, rule, WHOLE.replace(old, bad, 1), WHOLE.replace(old, good or old, 1))


def version(name: str, bad: str, good: str = "", *, rule: str = "ST04") -> Refusal:
    """Add lines to the version of a plain CRD."""
    return head(
        name,
        "    served: true\n",
        f"    served: true\n    {bad}\n",
        f"    served: true\n    {good or '{}'}\n".replace("    {}\n", ""),
        rule=rule,
    )


def webhook(name: str, bad: str, good: str) -> Refusal:
    """Give a conversion webhook another clientConfig."""
    how = "strategy: Webhook, webhook: {{conversionReviewVersions: [v1], clientConfig: {{{}}}}}"
    return conversion(name, how.format(bad), how.format(good))


def conversion(name: str, bad: str, good: str) -> Refusal:
    """Give a CRD another conversion."""
    return head(name, "  scope:", f"  conversion: {{{bad}}}\n  scope:", f"  conversion: {{{good}}}\n  scope:")


def root(name: str, bad: str, good: str = "", *, status: bool = True, rule: str = "ST06") -> Refusal:
    """Add a line to the root of the schema; an empty ``good`` adds none."""
    whole = WHOLE if status else crd("spec: {type: object}", extra="")
    line = "        type: object\n"
    return Refusal(
        name, rule, whole.replace(line, f"{line}        {bad}\n", 1), whole.replace(line, f"{line}        {good}\n", 1)
    )


def field(name: str, rule: str, bad: str, good: str) -> Refusal:
    """Give a field of the spec another schema."""
    return Refusal(name, rule, spec(f"a: {{{bad}}}"), spec(f"a: {{{good}}}"))


def properties(name: str, rule: str, bad: str, good: str) -> Refusal:
    """Give the root other properties."""
    return Refusal(name, rule, crd(bad), crd(good))
