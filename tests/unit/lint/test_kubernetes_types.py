"""What is inside an embedded type of Kubernetes is not its embedder's to change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.registry import builtin
from pyopscaffold.model.known import schema_of
from pyopscaffold.schema import to_mapping


def findings(schema: dict[str, Any]) -> list[str]:
    """Return the rules that have something to say about a field of the spec, beside its own description."""
    text = spec(f"it: {json.dumps({**schema, 'description': 'It.'})}")
    found = lint([Source("x.yaml", text)], builtin().choose()).findings
    return sorted({finding.rule for finding in found if finding.field.startswith(".spec.it")})


@pytest.mark.parametrize(
    "name",
    [
        "core.v1.ServiceSpec",
        "core.v1.PodTemplateSpec",
        "networking.v1.NetworkPolicySpec",
        "networking.v1.IngressSpec",
        "autoscaling.v2.HorizontalPodAutoscalerSpec",
        "rbac.v1.PolicyRule",
    ],
)
def test_embedded_types_are_left_alone(name: str) -> None:
    """Nothing is found in what the API server publishes, with or without kept metadata."""
    for keep in (False, True):
        assert findings(to_mapping(schema_of(f"io.k8s.api.{name}", keep_metadata=keep))) == []


def test_a_type_of_ones_own_is_judged() -> None:
    """A schema with the same fields that says something else is its author's."""
    schema = to_mapping(schema_of("io.k8s.api.core.v1.ServiceSpec"))
    schema["properties"]["externalName"]["maxLength"] = 10
    assert findings(schema) == ["ST12", "VA01"]


def test_a_broken_part_of_a_type_is_no_failure() -> None:
    """What has the names of a published type's fields need not be a schema."""
    schema = to_mapping(schema_of("io.k8s.api.networking.v1.NetworkPolicySpec"))
    schema["properties"]["podSelector"]["properties"] = True
    report = lint([Source("x.yaml", spec(f"it: {json.dumps(schema)}"))], builtin().choose())
    assert report.failures == ()
    assert "ST06" in {finding.rule for finding in report.findings}
