"""The API server as an oracle: it takes the CRDs that are generated, and judges objects as the Python types do."""

from __future__ import annotations

import sys
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.generate.crd import crd_of, kinds_by_versions
from pyopscaffold.loader import source
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.testing.waiting import eventually
from tests.cluster.oracle import CRDS, Oracle, load, run, verdict
from tests.cluster.programs import IMPORTS
from tests.cluster.values import complete
from tests.unit.schema.format_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import RestClient

ROOT = Path(__file__).parents[2]
EXAMPLES = 25
TWINS = ROOT / "tests" / "oracle" / "testdata" / "python"
PACKAGES = ("acme", "differences", "twins")
KIND = """
@resource(group="{group}", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""


@pytest.fixture
def oracle(admin: RestClient, tmp_path: Path) -> Iterator[Oracle]:
    """Give a kind of the test's own on the shared API server."""
    oracle = Oracle(admin, tmp_path, group=f"o{uuid.uuid4().hex[:8]}.example.com")
    yield oracle
    oracle.close()


def test_random_declarations(oracle: Oracle, pytestconfig: pytest.Config) -> None:
    """What the loader takes, the server takes, and both say the same of objects; --hypothesis-seed gives other ones."""
    seed = pytestconfig.getoption("--hypothesis-seed", None)
    run(oracle, examples=EXAMPLES, stable=seed is None)
    assert oracle.taken > EXAMPLES / 3
    assert oracle.objects > EXAMPLES


def generated() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the CRDs of the examples, of the golden project, and of the twins of Go types, each with its origin."""
    kept = (*ROOT.glob("examples/*/config/crd/bases/*.yaml"), *ROOT.glob("tests/golden/**/crd/bases/*.yaml"))
    for path in kept:
        yield path.relative_to(ROOT).as_posix(), yaml.safe_load(path.read_text())
    for package in PACKAGES:
        model = source.read(TWINS, package, python=sys.executable)
        for versions in kinds_by_versions(model):
            yield f"{package}: {versions[0].gvk.kind}", crd_of(versions)


def test_generated_crds_are_structural(admin: RestClient) -> None:
    """Each CRD that is in the repository is taken, and the server finds every schema structural."""
    origins = {}
    for number, (origin, crd) in enumerate(generated()):
        crd["spec"]["group"] = f"generated{number}.example.com"
        crd["metadata"]["name"] = f"{crd['spec']['names']['plural']}.{crd['spec']['group']}"
        admin.request("POST", CRDS, body=crd, query={"fieldValidation": "Strict"})
        origins[crd["metadata"]["name"]] = origin
    assert len(origins) > len(PACKAGES)
    for name, origin in origins.items():
        said = eventually(partial(_established, admin, name))
        assert said.get("NonStructuralSchema") != "True", origin
        admin.delete(f"{CRDS}/{name}")


def _established(client: RestClient, name: str) -> dict[str, str] | None:
    """Return the CRD's conditions once the server has looked at it."""
    conditions = client.get(f"{CRDS}/{name}")["status"].get("conditions", ())
    said = {condition["type"]: condition["status"] for condition in conditions}
    return said if said.get("Established") == "True" else None


def test_formats(oracle: Oracle) -> None:
    """The server judges strings with a format as we do: those that fit, and those that do not."""
    fields = "\n".join(f"    {_field(name)}: Annotated[str, Format({name!r})] | None = None" for name, _, _ in CASES)
    kind = oracle.read(f"{IMPORTS}@dataclass(kw_only=True)\nclass Spec:\n{fields}\n{KIND.format(group=oracle.group)}")
    assert kind is not None
    oracle.serve(crd_of([kind]))
    for name, fitting, unfit in CASES:
        assert [text for text in fitting if oracle.ask({_field(name): text}) is not None] == []
        assert [text for text in unfit if oracle.ask({_field(name): text}) is None] == []


def _field(name: str) -> str:
    return name.replace("-", "")


DIFFERENCES: tuple[tuple[str, Any, bool, bool], ...] = (
    # field, value, whether the server takes it, whether Python does
    ("wait: timedelta", "soon", True, False),
    ("moment: datetime", "2024-01-01T00:00:00,5+99:99", True, False),
    ("moments: datetime", [], True, False),
    ("token: bytes", ["a"], True, False),
    ("count: int", 1.0, True, False),
    ("half: Annotated[float, Ge(1.5)]", 1, True, True),
    ("steps: Annotated[float, MultipleOf(0.5)]", 1, False, False),
    ("name: str | None", None, True, True),
)


def test_differences(oracle: Oracle) -> None:
    """The server and Python differ where docs/api-server.md says so, and just there."""
    fields = "\n".join(f"    {field.removesuffix(' | None')} | None = None" for field, *_ in DIFFERENCES)
    text = f"{IMPORTS}@dataclass(kw_only=True)\nclass Spec:\n{fields}\n{KIND.format(group=oracle.group)}"
    kind = oracle.read(text)
    assert kind is not None
    oracle.serve(crd_of([kind]))
    cls, schema = load(text), kind_schema(kind).properties["spec"]
    for field, value, taken, valid in DIFFERENCES:
        spec = {field.partition(":")[0]: value}
        assert (oracle.ask(spec) is None) == taken, field
        assert (verdict(cls, schema, complete(schema, spec)) is None) == valid, field
