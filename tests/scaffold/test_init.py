"""``pyopscaffold init``, by its command line."""

from __future__ import annotations

import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import __version__
from pyopscaffold.loader.project import read
from pyopscaffold.model.project import Project

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.scaffold.conftest import Folder

INIT = ("init", "--domain", "example.com")


def test_the_tree(folder: Folder, snapshot: SnapshotAssertion) -> None:
    """These files make a project; each is listed as it is created."""
    shown = folder.run(*INIT)
    assert sorted(folder.files()) == snapshot
    assert {line.split()[1] for line in shown.splitlines() if line.startswith("create ")} == set(folder.files())
    assert "\n  pyopscaffold create api --group GROUP --version v1 --kind KIND\n" in shown


def test_the_names_follow_from_the_folder(folder: Folder) -> None:
    """Without options the folder names project, package and image."""
    folder.run(*INIT)
    assert read(folder.path) == Project(
        domain="example.com",
        name="shop-operator",
        package="shop_operator",
        image="shop-operator",
        cli_version=__version__,
    )


def test_the_options_are_recorded(folder: Folder) -> None:
    """What was asked for is in PROJECT, and wherever else it says so."""
    folder.run(
        *INIT,
        "--project-name",
        "till",
        "--image-repository",
        "registry.example.com/till",
        "--namespaced",
        "--multigroup",
    )
    assert read(folder.path) == Project(
        domain="example.com",
        name="till",
        package="till",
        image="registry.example.com/till",
        cli_version=__version__,
        multigroup=True,
        namespaced=True,
    )
    files = folder.files()
    assert "IMG ?= registry.example.com/till:latest" in files["Makefile"]
    assert tomllib.loads(files["pyproject.toml"])["project"]["name"] == "till"


@pytest.mark.parametrize(
    ("name", "spdx", "first"),
    [("apache2", "Apache-2.0", "Apache License"), ("mit", "MIT", "MIT License"), ("none", None, "")],
)
def test_licences(folder: Folder, name: str, spdx: str | None, first: str) -> None:
    """The text names the owner, and pyproject.toml the licence."""
    folder.run(*INIT, "--license", name, "--owner", "Example Ltd")
    files = folder.files()
    assert tomllib.loads(files["pyproject.toml"])["project"].get("license") == spdx
    text = files.get("LICENSE", "")
    assert text.strip().startswith(first)
    assert ("Example Ltd" in text) is (spdx is not None)
    assert "[yyyy]" not in text


def test_a_dry_run_writes_nothing(folder: Folder) -> None:
    """What would be created is listed, and isn't."""
    shown = folder.run(*INIT, "--dry-run")
    assert "create  Makefile\n" in shown
    assert "Nothing was written" in shown
    assert folder.entries() == set()


def test_an_initialised_repository_counts_as_empty(folder: Folder) -> None:
    """Git init may come first."""
    (folder.path / ".git").mkdir()
    folder.run(*INIT)


def test_force_keeps_what_is_there(folder: Folder) -> None:
    """With --force the rest is written around files that are there, which are listed."""
    folder.run(*INIT)
    made = folder.files()
    (folder.path / "Makefile").unlink()
    for path in made.keys() - {"Makefile"}:
        (folder.path / path).write_text("mine\n")
    shown = folder.run(*INIT, "--force")
    assert folder.files() == {path: made[path] if path == "Makefile" else "mine\n" for path in made}
    assert "create  Makefile\n" in shown
    assert shown.count("(yours: left as it is)\n") == len(made) - 1


def test_a_second_run_changes_nothing(folder: Folder) -> None:
    """The same command gives the same bytes, so that with --force there is nothing left to do."""
    folder.run(*INIT)
    before = folder.files()
    shown = folder.run(*INIT, "--force")
    assert folder.files() == before
    assert not [line for line in shown.splitlines() if line.startswith(("create ", "update ", "kept "))]


def test_an_unpublished_tool_says_where_the_project_gets_it(folder: Folder) -> None:
    """Run from the checkout, the project takes both distributions from there, and is told so."""
    shown = folder.run(*INIT)
    sources = tomllib.loads(folder.files()["pyproject.toml"])["tool"]["uv"]["sources"]
    assert set(sources) == {"pyopscaffold", "pyopscaffold-runtime"}
    for name, source in sources.items():
        assert f'pyproject.toml takes {name} from where this tool came from: {{ path = "{source["path"]}"' in shown


def test_the_admins_kubeconfig_is_not_committed(project: Folder) -> None:
    """What `envtest run` writes in the project has the keys of an admin."""
    subprocess.run(["git", "init", "--quiet", "."], cwd=project.path, check=True)
    ignored = subprocess.run(["git", "check-ignore", "envtest.kubeconfig"], cwd=project.path, check=False)
    assert ignored.returncode == 0
