"""The webhook configurations, as controller-gen writes them for the marker ``+kubebuilder:webhook``.

They carry no ``caBundle``: whoever holds the certificate fills it in on the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.generate.manifest import documents
from pyopscaffold.kube import selector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.api.webhooks import WebhookDeclaration
    from pyopscaffold.kube.selector import LabelSelector
    from pyopscaffold.model.kinds import ProjectModel

PATH = "config/webhook/manifests.yaml"

_API_VERSION = "admissionregistration.k8s.io/v1"


def artefacts(model: ProjectModel) -> tuple[Artefact, ...]:
    """Return config/webhook/manifests.yaml, where the project has webhooks."""
    names = model.webhook_names
    found = [
        _configuration("Mutating", names.mutating_name, [item for item in model.webhooks if item.mutating]),
        _configuration("Validating", names.validating_name, [item for item in model.webhooks if not item.mutating]),
    ]
    manifests = [manifest for manifest in found if manifest["webhooks"]]
    return (Artefact(PATH, documents(*manifests), owner=Owner.TOOL),) if manifests else ()


def _configuration(what: str, name: str, webhooks: list[WebhookDeclaration]) -> dict[str, Any]:
    return {
        "apiVersion": _API_VERSION,
        "kind": f"{what}WebhookConfiguration",
        "metadata": {"name": name or f"{what.lower()}-webhook-configuration"},
        "webhooks": [dict(_webhook(item)) for item in sorted(webhooks, key=lambda item: item.name)],
    }


def _webhook(item: WebhookDeclaration) -> Iterator[tuple[str, Any]]:
    rule = {
        "apiGroups": list(item.groups),
        "apiVersions": list(item.versions),
        "operations": [operation.upper() for operation in item.operations],
        "resources": list(item.resources),
    }
    yield "name", item.name
    yield "admissionReviewVersions", list(item.admission_review_versions)
    yield "clientConfig", {"url": item.url} if item.url else {"service": _service(item)}
    yield "rules", [rule]
    yield "failurePolicy", _camel(item.failure_policy)
    yield "sideEffects", _camel(item.side_effects)
    if item.match_policy:
        yield "matchPolicy", _camel(item.match_policy)
    if item.reinvocation_policy:
        yield "reinvocationPolicy", _camel(item.reinvocation_policy)
    if item.timeout_seconds is not None:
        yield "timeoutSeconds", item.timeout_seconds
    if item.namespace_selector:
        yield "namespaceSelector", _selector(selector.parse(item.namespace_selector))
    if item.object_selector:
        yield "objectSelector", _selector(selector.parse(item.object_selector))
    if item.match_conditions:
        conditions = item.match_conditions.items()
        yield "matchConditions", [{"name": name, "expression": rule} for name, rule in conditions]


def _service(item: WebhookDeclaration) -> dict[str, Any]:
    service = {"name": item.service_name, "namespace": item.service_namespace, "path": item.path}
    return service if item.service_port is None else {**service, "port": item.service_port}


def _camel(word: str) -> str:
    """``none_on_dry_run`` → ``NoneOnDryRun``."""
    return "".join(part.capitalize() for part in word.split("_"))


def _selector(parsed: LabelSelector) -> dict[str, Any]:
    labels: dict[str, str] = {}
    expressions: list[dict[str, Any]] = []
    for term in parsed.requirements:
        if term.values is None:
            expressions.append({"key": term.key, "operator": "DoesNotExist" if term.negated else "Exists"})
        elif len(term.values) == 1 and not term.negated and term.key not in labels:
            (labels[term.key],) = term.values
        else:
            operator = "NotIn" if term.negated else "In"
            expressions.append({"key": term.key, "operator": operator, "values": sorted(term.values)})
    both = {"matchExpressions": expressions, "matchLabels": labels}
    return {name: value for name, value in both.items() if value}
