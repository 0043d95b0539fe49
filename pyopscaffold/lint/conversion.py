"""What the API server takes as ``spec.conversion`` of a CRD.

Source: apiextensions-apiserver pkg/apis/apiextensions/validation, and apiserver pkg/util/webhook/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_dns1035_label, is_dns1123_subdomain
from pyopscaffold.kube.urls import parse_url
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.rule import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path
    from pyopscaffold.lint.subject import Crd

_PATH = ("spec", "conversion")
_REVIEWS = ("v1", "v1beta1")
_PORTS = range(1, 65536)


def check(crd: Crd) -> Iterator[Hit]:
    """Yield what is wrong with how the versions are converted."""
    conversion = crd.spec.get("conversion")
    if not isinstance(conversion, dict):
        return
    strategy, webhook = conversion.get("strategy") or "", mapping(conversion.get("webhook"))
    path = (*_PATH, "webhook")
    if strategy not in ("None", "Webhook"):
        yield Hit((*_PATH, "strategy"), f"conversion strategy {strategy!r} is neither None nor Webhook")
    if strategy == "Webhook":
        yield from _client((*path, "clientConfig"), webhook.get("clientConfig"))
        yield from _reviews((*path, "conversionReviewVersions"), listing(webhook.get("conversionReviewVersions")))
        return
    for key in ("clientConfig", "conversionReviewVersions"):
        if webhook.get(key) is not None and webhook[key] != []:
            yield Hit((*path, key), f"conversion has a webhook's {key}, but its strategy is {strategy or 'not set'}")


def _client(path: Path, client: Any) -> Iterator[Hit]:
    if not isinstance(client, dict):
        yield Hit(path, "conversion by webhook has no clientConfig")
        return
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield Hit(path, "clientConfig of the conversion webhook must have exactly one of url and service")
    elif service is not None:
        yield from _service((*path, "service"), mapping(service))
    elif problem := _problem_of_url(text(url)):
        yield Hit((*path, "url"), f"url {url!r} of the conversion webhook {problem}; it must be https://host[/path]")


def _problem_of_url(url: str) -> str:
    parts = parse_url(url)
    if parts is None:
        return "can't be read"
    if parts.scheme != "https":
        return "is not of https"
    if not parts.netloc:
        return "has no host"
    extra = {"user": "@" in parts.netloc, "query": parts.query, "fragment": parts.fragment}
    return next((f"has a {name}" for name, found in extra.items() if found), "")


def _service(path: Path, service: dict[str, Any]) -> Iterator[Hit]:
    for key in ("name", "namespace"):
        if not service.get(key):
            yield Hit((*path, key), f"service of the conversion webhook has no {key}")
    port = service.get("port")
    if port is not None and port not in _PORTS:
        yield Hit((*path, "port"), f"port {port} of the conversion webhook is not from 1 to 65535")
    route = text(service.get("path"))
    if route in ("", "/"):
        return
    if not route.startswith("/"):
        yield Hit((*path, "path"), f"path {route!r} of the conversion webhook must start with /")
    elif not all(map(is_dns1123_subdomain, route[1:].removesuffix("/").split("/"))):
        yield Hit((*path, "path"), f"a part of the conversion webhook's path {route!r} is no DNS-1123 subdomain")


def _reviews(path: Path, versions: list[Any]) -> Iterator[Hit]:
    if not versions:
        yield Hit(path, "conversion by webhook has no conversionReviewVersions")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield Hit((*path, index), f"conversionReviewVersions has {version} twice")
        elif not is_dns1035_label(text(version)):
            yield Hit((*path, index), f"{version!r} in conversionReviewVersions is no DNS-1035 label such as v1")
    if not any(version in _REVIEWS for version in versions):
        yield Hit(path, f"conversionReviewVersions must have {' or '.join(_REVIEWS)}, which the server speaks")
