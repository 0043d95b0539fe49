"""Laws of the cache's store: whatever order news comes in, it ends with what the server has."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pyopscaffold.runtime.cache.store import Store
from pyopscaffold.runtime.objects import Delta, Meta, Stored

_NAMES = ("a", "b", "c")


@dataclass
class Server:
    """Objects, and the history that a watch delivers."""

    version: int = 1  # no server's is 0
    objects: dict[str, Stored] = field(default_factory=dict)
    history: list[tuple[str, Stored]] = field(default_factory=list)

    def write(self, name: str) -> Stored:
        """Create or change an object."""
        self.version += 1
        old = self.objects.get(name)
        uid = old.meta.uid if old else f"{name}-{self.version}"
        self.objects[name] = item = _item(name, uid, self.version)
        self.history.append(("PUT", item))
        return item

    def delete(self, name: str) -> Stored:
        """Delete an object."""
        self.version += 1
        old = self.objects.pop(name)
        self.history.append(("DELETED", _item(name, old.meta.uid, self.version)))
        return old


class NewsInAnyOrder(RuleBasedStateMachine):
    """The watch lags, lists are answered late, and so are our own writes."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server()
        self.store = Store()
        self.store.add_index("uid", lambda item: [item.meta.uid])
        self.watched = 0
        self.answers: list[tuple[str, Stored]] = []
        self.lists: list[tuple[list[Stored], int, int]] = []
        self.known: dict[str, str] = {}
        self.seen: dict[str, int] = {}

    @rule(name=st.sampled_from(_NAMES))
    def others_write(self, name: str) -> None:
        """Somebody else writes."""
        self.server.write(name)

    @rule(name=st.sampled_from(_NAMES))
    def we_write(self, name: str) -> None:
        """We write; the answer is under way."""
        self.answers.append(("PUT", self.server.write(name)))

    @rule(name=st.sampled_from(_NAMES), ours=st.booleans())
    def delete(self, name: str, *, ours: bool) -> None:
        """Somebody deletes; if we do, the answer is under way."""
        if name in self.server.objects:
            old = self.server.delete(name)
            if ours:
                self.answers.append(("GONE", old))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def answer_arrives(self, data: st.DataObject) -> None:
        """Any of the answers under way arrives."""
        self._take_answer(*self.answers.pop(data.draw(st.integers(0, len(self.answers) - 1))))

    @precondition(lambda self: self.watched < len(self.server.history))
    @rule()
    def event_arrives(self) -> None:
        """Have the watch bring the next event."""
        kind, item = self.server.history[self.watched]
        self.watched += 1
        self._saw(self.store.put(item) if kind == "PUT" else self.store.remove(item))

    @rule()
    def list_is_asked(self) -> None:
        """Take a list on the server; its answer is under way."""
        self.lists.append((list(self.server.objects.values()), self.server.version, len(self.server.history)))

    @precondition(lambda self: self.lists)
    @rule()
    def list_arrives(self) -> None:
        """Have the last list arrive; the watch goes on from there."""
        items, version, position = self.lists.pop()
        self.lists.clear()
        self._saw(self.store.replace("", items, version, initial=False))
        self.watched = position

    @invariant()
    def handlers_know_what_the_store_holds(self) -> None:
        """Whoever follows the changes has the same objects as the store."""
        assert self.known == {item.meta.name: item.meta.uid for item in self.store.all()}

    @invariant()
    def index_holds_what_the_store_holds(self) -> None:
        """Find each object by the index, and nothing else."""
        for item in self.store.all():
            assert self.store.by_index("uid", item.meta.uid) == [item]

    def teardown(self) -> None:
        """When all news has arrived, store and server agree."""
        while self.answers:
            self._take_answer(*self.answers.pop())
        while self.watched < len(self.server.history):
            self.event_arrives()
        assert {item.meta.name: item for item in self.store.all()} == self.server.objects

    def _take_answer(self, kind: str, item: Stored) -> None:
        meta = item.meta
        if kind == "PUT":
            self._saw(self.store.answered(item))
        else:
            self._saw(self.store.forget(meta.namespace, meta.name, meta.uid))

    def _saw(self, deltas: list[Delta]) -> None:
        for delta in deltas:
            if delta.old is not None and delta.new is None:
                assert self.known.pop(delta.old.meta.name) == delta.old.meta.uid
            elif delta.new is not None:
                name, uid = delta.new.meta.name, delta.new.meta.uid
                assert (name in self.known) is (delta.old is not None)
                assert delta.new.version > self.seen.get(uid, 0), "an object went back in time"
                self.known[name], self.seen[uid] = uid, delta.new.version


def _item(name: str, uid: str, version: int) -> Stored:
    return Stored(Meta(name=name, namespace="n", uid=uid, resource_version=str(version)), b"{}", version)


TestNewsInAnyOrder = NewsInAnyOrder.TestCase
TestNewsInAnyOrder.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
