"""What a configuration says of rules, held against the rules that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import UsageError
from pyopscaffold.lint.config import Config, Misfit
from pyopscaffold.lint.selection import match, mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.config import Keys
    from pyopscaffold.lint.registry import Registry
    from pyopscaffold.lint.rule import Rule


def checked_options(config: Config, registry: Registry) -> dict[str, Any]:
    """Return the options of the rules that are configured, by id, as values of the rules' own classes.

    Raises:
        UsageError: the configuration names a rule that there is not, or an option can't be.

    """
    misfits: list[Misfit] = []
    made = options(config, registry, misfits)
    for misfit in (*misfits, *unknown_selectors(config, registry)):
        raise UsageError(f"{dotted(misfit.keys)}: {misfit.message}")
    return made


def unknown_selectors(config: Config, registry: Registry) -> Iterator[Misfit]:
    """Find selectors that name no rule."""
    places: list[tuple[Keys, Any]] = [((), config)]
    places += [(("per-path", glob), settings) for glob, settings in config.per_path.items()]
    places += [(("per-field", glob), settings) for glob, settings in config.per_field.items()]
    for keys, settings in places:
        for key in ("select", "extend-select", "ignore", "severity"):
            for selector in getattr(settings, key.replace("-", "_"), ()):
                if wrong := mistake(selector, registry.known):
                    inner = (selector,) if key == "severity" else ()
                    yield Misfit((*keys, key, *inner), "; ".join(wrong))


def options(config: Config, registry: Registry, misfits: list[Misfit]) -> dict[str, Any]:
    """Make the options of rules; each is a value of the rule's own class."""
    if not config.rules:
        return {}
    from pyopscaffold.lint.decode import decode  # noqa: PLC0415 - imports msgspec, which few runs need

    made = {}
    for key, data in config.rules.items():
        rule = next((rule for rule in registry.known if _is(rule, key)), None)
        if rule is None:
            wrong = mistake(key, (rule for rule in registry.known if rule.options is not None))
            misfits.append(Misfit(("rules", key), "; ".join(wrong or (f"{key!r} is no whole id",))))
        elif rule.options is None:
            misfits.append(Misfit(("rules", key), f"{rule.id} has no options"))
        else:
            made[rule.id] = decode(type(rule.options), data, misfits, ("rules", key), base=rule.options)
    return made


def _is(rule: Rule[Any], key: str) -> bool:
    return match(key, rule) == len(rule.id)


def dotted(keys: Keys) -> str:
    """Spell keys as TOML does."""
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    return ".".join(key if key and not key.strip(plain) else f'"{key}"' for key in keys) or "the table"
