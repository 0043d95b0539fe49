"""``pyopscaffold create api --image``, by its command line."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.loader.project import read
from pyopscaffold.model.project import Workload
from tests.scaffold.conftest import MYDATABASE, WEB

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from tests.scaffold.conftest import Folder

TYPES, CONTROLLER = "shop_operator/api/v1/web.py", "shop_operator/controllers/web.py"
PLAIN = WEB[:-2]
DIGEST = "@sha256:" + "0" * 64


def test_the_tree(project: Folder, snapshot: SnapshotAssertion) -> None:
    """The files are those of any API."""
    before = project.files()
    shown = project.run(*WEB, "--port", "8080")
    assert sorted(project.files().keys() - before) == snapshot
    assert "update  PROJECT\n" in shown


def test_it_is_recorded(project: Folder) -> None:
    """PROJECT has the image and all that came with it."""
    project.run(*WEB, "--port", "80", "--port", "443", "--command", "nginx -g 'daemon off;'", "--run-as-user", "101")
    (entry,) = read(project.path).resources
    assert entry.workload == Workload(
        image="nginx:1.27", ports=(80, 443), command=("nginx", "-g", "daemon off;"), run_as_user=101
    )


def test_what_was_not_asked_for_is_not_there(project: Folder) -> None:
    """Without ports there is no Service and nothing to probe; the image's own command and user are taken."""
    project.run(*WEB)
    controller, types = project.files()[CONTROLLER], project.files()[TYPES]
    for word in ("SERVICE", "Probe", "ports", "COMMAND", "runAsUser"):
        assert word not in controller
    assert "port:" not in types


@pytest.mark.parametrize(("user", "noted"), [((), True), (("--run-as-user", "101"), False)])
def test_images_of_root_are_warned_of(project: Folder, user: tuple[str, ...], noted: bool) -> None:
    """Whoever names no user learns that the image has to."""
    assert ("note: pods may not run as root; if nginx:1.27 does" in project.run(*WEB, *user)) == noted


@pytest.mark.parametrize(
    "image",
    ["nginx:1.27", f"nginx{DIGEST}", f"localhost:5000/a_b/c__d/e-f.g:V1_x{DIGEST}", "r.example.com/a:latest"],
)
def test_images(project: Folder, image: str) -> None:
    """Any reference that names what runs is taken as it is."""
    project.run(*PLAIN, "--image", image)
    assert f'"{image}"' in project.files()[CONTROLLER]


@pytest.mark.parametrize(
    "command",
    [
        "memcached",
        "memcached --memory-limit=64 -o modern -v",
        """sh -c 'echo "hi"; exec "$0"' "" """,
        """sh -c "echo it\\'s 'here' \\\\ 'é 日'" """,
        "sh -c 'set -e\n\techo 1'",
        " ".join(f"--option-{number}=value" for number in range(12)),
    ],
)
def test_the_command_is_split_as_by_a_shell(project: Folder, command: str) -> None:
    """Its words are in the reconciler, written as the formatter would."""
    project.run(*WEB, "--command", command)
    assert constant(project.path / CONTROLLER, "COMMAND") == shlex.split(command)
    formatted(project.path / CONTROLLER)


@pytest.mark.parametrize("length", [81, 82, 101, 102])
def test_a_long_image_is_broken_as_by_the_formatter(project: Folder, length: int) -> None:
    """The line is just full or one too long, and so is the next line that it goes to then."""
    image = f"{'n' * (length - 2)}:1"
    project.run(*PLAIN, "--image", image)
    assert f'"{image}"' in project.files()[CONTROLLER]
    formatted(project.path / CONTROLLER)


def constant(file: Path, name: str) -> object:
    """Read the value of a constant in a module."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{file} has no {name}")


def formatted(file: Path) -> None:
    """Have the formatter find nothing to change."""
    command = [sys.executable, "-m", "ruff", "format", "--diff", "--no-cache", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_second_version_has_the_same_types(project: Folder) -> None:
    """Another version of the kind takes them over, and leaves reconciler and image to the first."""
    project.run(*WEB, "--port", "8080")
    project.run("create", "api", "--group", "shop", "--version", "v2", "--kind", "Web")
    second = project.files()["shop_operator/api/v2/web.py"]
    assert "    container_port: Annotated[int32, Ge(1), Le(65535)] = 8080\n" in second
    assert [bool(entry.workload) for entry in read(project.path).resources] == [True, False]


@pytest.mark.parametrize("again", [WEB, PLAIN])
def test_force_writes_missing_files(project: Folder, again: tuple[str, ...]) -> None:
    """An API that is there is completed, also by PROJECT's memory alone."""
    project.run(*WEB)
    whole = project.files()
    (project.path / CONTROLLER).unlink()
    project.run(*again, "--force")
    assert project.files() == whole


