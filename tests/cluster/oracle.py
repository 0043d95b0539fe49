"""Whether the API server agrees with us on random declarations, and on objects of theirs."""

from __future__ import annotations

import contextlib
import copy
import sys
import types
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from pyopscaffold import codec
from pyopscaffold.errors import AlreadyExists, BadRequest, CodecError, DeclarationError, Invalid, NotFound
from pyopscaffold.generate.crd import crd_of
from pyopscaffold.loader import source
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.schema import validate
from pyopscaffold.testing.waiting import eventually
from tests.cluster.programs import programs
from tests.cluster.values import complete, mutants, values
from tests.unit.loader.projects import make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyopscaffold.model.kinds import KindModel
    from pyopscaffold.schema import Schema
    from pyopscaffold.testing import RestClient

    Progress = Callable[[], object]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DRY = {"dryRun": "All"}
_LOOSENING = ("Schemaless", "SchemaType")
"""Markers that say on purpose that the schema is not the Python type's."""
_COST = "rule cost"
_OBJECTS = 2
_MUTANTS = 10


class Disagreement(AssertionError):  # noqa: N818 - what it is about
    """The API server and we differ."""


class CrdRefused(Disagreement):
    """The loader takes a declaration whose CRD the server refuses."""


class ServerStricter(Disagreement):
    """The server refuses an object that is valid for the Python type."""


class ServerLaxer(Disagreement):
    """The server takes an object that is not valid for the Python type."""


class Oracle:
    """An API server that is asked about one declaration after the other, all of the same kind.

    ``group`` is the API group of that kind, which nobody else uses; ``folder`` is where declarations are written.
    """

    def __init__(self, client: RestClient, folder: Path, *, group: str) -> None:
        self.group = group
        self._client = client
        self._folder = folder
        self._path = f"{CRDS}/things.{group}"
        self._round = 0
        self.taken = self.refused = self.objects = 0

    def read(self, text: str) -> KindModel | None:
        """Read a declaration as ``generate`` does; None if it is refused."""
        make(self._folder, {"api/thing.py": text})
        try:
            (kind,) = source.read(self._folder, "acme", python=sys.executable).kinds
        except DeclarationError as error:
            note(f"refused: {error}")
            self.refused += 1
            return None
        self.taken += 1
        return kind

    def accept(self, crd: dict[str, Any]) -> None:
        """Let the server judge a CRD as a new one; what rules cost is left out, as is all of CEL.

        Raises:
            CrdRefused: it refuses the CRD.

        """
        fresh = copy.deepcopy(crd)
        fresh["spec"]["group"] = f"fresh.{self.group}"
        fresh["metadata"]["name"] = f"things.fresh.{self.group}"
        try:
            self._client.request("POST", CRDS, body=fresh, query={**_DRY, "fieldValidation": "Strict"})
        except (Invalid, BadRequest) as error:
            if not error.causes or any(_COST not in cause.message for cause in error.causes):
                raise CrdRefused(str(error)) from error

    def serve(self, crd: dict[str, Any]) -> None:
        """Have objects judged by this CRD from now on, rules aside; a number that they carry tells its turn."""
        self._round += 1
        served = copy.deepcopy(crd)
        (version,) = served["spec"]["versions"]
        root = _without_rules(version["schema"]["openAPIV3Schema"])
        root["properties"]["round"] = {"type": "integer", "enum": [self._round]}
        root["required"] = [*root.get("required", ()), "round"]
        version["schema"]["openAPIV3Schema"] = root
        try:
            self._client.create(CRDS, served)
        except AlreadyExists:
            served["metadata"]["resourceVersion"] = self._client.get(self._path)["metadata"]["resourceVersion"]
            self._client.request("PUT", self._path, body=served)
        eventually(self._is_served)

    def _is_served(self) -> bool:
        """Whether the server judges by the newest CRD."""
        told = self.ask({})
        return told is None or "round" not in told

    def close(self) -> None:
        """Take the kind away."""
        with contextlib.suppress(NotFound):
            self._client.delete(self._path)

    def ask(self, spec: Any) -> str | None:
        """Return what the server says against an object with this spec, None if it takes it."""
        things = f"/apis/{self.group}/v1/namespaces/default/things"
        head = {"apiVersion": f"{self.group}/v1", "kind": "Thing", "metadata": {"name": "x"}}
        body = {**head, "round": self._round, "spec": spec}
        try:
            self._client.request("POST", things, body=body, query=_DRY)
        except (Invalid, BadRequest) as error:
            return str(error)
        except NotFound as error:
            raise AssertionError(str(error)) from error
        return None

    def compare(self, cls: type, schema: Schema, spec: Any) -> None:
        """Judge an object of ``cls`` with this spec, and have the server judge it.

        Raises:
            Disagreement: the verdicts differ.

        """
        self.objects += 1
        ours, theirs = verdict(cls, schema, complete(schema, spec)), self.ask(spec)
        if ours is None and theirs is not None:
            raise ServerStricter(f"{spec}: {theirs}")
        if ours is not None and theirs is None and not _is_known(ours):
            raise ServerLaxer(f"{spec}: {ours}")


