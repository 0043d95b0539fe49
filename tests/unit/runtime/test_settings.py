"""A ConfigMap's data as a dataclass, and how its mistakes are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal

import pytest

from pyopscaffold.api import Name, Quantity
from pyopscaffold.errors import TenantConfigError
from pyopscaffold.runtime import settings

PLACE = "configmap acme/hello"


class Mode(StrEnum):
    FAST = "fast"


class Level(Enum):
    HIGH = "1"


@dataclass(kw_only=True)
class Limits:
    cpu: Quantity = "1"
    pods: int = 1


@dataclass(kw_only=True)
class Settings:
    name: str = ""
    tone: Literal["plain", "1"] = "plain"
    mode: Mode | None = None
    level: Level = Level.HIGH
    every: timedelta = timedelta(0)
    since: datetime | None = None
    max_replicas: int | None = None
    port: int | str = 0
    on: bool = False
    limits: Limits = field(default_factory=Limits)
    by_zone: dict[str, Limits] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    whole: Annotated[Limits | None, Name("config.yaml")] = None


@dataclass(kw_only=True)
class Needed:
    tier: str
    size: int = 1


def read(data: dict[str, str], cls: type = Settings) -> Any:
    """Read the data of one ConfigMap."""
    return settings.made(cls, [(PLACE, settings.values(cls, data, place=PLACE))])


@pytest.mark.parametrize(
    ("key", "text", "wanted"),
    [
        ("name", "5", "5"),
        ("name", "true", "true"),
        ("tone", "1", "1"),
        ("mode", "fast", Mode.FAST),
        ("level", "1", Level.HIGH),
        ("every", "1m30s", timedelta(seconds=90)),
        ("since", "2024-05-06T07:08:09Z", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("maxReplicas", "5", 5),
        ("maxReplicas", "null", None),
        ("port", "80", 80),
        ("port", "http", "http"),
        ("on", "true", True),
        ("limits", "cpu: 500m\npods: 3\n", Limits(cpu="500m", pods=3)),
        ("limits", '{"pods": 4}', Limits(pods=4)),
        ("byZone", "a: {pods: 2}", {"a": Limits(pods=2)}),
        ("names", "[a, b]", ["a", "b"]),
        ("config.yaml", "pods: 7", Limits(pods=7)),
    ],
)
def test_texts_become_values(key: str, text: str, wanted: Any) -> None:
    """What is a text in Python is taken as it stands, all else is JSON or YAML."""
    field_name = {"maxReplicas": "max_replicas", "byZone": "by_zone", "config.yaml": "whole"}.get(key, key)
    assert getattr(read({key: text}), field_name) == wanted


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("max_replicas", "5", "max_replicas: there is no such key; did you mean maxReplicas?"),
        ("zzz", "5", "zzz: there is no such key: name, tone,"),
        ("maxReplicas", '"5"', "maxReplicas: Expected `int | null`, got `str`"),
        ("tone", "loud", "tone: Invalid enum value 'loud'"),
        ("every", "soon", "every: "),
        ("limits", "pods: [1]", "limits.pods: Expected `int | null`, got `array`"),
        ("limits", "a: [", "limits: is no YAML: "),
        ("limits", "[" * 5000, "limits: is no YAML: "),
        ("limits", "? [a, b]\n: 1", "limits: is no YAML: "),
        ("limits", "a: &a [1]\nb: *a", "limits: has an alias"),
        ("limits", "# " + "x" * 20_000 + "\npods: 1", "limits: more than 16 KiB of YAML; write it as JSON"),
        ("byZone", "a.b: {pods: x}", "byZone['a.b'].pods: Expected"),
        ("names", "- a\n- 1", "names[1]: Expected `str`, got `int`"),
        ("config.yaml", "pods: x", "config.yaml.pods: Expected"),
    ],
)
def test_mistakes_name_their_place(key: str, text: str, message: str) -> None:
    """What is wrong is told with the ConfigMap, the key and the path below it."""
    with pytest.raises(TenantConfigError) as caught:
        read({key: text})
    assert str(caught.value).startswith(f"{PLACE}: {message}")


def test_what_is_needed() -> None:
    """A field without default is needed, and its place is told."""
    with pytest.raises(TenantConfigError, match="configmap acme/hello: tier: required, but missing"):
        read({"size": "3"}, Needed)


def test_large_json() -> None:
    """JSON may be as large as a ConfigMap is."""
    assert len(read({"names": str(["x"] * 100_000).replace("'", '"')}).names) == 100_000


def test_later_ones_win() -> None:
    """Of several ConfigMaps each key is the last one's, and a mistake in it is told as that one's."""
    own = (PLACE, settings.values(Needed, {"tier": "a", "size": "1"}, place=PLACE))
    other = "configmap admin/hello-override"
    over = settings.values(Needed, {"size": "2"}, place=other)
    assert settings.made(Needed, [own, (other, over)]) == Needed(tier="a", size=2)
    with pytest.raises(TenantConfigError, match=f"{other}: size: Expected"):
        settings.made(Needed, [own, (other, settings.values(Needed, {"size": "x"}, place=other))])