def test_a_dry_run_writes_nothing(project: Folder) -> None:
    """What would change is listed, and isn't."""
    before = project.files()
    assert f"create  {CONTROLLER}\n" in project.run(*WEB, "--dry-run")
    assert project.files() == before


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("--image", "nginx"), "--image nginx names no version"),
        (("--image", "localhost:5000/nginx"), "--image localhost:5000/nginx names no version"),
        (("--image", "Nginx:1"), "--image 'Nginx:1' is no image reference"),
        (("--image", ""), "--image '' is no image reference"),
        (("--image", "nginx:1\n"), "--image 'nginx:1\\n' is no image reference"),
        (("--image", "nginx:-1"), "is no image reference"),
        (("--image", "nginx@sha256:12"), "is no image reference"),
        (("--image", "https://nginx:1"), "is no image reference"),
        (("--image", "n" * 256 + ":1"), "is no image reference"),
        (("--image", "a:1", "--port", "0"), "--port 0 is no port"),
        (("--image", "a:1", "--port", "65536"), "--port 65536 is no port"),
        (("--image", "a:1", "--port", "80", "--port", "80"), "--port 80 is given twice"),
        (("--image", "a:1", "--port", "http"), "invalid value for '--port': 'http' is not a valid int"),
        (("--image", "a:1", "--run-as-user", "0"), "--run-as-user 0 is root"),
        (("--image", "a:1", "--run-as-user", "-1"), "--run-as-user -1 is no user id"),
        (("--image", "a:1", "--run-as-user", "2147483648"), "--run-as-user 2147483648 is no user id"),
        (("--image", "a:1", "--command", " "), "--command is empty"),
        (("--image", "a:1", "--command", "sh -c 'x"), "can't be split into words: no closing quotation"),
        (("--image", "a:1", "--command", "a\x07"), "--command has the character '\\x07' in it"),
        (("--image", "a:1", "--command", "a \udcff"), "--command has the character '\\udcff' in it"),
        (("--image", "a:1", "--no-controller"), "--no-controller leaves one of them out"),
        (("--image", "a:1", "--no-resource"), "--no-resource leaves one of them out"),
        (("--port", "80"), "--port is about a container, but there is no --image"),
        (("--command", "a"), "--command is about a container, but there is no --image"),
        (("--run-as-user", "1"), "--run-as-user is about a container, but there is no --image"),
        (("--image", "a:1", "--kind", "Resources"), "--kind 'Resources' is taken"),
    ],
)
def test_what_can_not_be(project: Folder, args: tuple[str, ...], error: str) -> None:
    """One clear line and a hint, and nothing is written."""
    before = project.files()
    lines = project.run(*PLAIN, *args, code=2).splitlines()
    assert error in lines[0]
    assert [line.split()[0] for line in lines] == ["error:", "hint:"]
    assert project.files() == before


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        (WEB, WEB, "the project has the API shop.example.com/v1 Web already"),
        (WEB, (*WEB, "--port", "80", "--force"), "Web was made for another container: its image is nginx:1.27"),
        (WEB, (*WEB, "--version", "v2"), "the project has the kind Web already, in version v1"),
        (PLAIN, (*WEB, "--force"), "the project has the kind Web already, in version v1"),
        ((*PLAIN, "--no-controller"), WEB, "the project has the kind Web already, in version v1"),
        ((*MYDATABASE, "--group", "shop"), (*WEB, "--plural", "mydatabases"), "MyDatabase is called mydatabases too"),
    ],
)
def test_what_does_not_go_with_the_project(
    project: Folder, first: tuple[str, ...], second: tuple[str, ...], error: str
) -> None:
    """An image makes a kind whole, and once."""
    project.run(*first)
    before = project.files()
    lines = project.run(*second, code=2).splitlines()
    assert error in lines[0]
    assert [line.split()[0] for line in lines] == ["error:", "hint:"]
    assert project.files() == before