def verdict(cls: type, schema: Schema, spec: Any) -> str | None:
    """Return why an object that has its defaults is not valid for the Python type, None if it is."""
    if misfits := validate(schema, spec):
        return str(misfits[0])
    try:
        codec.decode(cls, {"metadata": {"name": "x"}, "spec": spec})
    except CodecError as error:
        return str(error)
    return None


def _is_known(ours: str) -> bool:
    """Whether Python is meant to be stricter than the schema, as docs/api.md says: times are read, not only matched."""
    return any(words in ours for words in ("duration", "RFC3339", "Expected `datetime`"))


def _without_rules(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_rules(item) for key, item in node.items() if key != "x-kubernetes-validations"}
    return [_without_rules(item) for item in node] if isinstance(node, list) else node


def load(text: str) -> type:
    """Return the class that a declaration makes, in this process."""
    module = types.ModuleType("oracle_thing")
    sys.modules[module.__name__] = module
    exec(compile(text, "thing.py", "exec"), module.__dict__)  # noqa: S102 - our own text
    thing: type = module.__dict__["Thing"]
    return thing


def property_of(oracle: Oracle, progress: Progress = lambda: None) -> Callable[[st.DataObject], None]:
    """Return the property: whatever the loader takes, the server takes, and both judge objects alike."""

    def agree(data: st.DataObject) -> None:
        progress()
        text = data.draw(programs(group=oracle.group))
        note(text)
        if (kind := oracle.read(text)) is None:
            return
        crd = crd_of([kind])
        oracle.accept(crd)
        if any(marker in text for marker in _LOOSENING):
            return
        oracle.serve(crd)
        cls, schema = load(text), kind_schema(kind).properties["spec"]
        for _ in range(_OBJECTS):
            spec = data.draw(values(schema))
            oracle.compare(cls, schema, spec)
            steps = list(mutants(schema, spec))
            for step, changed in data.draw(
                st.lists(st.sampled_from(steps), min_size=min(len(steps), _MUTANTS), max_size=_MUTANTS)
            ):
                note(step)
                oracle.compare(cls, schema, changed)

    return agree


def run(
    oracle: Oracle, *, examples: int, stable: bool = False, seed: int | None = None, progress: Progress = lambda: None
) -> None:
    """Try the property on this many declarations; ``stable`` ones are the same each time, as are those of a ``seed``.

    Raises:
        Disagreement: there is one, shown with the smallest program that has it.

    """
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    patient = settings(
        max_examples=examples, deadline=None, derandomize=stable, database=None, suppress_health_check=checks
    )
    agree = patient(given(st.data())(property_of(oracle, progress)))
    (agree if seed is None else hypothesis.seed(seed)(agree))()
