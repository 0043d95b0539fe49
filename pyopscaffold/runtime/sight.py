"""What a reconcile has seen of the cluster: it tells whether news of its own writes can be news to it."""

from __future__ import annotations


class Sight:
    """Whether one reconcile has ``looked`` at the cluster, beside its object and the answers to what it applied."""

    def __init__(self, *, looked: bool = False) -> None:
        self.looked = looked
