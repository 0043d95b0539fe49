from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyopscaffold.api import Conditions, Object, resource
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube import conditions as pure
from pyopscaffold.kube.meta import ObjectMeta
from pyopscaffold.runtime import conditions


@dataclass(kw_only=True)
class ThingStatus:
    """Has conditions."""

    conditions: Conditions = field(default_factory=list)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    """Has a status."""

    status: ThingStatus = field(default_factory=ThingStatus)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Bare(Object):
    """Has none."""


EARLIER = datetime(2026, 1, 1, tzinfo=UTC)
NOW = EARLIER + timedelta(hours=1)


def settled(before: list[Any], after: list[Any]) -> list[tuple[str, datetime | None, int | None]]:
    """Settle and give type, transition time and generation of each."""
    pure.settle(after, before, now=NOW, generation=7)
    return [(item.type, item.last_transition_time, item.observed_generation) for item in after]


def test_set_replaces_the_condition_of_its_type() -> None:
    """There is one condition of each type, in the place where it first stood, for the object's generation."""
    thing = Thing(metadata=ObjectMeta(generation=3))
    conditions.set(thing, "Ready", "False", reason="Starting")
    conditions.set(thing, "Validated", "True", reason="SpecValid")
    conditions.set(thing, "Ready", "True", reason="Started", message="it runs")
    assert [(c.type, c.status, c.reason, c.message, c.observed_generation) for c in thing.status.conditions] == [
        ("Ready", "True", "Started", "it runs", 3),
        ("Validated", "True", "SpecValid", "", 3),
    ]


def test_get_and_remove() -> None:
    """A condition can be read and taken away; that it is absent is no mistake."""
    thing = Thing()
    assert conditions.get(thing, "Ready") is None
    conditions.remove(thing, "Ready")
    conditions.set(thing, "Ready", "True", reason="Started")
    found = conditions.get(thing, "Ready")
    assert found is not None
    assert found.reason == "Started"
    conditions.remove(thing, "Ready")
    assert thing.status.conditions == []


@pytest.mark.parametrize(
    ("type_", "status", "reason", "named"),
    [
        ("Ready", "True", "not one word", "'not one word'"),
        ("Ready", "True", "", "reason ''"),
        ("Ready", "True", "lower", "'lower'"),
        ("ready", "True", "Fine", "type 'ready'"),
        ("Ready", "Yes", "Fine", "status 'Yes'"),
    ],
)
def test_mistakes_are_named(type_: str, status: Any, reason: str, named: str) -> None:
    """What the API conventions forbid is refused, with the wrong value in the message."""
    with pytest.raises(PyopscaffoldError, match=named):
        conditions.set(Thing(), type_, status, reason=reason)


def test_kind_without_conditions_is_named() -> None:
    """Setting a condition where there is no place for it says what to declare."""
    with pytest.raises(PyopscaffoldError, match=r"Bare has no status\.conditions"):
        conditions.set(Bare(), "Ready", "True", reason="Fine")


def test_long_message_is_cut_at_120_characters() -> None:
    """A message is put on one line and cut, and ends in an ellipsis then."""
    message = pure.condition("Ready", "True", reason="Fine", message="word \n" * 100).message
    assert len(message) <= 120
    assert message.startswith("word word")
    assert message.endswith("…")
    assert pure.cut("x" * 120) == "x" * 120
    assert len(pure.cut("x" * 121)) == 120


def test_transition_time_moves_with_the_status_only() -> None:
    """Another reason keeps the time and stamps the generation; another status, or a new condition, moves the time."""
    old = pure.condition("Ready", "True", reason="Old", generation=1)
    old.last_transition_time = EARLIER
    assert settled([old], [pure.condition("Ready", "True", reason="New")]) == [("Ready", EARLIER, 7)]
    assert settled([old], [pure.condition("Ready", "False", reason="Old")]) == [("Ready", NOW, 7)]
    assert settled([], [pure.condition("Ready", "True", reason="Old")]) == [("Ready", NOW, 7)]
    assert settled([old], [pure.condition("Ready", "True", reason="Old", generation=1)]) == [("Ready", EARLIER, 1)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("NotFound", "NotFound"), ("not_found", "NotFound"), ("", "Error"), ("4xx", "Error"), ("über", "Ber")],
)
def test_reason_of_an_error_name(text: str, reason: str) -> None:
    """Whatever an error is called, its condition has a valid reason."""
    assert pure.reason_from(text) == reason


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ({"Database": "True", "Backup": "True"}, ("True", "AllWell", "")),
        ({"Database": "True", "Backup": "True", "Degraded": "False"}, ("True", "AllWell", "")),
        ({"Database": "True", "Backup": "True", "Degraded": "True"}, ("False", "DegradedTrue", "Degraded: it is True")),
        ({"Database": "True", "Backup": "False"}, ("False", "BackupFalse", "Backup: it is False")),
        ({"Database": "Unknown", "Backup": "False"}, ("False", "BackupFalse", "Backup: it is False")),
        ({"Database": "Unknown", "Backup": "True"}, ("Unknown", "DatabaseUnknown", "Database: it is Unknown")),
        ({"Database": "True"}, ("Unknown", "NotReported", "Backup: nobody has reported it yet")),
        (
            {"Database": "False", "Backup": "False"},
            ("False", "DatabaseFalse", "Database: it is False; Backup: it is False"),
        ),
    ],
)
def test_summary_of_others(said: dict[str, Any], summary: tuple[str, str, str]) -> None:
    """What is bad comes before what is unknown; a condition of trouble is well when it is absent."""
    thing = Thing(metadata=ObjectMeta(generation=2))
    for type_, state in said.items():
        conditions.set(thing, type_, state, reason=f"{type_}{state}", message=f"it is {state}")
    made = conditions.summarize(thing, of=["Database", "Backup"], negative=["Degraded"])
    assert (made.type, made.status, made.reason, made.message) == ("Ready", *summary)
    assert conditions.get(thing, "Ready") is made


def test_summary_waits_for_what_others_said_of_an_earlier_generation() -> None:
    """A condition that another writer reported before the spec changed says nothing of it."""
    thing = Thing(metadata=ObjectMeta(generation=1))
    conditions.set(thing, "Database", "True", reason="Runs")
    thing.metadata.generation = 2
    made = conditions.summarize(thing, "Serving", of=["Database"])
    assert (made.type, made.status, made.reason) == ("Serving", "Unknown", "Outdated")


def test_summary_of_nothing_is_a_mistake() -> None:
    """An empty list would say that all is well of anything."""
    with pytest.raises(PyopscaffoldError, match="condition Ready is to summarize others, and none are named"):
        conditions.summarize(Thing(), of=[])
