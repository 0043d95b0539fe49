"""What CRDs of other projects say, and a project's own declarations rarely do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from pyopscaffold.generate.crd import crd_of
from tests.unit.loader.projects import IMPORTS, read, read_kind

if TYPE_CHECKING:
    from pathlib import Path


def _crd(root: Path, text: str) -> dict[str, Any]:
    return crd_of([read_kind(root, textwrap.dedent(text))])


def _properties(crd: dict[str, Any]) -> dict[str, Any]:
    (version,) = crd["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]
    return found


def test_a_default_in_the_status(tmp_path: Path) -> None:
    """An explicit Default is the server's in the status too, also where a list's key needs one; Python's is not."""
    status = _properties(
        _crd(
            tmp_path,
            """
            @dataclass(kw_only=True)
            class Port:
                number: int
                protocol: Annotated[str, Default("TCP")] | None = None

            @dataclass(kw_only=True)
            class Status:
                observed_generation: int | None = None
                phase: Annotated[str, Default("New")] = "Old"
                note: str = "x"
                ports: Annotated[list[Port], ListMap("number", "protocol")] | None = None

            @resource(group="example.com", version="v1")
            @dataclass(kw_only=True)
            class Thing(Object):
                status: Annotated[Status, NoSchemaDefault()] = field(default_factory=Status)
            """,
        )
    )["status"]
    assert status["properties"]["phase"]["default"] == "New"
    assert status["properties"]["ports"]["items"]["properties"]["protocol"]["default"] == "TCP"
    assert "default" not in status
    assert "default" not in status["properties"]["note"]


def test_a_status_that_is_a_dict(tmp_path: Path) -> None:
    """A status may be a dict, and is a subresource then as well."""
    crd = _crd(
        tmp_path,
        """
        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            status: dict[str, str] | None = None
        """,
    )
    assert _properties(crd)["status"] == {"type": "object", "additionalProperties": {"type": "string"}}
    assert crd["spec"]["versions"][0]["subresources"] == {"status": {}}


def test_a_status_subresource_without_a_status(tmp_path: Path) -> None:
    """A kind that keeps all its fields as they are may have the subresource without describing a status."""
    crd = _crd(
        tmp_path,
        """
        @resource(group="example.com", version="v1", status_subresource=True)
        @mark(PreserveUnknownFields())
        @dataclass(kw_only=True)
        class Thing(Object):
            pass
        """,
    )
    assert crd["spec"]["versions"][0]["subresources"] == {"status": {}}


def test_an_approved_group_of_kubernetes(tmp_path: Path) -> None:
    """A group of Kubernetes' own is taken where the annotation is there that the API server wants."""
    crd = _crd(
        tmp_path,
        """
        @resource(
            group="gateway.networking.k8s.io",
            version="v1",
            annotations={"api-approved.kubernetes.io": "https://example.com/approval"},
        )
        @dataclass(kw_only=True)
        class Gateway(Object):
            pass
        """,
    )
    assert crd["metadata"]["name"] == "gateways.gateway.networking.k8s.io"


def test_a_kind_in_lower_case(tmp_path: Path) -> None:
    """Who says kind= may have one in lower case, as some CRDs do."""
    crd = _crd(
        tmp_path,
        """
        @resource(group="example.com", version="v1", kind="postgresql", plural="postgresqls")
        @dataclass(kw_only=True)
        class Postgresql(Object):
            pass
        """,
    )
    assert crd["spec"]["names"]["kind"] == "postgresql"


def test_a_skipped_kind_is_not_looked_into(tmp_path: Path) -> None:
    """The types of others are not this project's to judge."""
    text = """
    @dataclass(kw_only=True)
    class Spec:
        wrong: Annotated[int, Pattern("x")]

    @resource(group="example.com", version="v1", skip=True)
    @dataclass(kw_only=True)
    class Thing(Object):
        spec: Spec
    """
    assert read(tmp_path, {"api/kind.py": IMPORTS + textwrap.dedent(text)}).kinds == ()
