"""What goes wrong with init and create api: one clear line, exit code 2 (130 for Ctrl-C), and nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.scaffold.conftest import MYDATABASE
from tests.unprivileged import DROP, open_to_others

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

API = ("create", "api", "--group", "db", "--version", "v1", "--kind")


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("init",), "--domain is missing"),
        (("init", "--domain", "Example"), "--domain 'Example' is no DNS name"),
        (("init", "--domain", "x", "--project-name", "Shop"), "--project-name 'Shop' is no project name"),
        (
            ("init", "--domain", "x", "--project-name", "import"),
            "--project-name 'import' would name the Python package",
        ),
        (("init", "--domain", "x", "--image-repository", "a:b"), "--image-repository 'a:b' is no image repository"),
        ((*API, "Shop"), "is not inside a project: there is no PROJECT file"),
    ],
)
def test_in_an_empty_folder(folder: Folder, args: tuple[str, ...], error: str) -> None:
    """Options of init that can't be, and create api without a project."""
    assert error in folder.run(*args, code=2).splitlines()[0]
    assert folder.entries() == set()


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("init", "--domain", "x"), "is a project already: it has a PROJECT file"),
        (("create", "api"), "missing: --group, --version, --kind"),
        (("create", "api", "--group", "D", "--version", "v1", "--kind", "A"), "--group 'D' is no DNS name"),
        (("create", "api", "--group", "", "--version", "one", "--kind", "A"), "--version 'one' is no API version"),
        ((*API, "shop"), "--kind 'shop' is no kind: CamelCase"),
        ((*API, "Class"), "--kind 'Class' would name the Python module 'class', a keyword of Python"),
        ((*API, "Shop", "--plural", "Shops"), "--plural 'Shops' is no resource name"),
        ((*API, "Shop", "--no-resource"), "the project has no API db.example.com/v1 Shop to control"),
        ((*API, "Shop", "--no-resource", "--no-controller"), "leave nothing to do"),
        (MYDATABASE, "the project has the API db.example.com/v1 MyDatabase already"),
        ((*MYDATABASE, "--no-resource"), "the project has the API db.example.com/v1 MyDatabase already"),
        ((*API, "Shop", "--plural", "mydatabases"), "MyDatabase is called mydatabases too, in the same group"),
        ((*API, "Shop", "--plural", "mydatabase"), "MyDatabase is called mydatabase too, in the same group"),
        ((*API, "MYDatabase", "--plural", "other"), "MyDatabase is called mydatabase too, in the same group"),
        ((*API, "MyDatabaseList"), "MyDatabase is called MyDatabaseList too, in the same group"),
        (("create", "api", "--group", "x", "--version", "v1", "--kind", "A"), "not laid out for a second one"),
        (("create", "api", "--group", "db", "--version", "v2", "--kind", "MyDatabase", "--cluster"), "another scope"),
        (
            ("create", "api", "--group", "db", "--version", "v2", "--kind", "MyDatabase", "--plural", "dbs"),
            "--plural dbs differs from mydatabases of version v1",
        ),
        (
            ("create", "api", "--group", "db", "--version", "v2", "--kind", "MyDatabase", "--controller"),
            "MyDatabase has a controller already, for version v1",
        ),
    ],
)
def test_in_a_project(project: Folder, args: tuple[str, ...], error: str) -> None:
    """Options of create api that can't be, or don't go with what is there."""
    project.run(*MYDATABASE)
    before = project.files()
    lines = project.run(*args, code=2).splitlines()
    assert error in lines[0]
    assert [line.split()[0] for line in lines] == ["error:", "hint:"]
    assert project.files() == before


def test_a_second_group(folder: Folder) -> None:
    """Whoever meant the project's own group reads how it is written, be it none."""
    folder.run("init", "--domain", "example.com")
    folder.run("create", "api", "--group", "", "--version", "v1", "--kind", "Shop", "--no-controller")
    shown = folder.run(*API, "Web", code=2)
    assert "hint: write --group '', or start another project, by init --multigroup" in shown


def test_a_cluster_wide_kind_in_an_operator_of_one_namespace(folder: Folder) -> None:
    """Such an operator could not watch it; the types alone may be there."""
    folder.run("init", "--domain", "example.com", "--namespaced")
    before = folder.files()
    assert "Shop can't be cluster-scoped" in folder.run(*API, "Shop", "--cluster", code=2)
    assert folder.files() == before
    folder.run(*API, "Shop", "--cluster", "--no-controller")


