"""The webhook configurations follow from the declarations; tests/oracle holds them against controller-gen."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from pyopscaffold import generate
from pyopscaffold.api import mutating_webhook, validating_webhook
from pyopscaffold.api.webhooks import WebhookDeclaration, webhooks_of
from pyopscaffold.files.artefact import Owner
from pyopscaffold.generate import webhook
from pyopscaffold.kube.builtin import DEPLOYMENT
from pyopscaffold.model.kinds import ProjectModel
from pyopscaffold.model.project import Project

PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")


def _declared(**arguments: Any) -> WebhookDeclaration:
    class Hook: ...

    (found,) = webhooks_of(validating_webhook(DEPLOYMENT, **arguments)(Hook))
    return found


def _documents(*webhooks: WebhookDeclaration) -> list[dict[str, Any]]:
    (artefact,) = webhook.artefacts(ProjectModel(kinds=(), controllers=(), webhooks=webhooks))
    assert (artefact.path, artefact.owner) == ("config/webhook/manifests.yaml", Owner.TOOL)
    return list(yaml.safe_load_all(artefact.text))


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("app=web", {"matchLabels": {"app": "web"}}),
        ("app in (web)", {"matchLabels": {"app": "web"}}),
        ("app in (web, api)", {"matchExpressions": [{"key": "app", "operator": "In", "values": ["api", "web"]}]}),
        ("app!=web", {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}),
        (
            "app, !old",
            {"matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "old", "operator": "DoesNotExist"}]},
        ),
        (
            "app=a,app=b",
            {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "app", "operator": "In", "values": ["b"]}]},
        ),
    ],
)
def test_selectors(text: str, selector: dict[str, Any]) -> None:
    """A label selector in text form is written out, none of its terms lost."""
    (document,) = _documents(_declared(object_selector=text))
    assert document["webhooks"][0]["objectSelector"] == selector


def test_only_what_there_is() -> None:
    """Without mutating webhooks there is no configuration of them, and without any no file."""
    (document,) = _documents(_declared())
    assert document["kind"] == "ValidatingWebhookConfiguration"
    assert webhook.artefacts(ProjectModel(kinds=(), controllers=())) == ()


def test_order() -> None:
    """Webhooks are sorted by name, so that the order of declaration does not show."""
    one, two = _declared(name="b.example.com", path="/b"), _declared(name="a.example.com", path="/a")
    assert [item["name"] for item in _documents(one, two)[0]["webhooks"]] == ["a.example.com", "b.example.com"]


def test_gone_with_the_last_webhook() -> None:
    """A project whose last webhook was removed keeps no configuration of it."""

    @mutating_webhook(DEPLOYMENT)
    class Hook: ...

    model = ProjectModel(kinds=(), controllers=(), webhooks=webhooks_of(Hook))
    texts = {item.path: item.text for item in generate.artefacts(model, PROJECT, {})}
    left = generate.artefacts(ProjectModel(kinds=(), controllers=()), PROJECT, texts)
    assert webhook.PATH in texts
    assert webhook.PATH in generate.stale(left, texts)
