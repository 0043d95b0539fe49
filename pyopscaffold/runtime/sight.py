"""What a reconcile has seen of the cluster: it tells whether news of its own writes can be news to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.runtime.children import ChildKey


class Sight:
    """What one reconcile knows of the cluster beside its object: if it has ``looked``, anything; else some children."""

    def __init__(self, *, looked: bool = False) -> None:
        self.looked = looked
        self._children: set[ChildKey] = set()

    def blind_to(self, child: ChildKey) -> bool:
        """Whether it has not seen the child yet, which it is about to, by the answer to an apply."""
        blind = not self.looked and child not in self._children
        self._children.add(child)
        return blind
