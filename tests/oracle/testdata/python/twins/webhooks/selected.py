"""Webhooks for some objects only."""

from pyopscaffold.api import mutating_webhook, validating_webhook
from pyopscaffold.kube.builtin import DEPLOYMENT


@validating_webhook(
    DEPLOYMENT,
    groups=["apps", "batch"],
    resources=["deployments", "jobs"],
    name="some.example.com",
    path="/some",
    namespace_selector="team=sea, tier in (front, back), !old",
    object_selector="kind!=test, owner",
)
class Some:
    """Some namespaces and some objects."""


@mutating_webhook(
    DEPLOYMENT,
    operations=["create"],
    name="conditions.example.com",
    path="/conditions",
    namespace_selector="team=sea",
    match_conditions={
        "not-a-lease": "request.resource.group != 'coordination.k8s.io'",
        "a-person": "!('system:nodes' in request.userInfo.groups)",
    },
)
class Conditions:
    """Conditions in CEL."""
