"""docs/client.md, held to the client it describes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.client.kinds import Kinds

_PAGE = (Path(__file__).parents[4] / "docs" / "client.md").read_text()
_METHODS = [(name, value) for name, value in inspect.getmembers(HttpClient, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize(("name", "method"), [*_METHODS, ("HttpClient", HttpClient)])
def test_every_method_with_its_arguments(name: str, method: object) -> None:
    """The page has each public method, and just the arguments that it takes."""
    parameters = list(inspect.signature(method).parameters.values())  # type: ignore[arg-type]  # all are callables
    names = [parameter.name for parameter in parameters if parameter.name != "self"]
    documented = re.search(rf"`{name}\(([^)]*)\)", _PAGE)
    assert documented is not None
    assert [part for part in documented[1].split(", ") if part not in {"*", ""}] == names


def test_discovery_is_told() -> None:
    """The page has what discovery offers."""
    offered = {name for name, _ in inspect.getmembers(Kinds, inspect.isfunction) if name[0] != "_"} - {"of"}
    assert set(re.findall(r"`discovery\.(\w+)\(", _PAGE)) == offered
