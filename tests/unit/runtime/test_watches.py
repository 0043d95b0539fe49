"""What a controller is told by its declarations, with all that runs; on FakeCluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Conditions, Index, Object, ObjectMeta, Watch, controller, resource
from pyopscaffold.errors import DeclarationError
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET
from pyopscaffold.runtime import Context, Reconciler, Result, predicate

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster


@dataclass(kw_only=True)
class NoteStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group="notes.example.com", version="v1")
@dataclass(kw_only=True)
class Note(Object):
    """An object that is looked at."""

    status: NoteStatus = field(default_factory=NoteStatus)


class Looks(Reconciler[Note]):
    """Counts its calls by name."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.found: list[str] = []

    async def reconcile(self, ctx: Context, obj: Note) -> Result:
        """Count."""
        self.names.append(ctx.request.name)
        return Result()

    def told(self) -> list[str]:
        """Return whose turn it was since the last time."""
        names, self.names = sorted(self.names), []
        return names


@pytest.fixture
async def notes(fake_cluster: FakeCluster) -> FakeCluster:
    """Give a cluster with the Notes one and two."""
    fake_cluster.serve(Note)
    for name in ("one", "two"):
        await fake_cluster.client.create(note(name), field_manager="tests")
    return fake_cluster


def note(name: str) -> Note:
    """Make one."""
    return Note(metadata=ObjectMeta(name=name, namespace="default"))


