"""CRDs are imported from a real API server as they are from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from pyopscaffold.cli.app import run
from pyopscaffold.testing import ControlPlane
from tests.scaffold.widgets_crd import WIDGETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Give a server of our own: the shared one has kinds of other tests, some of one name."""
    with ControlPlane() as started:
        yield started


def test_kinds_of_a_cluster(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kind of a cluster gives the module that its file gives; one that is not there is told with what was meant."""
    server.client().apply(f"{CRDS}/widgets.foreign.io", yaml.safe_load(WIDGETS))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(yaml.safe_load(WIDGETS)))  # keys sorted, as servers send them
    assert run(("import", "crd", "crd.yaml", "--output-dir", "file")) == 0
    where = ("--cluster", "--kubeconfig", str(server.kubeconfig()))

    assert run(("import", "crd", "widgets.foreign.io", *where)) == 0
    assert (tmp_path / "v1" / "widget.py").read_text() == (tmp_path / "file" / "v1" / "widget.py").read_text()
    assert run(("import", "crd", "widget.foreign.io", *where)) == 2
    assert "did you mean widgets.foreign.io?" in capsys.readouterr().err
    assert run(("import", "crd", *where, "--dry-run", "--output-dir", "all")) == 0
    assert "create  v1/widget.py" in capsys.readouterr().out
