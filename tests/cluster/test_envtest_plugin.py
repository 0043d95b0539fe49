from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.cluster.envtest_helpers import answers, exists, processes_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import ApiServer, RestClient

SHARED = """
import os
import pytest

@pytest.mark.parametrize("number", range(4))
def test_shared(api_server, namespace, tmp_path_factory, number):
    assert api_server.client().text("/readyz") == "ok"
    found = f"{os.environ['PYTEST_XDIST_WORKER']} {api_server.url} {api_server.directory} {namespace}"
    with open(os.environ["RECORD"], "a") as file:
        print(found, file=file)
"""


def run_pytest(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder as a user would, with just the plugins that matter."""
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | environment
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=150)


def test_workers_share_one_control_plane(tmp_path: Path) -> None:
    """Under xdist all workers get the same API server, each test its own namespace, and all is gone at the end."""
    (tmp_path / "test_shared.py").write_text(SHARED)
    record = tmp_path / "record"
    done = run_pytest(tmp_path, "-n2", "--dist=each", RECORD=str(record))
    assert done.returncode == 0, done.stdout
    seen = [line.split() for line in record.read_text().splitlines()]
    workers, urls, folders, namespaces = (set(column) for column in zip(*seen, strict=True))
    assert workers == {"gw0", "gw1"}
    assert len(urls) == len(folders) == 1
    assert len(namespaces) == len(seen) == 8
    assert not answers(urls.pop())
    assert processes_of(folders.pop()) == []


def test_missing_binaries_fail_with_the_way_out(tmp_path: Path) -> None:
    """Without binaries each test fails, rather than skips, in one line that names the command."""
    (tmp_path / "test_shared.py").write_text(SHARED)
    environment = {"KUBEBUILDER_ASSETS": "", "XDG_CACHE_HOME": str(tmp_path / "empty")}
    for arguments in ((), ("-n1",)):
        done = run_pytest(tmp_path, "-k", "0", *arguments, **environment)
        assert done.returncode == 1
        assert "is not on this machine (run `pyopscaffold envtest setup`" in done.stdout
        assert "Traceback" not in done.stdout


def test_the_plugin_costs_nothing_where_it_is_not_used(tmp_path: Path) -> None:
    """A run that asks for no API server imports neither the control plane nor what it needs."""
    heavy = ["pyopscaffold.testing.controlplane", "cryptography", "yaml", "aiohttp"]
    (tmp_path / "test_light.py").write_text(
        f"import sys\ndef test_light(pytestconfig):\n"
        f"    assert pytestconfig.pluginmanager.has_plugin('pyopscaffold')\n"
        f"    assert not set(sys.modules) & set({heavy!r})\n"
    )
    done = run_pytest(tmp_path, "-p", "no:xdist")
    assert done.returncode == 0, done.stdout


def test_an_isolated_server_is_another_one(api_server: ApiServer, isolated_api_server: ApiServer) -> None:
    """The isolated fixture gives a control plane that no other test sees."""
    assert isolated_api_server.url != api_server.url
    assert isolated_api_server.audit_log.records()


def test_a_namespace_is_there_and_empty(admin: RestClient, namespace: str) -> None:
    """The namespace fixture gives a namespace that exists and has nothing in it."""
    assert exists(admin, f"/api/v1/namespaces/{namespace}")
    assert admin.get(f"/api/v1/namespaces/{namespace}/configmaps")["items"] == []
