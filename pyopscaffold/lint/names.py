"""Names of fields, as the words that they are made of."""

from __future__ import annotations

from functools import cache

from pyopscaffold.kube.names import snake_case


@cache
def words(name: str) -> tuple[str, ...]:
    """``secretName`` → ``("secret", "name")``, ``clusterIPs`` → ``("cluster", "ips")``."""
    return tuple(snake_case(name).split("_"))


def last_word(name: str) -> str:
    """``secretName`` → ``name``; "" of "", which is the name of items and values."""
    return words(name)[-1]
