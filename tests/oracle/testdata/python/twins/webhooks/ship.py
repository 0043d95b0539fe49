"""Webhooks for a kind of the project and for others'."""

from pyopscaffold.api import configure_webhooks, mutating_webhook, validating_webhook
from pyopscaffold.kube.builtin import DEPLOYMENT, POD
from twins.api.lifecycle import Ship

configure_webhooks(mutating_name="twins-mutate")


@mutating_webhook(Ship)
@validating_webhook(Ship)
class Usual:
    """All by default."""


@validating_webhook(
    Ship,
    name="z.example.com",
    path="/second",
    operations=["delete"],
    versions=["v1", "v2"],
    resources=["vessels", "vessels/status"],
    failure_policy="ignore",
    match_policy="exact",
    side_effects="none_on_dry_run",
    timeout_seconds=30,
    admission_review_versions=["v1", "v1beta1"],
    service_name="my-service",
    service_namespace="my-namespace",
    service_port=8443,
)
class Second:
    """A name and a service of its own."""


@validating_webhook(
    Ship,
    name="a.example.com",
    path="/first",
    operations=["connect"],
    match_policy="equivalent",
    timeout_seconds=1,
)
class First:
    """Sorts before the others."""


@mutating_webhook(
    Ship,
    groups=["*"],
    versions=["*"],
    resources=["*"],
    operations=["*"],
    name="all.example.com",
    url="https://example.com:9443/hook",
    reinvocation_policy="if_needed",
)
class Elsewhere:
    """Somewhere else, on everything."""


@mutating_webhook(DEPLOYMENT, reinvocation_policy="never")
class Deployments:
    """Another group's kind."""


@validating_webhook(POD, operations=["create"])
class Pods:
    """The core group's kind."""