@pytest.mark.parametrize("group", ["import", "1st"])
def test_a_group_that_names_no_package(folder: Folder, group: str) -> None:
    """With several groups each has a package: its name must be one that Python can import."""
    folder.run("init", "--domain", "example.com", "--multigroup", "--project-name", "shop")
    before = folder.files()
    shown = folder.run("create", "api", "--group", group, "--version", "v1", "--kind", "Shop", code=2)
    assert shown.startswith(f"error: --group '{group}' would name the Python package '{group}'")
    assert folder.files() == before


def test_what_another_kind_came_first_with(folder: Folder) -> None:
    """A kind whose list is called as another kind; and of two groups of one Python name, a kind of both."""
    folder.run("init", "--domain", "example.com", "--multigroup", "--project-name", "shop")
    folder.run(*API, "ShopList", "--no-controller")
    folder.run("create", "api", "--group", "a-b", "--version", "v1", "--kind", "Shop", "--no-controller")
    before = folder.files()
    assert "ShopList is called ShopList too" in folder.run(*API, "Shop", code=2)
    shown = folder.run("create", "api", "--group", "a.b", "--version", "v1", "--kind", "Shop", code=2)
    assert shown.startswith("error: the module shop.api.a_b.v1.shop is taken by the kind Shop")
    assert folder.files() == before


def test_a_folder_with_files(folder: Folder) -> None:
    """Init lists what is there, and says how to go on."""
    for name in "abcdefg":
        (folder.path / name).touch()
    shown = folder.run("init", "--domain", "example.com", code=2)
    assert "is not empty: it has a, b, c, d, e and 2 more\n" in shown
    assert "--force" in shown
    assert folder.entries() == set("abcdefg")


def test_a_malformed_project_file(project: Folder) -> None:
    """The line of PROJECT that is wrong is named."""
    (project.path / "PROJECT").write_text("version: 4\n")
    assert project.run(*MYDATABASE, code=2).startswith("error: PROJECT:1: version '4' is unknown")


def test_the_folders_name_is_no_project_name(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder can't name the project, the message says where the name came from."""
    odd = folder.path / "Shop (new)"
    odd.mkdir()
    monkeypatch.chdir(odd)
    shown = folder.run("init", "--domain", "example.com", code=2)
    assert shown.startswith("error: the folder's name 'shop (new)' is no project name")
    assert "--project-name shop-new" in shown


def main(folder: Folder, *args: str, before: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, after the statements ``before``."""
    code = f"{textwrap.dedent(before)}\nimport sys\nfrom pyopscaffold.cli.app import main\nmain(sys.argv[1:])"
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, cwd=folder.path, capture_output=True, text=True, check=False)


HOOK = """
    import os, signal, sys
    real, count = {call}, 0
    def hooked(*args, **kwargs):
        global count
        count += 1
        if count == {nth}:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*args, **kwargs)
    {call} = hooked
"""


@pytest.mark.parametrize(("call", "nth"), [("os.fsync", 3), ("os.replace", 2), ("os.replace", 20)])
def test_ctrl_c_half_way(folder: Folder, call: str, nth: int) -> None:
    """Interrupted while it writes, init leaves the folder empty."""
    done = main(folder, "init", "--domain", "example.com", before=HOOK.format(call=call, nth=nth))
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert folder.entries() == set()


def test_ctrl_c_while_templates_are_rendered(folder: Folder) -> None:
    """Interrupted before anything is written, init is as quiet."""
    before = "import copier\n" + textwrap.dedent(HOOK.format(call="copier._main.Worker._render_file", nth=5))
    done = main(folder, "init", "--domain", "example.com", before=before)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert folder.entries() == set()


def test_no_more_room(folder: Folder) -> None:
    """The LICENSE does not fit in: nothing stays of the files before it, and the limit is named."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))"
    done = main(folder, "init", "--domain", "example.com", before=limit)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "error: LICENSE can't be written: file too large; nothing was changed"
    assert folder.entries() == set()


def test_a_read_only_folder(folder: Folder) -> None:
    """An ordinary user who may not write there gets one line."""
    open_to_others(folder.path.parent)
    folder.path.chmod(0o555)
    before = """
        from pathlib import Path
        import pyopscaffold.cli.app, pyopscaffold.files.apply
        from pyopscaffold.scaffold.init import InitOptions, init
        init(Path("elsewhere"), InitOptions(domain="example.com", name="any"))  # so that late imports are done
    """
    before = textwrap.dedent(before) + DROP
    done = main(folder, "init", "--domain", "example.com", before=before)
    first, second = done.stderr.splitlines()
    assert done.returncode == 2
    assert first.endswith("can't be written: permission denied; nothing was changed")
    assert second == "hint: make the folder writable for you and try again"
    assert folder.entries() == set()
    assert os.access(folder.path, os.R_OK)
