"""The proxy on the way to the server: ``proxy-url``, else the environment, by the rules of Go's HTTP client.

https://pkg.go.dev/golang.org/x/net/http/httpproxy
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyopscaffold.errors import KubeconfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv6Address

_PORTS = {"http": 80, "https": 443}


def checked_proxy(url: str, what: str) -> str:
    """Return the URL of a proxy if it is one we can use ('' is none); raises KubeconfigError, which names ``what``."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme, parts.hostname
    except ValueError:
        scheme = host = ""
    if scheme.startswith("socks"):
        raise KubeconfigError(
            f"{what} is a SOCKS proxy, which is not supported", hint="use an HTTP proxy (http:// or https://)"
        )
    if scheme not in _PORTS or not host:
        raise KubeconfigError(f"{what} is no URL of an HTTP proxy", hint="such as http://proxy.example.com:3128")
    return url


def proxy_from_environment(server: str, environment: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a server's URL, '' for none; raises KubeconfigError where it is unusable."""
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    found = _variable(environment, name)
    host = (parts.hostname or "").lower()
    if not found or _is_local(host):
        return ""
    port = parts.port or _PORTS.get(parts.scheme, 0)
    if any(_excludes(rule.strip().lower(), host, port) for rule in _variable(environment, "no_proxy").split(",")):
        return ""
    return checked_proxy(found if "://" in found else f"http://{found}", f"${name.upper()}")


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_local(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _excludes(rule: str, host: str, port: int) -> bool:
    """Whether one entry of NO_PROXY means this server: ``*``, a network, or an address or domain, maybe with a port."""
    if not rule or rule == "*":
        return bool(rule)
    address = _address(host)
    if "/" in rule:
        try:
            return address is not None and address in ip_network(rule, strict=False)
        except ValueError:
            return False
    wanted, _, of_port = rule.rpartition(":")
    if wanted and (":" not in wanted or wanted.endswith("]")):
        if of_port not in {"", str(port)}:
            return False
        rule = wanted
    rule = rule.strip("[]")
    if address is not None:
        return _address(rule) == address
    domain = rule[1:] if rule.startswith("*.") else rule
    return host.endswith("." + domain.removeprefix(".")) or host == domain