def secret(target: str, kind: str = "Secret") -> dict[str, Any]:
    """Make a Secret that names its Note."""
    metadata = {"name": "s", "namespace": "default", "labels": {"note": target}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


async def annotate(cluster: FakeCluster, name: str, **annotations: str) -> None:
    """Annotate a Note, as its user would."""
    await cluster.client.patch(Note, name, {"metadata": {"annotations": annotations}}, namespace="default")


async def test_a_map_of_old_and_new(notes: FakeCluster) -> None:
    """A map function that takes both tells whom a change has moved between, and is not asked about one alone."""

    def moved(old: dict[str, Any] | None, new: dict[str, Any] | None) -> list[tuple[str, str]]:
        was, now = (obj["metadata"]["labels"]["note"] if obj else "" for obj in (old, new))
        return [("default", name) for name in {was, now} if name and was != now]

    looks = controller(Note, watches=[Watch(kind=SECRET, map=moved, metadata_only=True)])(Looks)()
    async with notes.operating(looks) as manager:
        assert looks.told() == ["one", "two"]
        await notes.client.create(secret("one"), field_manager="tests")
        await notes.settle(manager)
        assert looks.told() == ["one"]
        await notes.client.patch(SECRET, "s", {"metadata": {"annotations": {"a": "b"}}}, namespace="default")
        await notes.settle(manager)
        assert looks.told() == []
        await notes.client.patch(SECRET, "s", {"metadata": {"labels": {"note": "two"}}}, namespace="default")
        await notes.settle(manager)
        assert looks.told() == ["one", "two"]
        await notes.client.delete(SECRET, "s", namespace="default")
        await notes.settle(manager)
        assert looks.told() == ["two"]


async def test_watch_by_fields(notes: FakeCluster) -> None:
    """Only what the field selector selects is told of, and only that was asked for."""
    watch = Watch(kind=CONFIG_MAP, map=lambda obj: [("default", "one")], fields="metadata.name=s")  # noqa: ARG005
    looks = controller(Note, watches=[watch])(Looks)()
    async with notes.operating(looks) as manager:
        looks.told()
        other = secret("one", kind="ConfigMap")
        other["metadata"] = {**other["metadata"], "name": "other"}
        await notes.client.create(other, field_manager="tests")
        await notes.settle(manager)
        assert looks.told() == []
        await notes.client.create(secret("one", kind="ConfigMap"), field_manager="tests")
        await notes.settle(manager)
        assert looks.told() == ["one"]


async def test_predicate_of_a_watch(notes: FakeCluster) -> None:
    """Changes that the watch's predicate does not accept are nobody's turn."""
    watch = Watch(
        kind=SECRET,
        map=lambda obj: [("default", obj["metadata"]["labels"]["note"])],
        predicate=predicate.none_of(predicate.annotation_changed("noise")),
    )
    looks = controller(Note, watches=[watch])(Looks)()
    async with notes.operating(looks) as manager:
        await notes.client.create(secret("one"), field_manager="tests")
        await notes.settle(manager)
        looks.told()
        for annotation, turns in (("noise", []), ("signal", ["one"])):
            patch = {"metadata": {"annotations": {annotation: "1"}}}
            await notes.client.patch(SECRET, "s", patch, namespace="default")
            await notes.settle(manager)
            assert looks.told() == turns


async def test_predicates_of_the_primary(notes: FakeCluster) -> None:
    """What the author's predicates accept counts, and what the framework has to know: a pause that ends."""
    looks = controller(Note, predicates=[predicate.annotation_changed("go")])(Looks)()
    async with notes.operating(looks) as manager:
        assert looks.told() == ["one", "two"]
        await annotate(notes, "one", other="1")
        await annotate(notes, "two", go="1")
        await notes.settle(manager)
        assert looks.told() == ["two"]
        await annotate(notes, "one", **{"notes.example.com/paused": "true"})
        await notes.settle(manager)
        paused = await notes.client.get(Note, "one", namespace="default")
        assert "Paused" in [item.type for item in paused.status.conditions]
        await annotate(notes, "one", **{"notes.example.com/paused": "false"})
        await notes.settle(manager)
        assert looks.told() == ["one"]


async def test_a_resync_passes_over_what_predicates_do(notes: FakeCluster) -> None:
    """What the author's predicates leave out at the start is left out by each later look at all objects, too."""
    looks = controller(Note, predicates=[lambda delta: delta.new is not None and delta.new.meta.name == "two"])(Looks)()
    async with notes.operating(looks, resync=60.0) as manager:
        assert set(looks.told()) == {"two"}
        await notes.settle(manager, seconds=67)
        assert looks.told() == ["two"]


async def test_index_of_a_controller(notes: FakeCluster) -> None:
    """A reconciler finds objects by the index that its declaration names."""

    @controller(
        Note,
        watches=[Watch(kind=SECRET, map=lambda obj: [("default", obj["metadata"]["labels"]["note"])])],
        indexes=[Index(kind=SECRET, name="note", values=lambda obj: [obj["metadata"]["labels"]["note"]])],
    )
    class Finds(Looks):
        async def reconcile(self, ctx: Context, obj: Note) -> Result:
            """Find the Secrets of this Note."""
            found = await ctx.cache.by_index(SECRET, "note", ctx.request.name)
            self.found += [item["metadata"]["name"] for item in found]
            return Result()

    finds = Finds()
    async with notes.operating(finds) as manager:
        await notes.client.create(secret("one"), field_manager="tests")
        await notes.settle(manager)
        assert finds.found == ["s"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicates": ["generation"]}, "predicates has 'generation' in it"),
        ({"indexes": [SECRET]}, "indexes has .* in it; write indexes="),
        ({"indexes": [Index(kind=Note, name="x")]}, "an index of Note needs either name= and values=, or label="),
        ({"indexes": [Index(kind=Note, label="x", name="x", values=list)]}, "an index of Note needs either"),
        ({"indexes": [Index(kind=SECRET, label="x")]}, "an index of Secret, which is not watched"),
        ({"watches": [Watch(kind=SECRET, map=list, fields="a b")]}, "'a b' is no field selector"),
        ({"watches": [Watch(kind=SECRET, map=list, metadata_only="yes")]}, "metadata_only is to be True or False"),  # type: ignore[arg-type]  # the mistake
        ({"watches": [Watch(kind=SECRET, map=list, predicate="x")]}, "predicate is to be a function, not 'x'"),  # type: ignore[arg-type]  # the mistake
    ],
)
def test_declarations_that_cannot_be(arguments: dict[str, Any], message: str) -> None:
    """A mistake in a declaration is told where it is made."""
    with pytest.raises(DeclarationError, match=message):
        controller(Note, **arguments)
