"""What the linter says a server refuses, a real server refuses; what it calls good or merely unwise, it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.document.reader import Source, read
from pyopscaffold.errors import BadRequest, Invalid, NotFound
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.subject import CRD_KIND

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from pyopscaffold.testing import RestClient

REFUSED = {rule.id for rule in builtin().choose(profile=Profile.APISERVER)}
CRDS = "/apis/{api_version}/customresourcedefinitions?dryRun=All&fieldValidation=Strict"


def examples(*, refused: bool) -> list[ParameterSet]:
    """Give the rules' examples that are CRDs: those that a server refuses, or all others."""
    found = []
    for rule in builtin():
        bad_is_refused = rule.id in REFUSED
        texts = [("good", text) for text in rule.good if not refused]
        texts += [("bad", text) for text in rule.bad if bad_is_refused is refused]
        found += [
            pytest.param(text, id=f"{rule.id}-{side}-{number}")
            for number, (side, text) in enumerate(texts)
            if CRD_KIND in text
        ]
    return found


def create(client: RestClient, text: str) -> None:
    """Ask the server to create the CRD, and not to keep it."""
    (document,) = read(Source("example.yaml", text))
    client.create(CRDS.format(api_version=document.data["apiVersion"]), document.data)


@pytest.mark.parametrize("text", examples(refused=True))
def test_server_refuses(admin: RestClient, text: str) -> None:
    """An error of the apiserver profile is one: the server says no."""
    with pytest.raises((Invalid, BadRequest, NotFound)):
        create(admin, text)


@pytest.mark.parametrize("text", examples(refused=False))
def test_server_takes(admin: RestClient, text: str) -> None:
    """Good examples are good, and the bad ones of design rules are what only a linter catches."""
    create(admin, text)
