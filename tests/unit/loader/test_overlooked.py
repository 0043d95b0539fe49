"""What Python takes and no CRD shows is told, and not passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.loader.projects import FIRST, IMPORTS, read, told

if TYPE_CHECKING:
    from pathlib import Path

SPEC = "@dataclass(kw_only=True)\nclass Spec:\n    x: int\n"
KIND = """
@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""


@pytest.mark.parametrize(
    "declared", ["metadata: str", "metadata: Annotated[ObjectMeta, MaxLen(3)]", "metadata: ObjectMeta | int = 5"]
)
def test_metadata_of_another_type(tmp_path: Path, declared: str) -> None:
    """The metadata of a kind is that of every object, whatever the class says."""
    said = told(tmp_path, f"{SPEC}{KIND}    {declared}\n")
    message = "it is the ObjectMeta of every object, with no say in the CRD; remove the field"
    assert f"acme/api/kind.py:{FIRST + 8}: Thing.metadata: {message}" in said


def test_metadata_declared_once_more(tmp_path: Path) -> None:
    """To repeat what Object says is no mistake."""
    assert len(read(tmp_path, {"api/kind.py": f"{IMPORTS}{SPEC}{KIND}    metadata: ObjectMeta\n"}).kinds) == 1


def test_init_var(tmp_path: Path) -> None:
    """An InitVar is no field of the object; without a default, no object could be read."""
    spec = SPEC.replace("x: int", "x: InitVar[int]\n    y: InitVar[int] = 1")
    text = f"from dataclasses import InitVar\n{spec}{KIND}"
    (said,) = told(tmp_path, text)
    message = "it is an InitVar, which no object has; give it a default, or make it a field"
    assert said == f"acme/api/kind.py:{FIRST + 3}: Spec.x: {message}"


@pytest.mark.parametrize("base", ["", "(Reconciler[Thing])"])
def test_controller_that_does_not_reconcile(tmp_path: Path, base: str) -> None:
    """A class under @controller needs a reconcile of its own or of a base that is not ours."""
    controller = f"""
from pyopscaffold.runtime import Reconciler
@controller(Thing)
class ThingReconciler{base}:
    async def reconcil(self, ctx, thing): ...
"""
    message = "@controller: ThingReconciler has no reconcile; write async def reconcile(self, ctx, obj)"
    assert told(tmp_path, SPEC + KIND + controller) == [f"acme/api/kind.py:{FIRST + 10}: {message}"]


def test_factors_with_a_fraction(tmp_path: Path) -> None:
    """The server drops a factor's fraction for whole numbers, and who writes one may not know: a warning."""
    spec = """\
@dataclass(kw_only=True)
class Spec:
    a: Annotated[float, MultipleOf(0.5)]
    b: list[Annotated[float, MultipleOf(1.5)]]
    c: Annotated[float, MultipleOf(2.0)]
    d: Annotated[int, MultipleOf(2)]
"""
    said = [str(warning) for warning in read(tmp_path, {"api/kind.py": IMPORTS + spec + KIND}).warnings]
    start = "the API server holds whole numbers against"
    way = "write a whole factor, or count in smaller units"
    assert said == [
        (
            f"acme/api/kind.py:{FIRST + 2}: Spec.a: MultipleOf(0.5): {start} 0, the factor without its fraction,"
            f" and refuses each of them; {way}"
        ),
        (
            f"acme/api/kind.py:{FIRST + 3}: Spec.b[]: MultipleOf(1.5): {start} 1, the factor without its fraction,"
            f" and takes every multiple of 1; {way}"
        ),
    ]


def test_format_that_the_server_does_not_know(tmp_path: Path) -> None:
    """The server takes any value for a format that it does not know, so that is a warning; others are none."""
    spec = """\
@dataclass(kw_only=True)
class Spec:
    a: Annotated[str, Format("ipv5")]
    b: list[Annotated[str, Format("phone-number")]]
    c: Annotated[str, Format("date-time")]
    d: Annotated[str, Format("uuid4")]
    e: Annotated[float, Format("double")]
    g: Annotated[int, Format("")]
    f: Annotated[str, Format("datetime")]
"""
    said = [str(warning) for warning in read(tmp_path, {"api/kind.py": IMPORTS + spec + KIND}).warnings]
    start = "the API server knows no format"
    assert said[0].startswith(
        f"acme/api/kind.py:{FIRST + 2}: Spec.a: {start} ipv5, and takes any value; did you mean ipv"
    )
    assert said[1].startswith(
        f"acme/api/kind.py:{FIRST + 3}: Spec.b[]: {start} phone-number, and takes any value; write one of bsonobjectid,"
    )
    assert len(said) == 2
