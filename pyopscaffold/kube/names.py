"""Names: the patterns the API server enforces, and conversions between Python's, JSON's and kinds' spellings."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DNS1123_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS1123_SUBDOMAIN = rf"{DNS1123_LABEL}(\.{DNS1123_LABEL})*"
DNS1035_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"

_VERSION = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_LABEL_MAX = 63
_SUBDOMAIN_MAX = 253
_LONG = 12


def is_dns1123_label(text: str) -> bool:
    """Whether text is a DNS-1123 label: the form of namespaces and most names (RFC 1123, ≤ 63)."""
    return len(text) <= _LABEL_MAX and re.fullmatch(DNS1123_LABEL, text) is not None


def is_dns1123_subdomain(text: str) -> bool:
    """Whether text is a DNS-1123 subdomain: the form of API groups and domains (≤ 253)."""
    return len(text) <= _SUBDOMAIN_MAX and re.fullmatch(DNS1123_SUBDOMAIN, text) is not None


def is_dns1035_label(text: str) -> bool:
    """Whether text is a DNS-1035 label: the form of plurals and of Service names (≤ 63)."""
    return len(text) <= _LABEL_MAX and re.fullmatch(DNS1035_LABEL, text) is not None


def is_qualified_name(text: str) -> bool:
    """Whether text is a name of 63 letters, digits, ``-``, ``_`` and ``.`` at most, maybe after a domain and ``/``."""
    domain, slash, name = text.rpartition("/")
    return bool(name) and is_label_value(name) and (not slash or is_dns1123_subdomain(domain))


def is_label_value(text: str) -> bool:
    """Whether text may be the value of a label: empty, or 63 letters, digits, ``-``, ``_`` and ``.`` at most."""
    return not text or (
        len(text) <= _LABEL_MAX and re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", text) is not None
    )


def is_reserved_group(text: str) -> bool:
    """Whether an API group belongs to Kubernetes: the server takes CRDs of it with the project's approval only."""
    return re.fullmatch(r"(.*\.)?(k8s|kubernetes)\.io", text) is not None


def is_approval(text: str) -> bool:
    """Whether the annotation ``api-approved.kubernetes.io`` may say it: the URL of a review, or why there is none."""
    from pyopscaffold.kube.urls import parse_url  # noqa: PLC0415 - few groups are reserved

    url = parse_url(text)
    return text.startswith("unapproved") or bool(url and url.scheme and url.netloc)


def is_api_version(text: str) -> bool:
    """Whether text is a Kubernetes API version such as ``v1`` or ``v1beta2``."""
    return _VERSION.fullmatch(text) is not None


def is_kind(text: str) -> bool:
    """Whether text is a CamelCase kind whose lower-case form is a DNS-1035 label."""
    return _KIND.fullmatch(text) is not None and is_dns1035_label(text.lower())


def is_python_name(text: str) -> bool:
    """Whether text can name a Python module or field: an identifier that is no keyword."""
    return text.isidentifier() and not keyword.iskeyword(text)


def snake_case(camel: str) -> str:
    """``MyDatabase`` → ``my_database``, ``HTTPRoute`` → ``http_route``, ``clusterIPs`` → ``cluster_ips``."""
    singular = re.sub(r"([A-Z]{2,})s(?![a-z])", lambda plural: f"{plural[1]}S", camel)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", singular)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).replace("-", "_").lower()


def field_name(json_name: str) -> str:
    """Return the Python name of a JSON field: in snake case, with an underscore behind keywords (``from_``)."""
    name = snake_case(json_name)
    return f"{name}_" if keyword.iskeyword(name) else name


def camel_case(snake: str) -> str:
    """``ready_replicas`` → ``readyReplicas``; one trailing underscore, as in ``from_``, is dropped."""
    head, *rest = snake.removesuffix("_").split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def words(camel: str) -> str:
    """``MyDatabase`` → ``my database``, for prose."""
    return snake_case(camel).replace("_", " ")


def short_name(kind: str, plural: str) -> str:
    """Give the initials of a kind of several words whose plural has more than 12 letters, else "".

    ``wi`` of WarehouseInventory. Kubernetes' own deployments, of 11 letters, have one, secrets have none.
    """
    initials = "".join(word[0] for word in words(kind).split())
    return initials if len(plural) > _LONG and len(initials) > 1 else ""


def plural_of(kind: str) -> str:
    """Lower-case plural of a kind by the English rules that kubebuilder applies: ``Proxy`` → ``proxies``."""
    word = kind.lower()
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    return word + "s"


def nearest(word: str, words: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return which of ``words`` a misspelt one is most like, "" where none is: for *did you mean*."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    return next(iter(difflib.get_close_matches(word, words, n=1, cutoff=cutoff)), "")
