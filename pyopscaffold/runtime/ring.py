"""Who of several replicas looks at an object, by rendezvous hashing: one that comes or goes moves its own share only.

Every replica computes the same from the same members, in any process and on any machine. Without members nobody does.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class Ring:
    """The owners of all keys among some members; equal for equal members."""

    def __init__(self, members: Iterable[str]) -> None:
        self.members = tuple(sorted(set(members)))
        self._hashes: list[tuple[Any, str]] = [
            (blake2b(member.encode(), digest_size=8), member) for member in self.members
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ring) and self.members == other.members

    def __hash__(self) -> int:
        return hash(self.members)

    def owner(self, namespace: str, name: str) -> str:
        """Return the member whose hash with the key is the highest, '' if there are no members."""
        if len(self.members) < 2:  # noqa: PLR2004 - one owns all
            return self.members[0] if self.members else ""
        key = f"/{namespace}/{name}".encode()
        highest, owner = b"", ""
        for member_hash, member in self._hashes:
            mixed = member_hash.copy()
            mixed.update(key)
            if (digest := mixed.digest()) > highest:
                highest, owner = digest, member
        return owner
