"""``pyopscaffold create api``, by its command line."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.loader.project import read
from tests.scaffold.conftest import MYDATABASE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.scaffold.conftest import Folder


@pytest.mark.parametrize("flags", [(), ("--multigroup",)])
def test_the_tree(folder: Folder, snapshot: SnapshotAssertion, flags: tuple[str, ...]) -> None:
    """An API has types, a reconciler and tests; with several groups each has folders of its own."""
    folder.run("init", "--domain", "example.com", *flags)
    before = folder.files()
    shown = folder.run(*MYDATABASE)
    new = sorted(folder.files().keys() - before)
    assert new == snapshot
    assert [line.split() for line in shown.splitlines()[: len(new) + 1]] == [
        ["update", "PROJECT"],
        *(["create", path] for path in new),
    ]
    assert "  make manifests " in shown


def test_the_api_is_recorded(project: Folder) -> None:
    """PROJECT has an entry for the API, with the plural where it is not the regular one."""
    project.run(*MYDATABASE)
    project.run(
        "create", "api", "--group", "db", "--version", "v1alpha1", "--kind", "Sheep", "--plural", "sheep", "--cluster"
    )
    found = [(one.kind, one.version, one.plural, one.namespaced) for one in read(project.path).resources]
    assert found == [("MyDatabase", "v1", "mydatabases", True), ("Sheep", "v1alpha1", "sheep", False)]
    assert 'scope="Cluster"' in project.files()["shop_operator/api/v1alpha1/sheep.py"]
    assert 'plural="sheep"' in project.files()["shop_operator/api/v1alpha1/sheep.py"]


def test_a_long_kind_has_a_short_name(project: Folder) -> None:
    """Its initials, in each version, unless another kind of the group has them: the server would not serve the CRD."""
    for kind, version in (
        ("WarehouseInventory", "v1"),
        ("WarehouseInventory", "v2"),
        ("WebhookInterceptor", "v1"),
        ("Web", "v1"),
    ):
        project.run("create", "api", "--group", "shop", "--version", version, "--kind", kind)
    texts = {path: text for path, text in project.files().items() if "short_names=" in text}
    assert sorted(texts) == [f"shop_operator/api/{version}/warehouse_inventory.py" for version in ("v1", "v2")]
    assert all('short_names=["wi"],' in text for text in texts.values())


def test_an_empty_group_is_the_domain(project: Folder) -> None:
    """--group '' gives APIs of the domain itself."""
    project.run("create", "api", "--group", "", "--version", "v1", "--kind", "MyDatabase")
    assert 'group="example.com"' in project.files()["shop_operator/api/v1/my_database.py"]


@pytest.mark.parametrize("kind", ["Project", "Deployment"])
def test_tests_of_a_kind_have_a_module_of_their_own(project: Folder, kind: str) -> None:
    """The modules of the project's tests are there already, and no two may have one name."""
    before = project.files()
    project.run("create", "api", "--group", "hub", "--version", "v1", "--kind", kind)
    new = project.files()
    assert before.keys() <= new.keys()
    assert f"shop_operator.api.v1.{kind.lower()} import" in new[f"tests/test_{kind.lower()}_kind.py"]
    modules = [path.rpartition("/")[2] for path in new if path.startswith(("tests/", "e2e/"))]
    assert len(modules) == len(set(modules))


def test_a_second_version_has_types_only(project: Folder) -> None:
    """Another version of a kind takes over plural and scope; controller and storage stay with the first."""
    project.run("create", "api", "--group", "db", "--version", "v1", "--kind", "Ox", "--plural", "oxen", "--cluster")
    before = project.files()
    shown = project.run("create", "api", "--group", "db", "--version", "v2", "--kind", "Ox")
    assert "Ox (db.example.com/v2) is ready. Edit its types, then:" in shown
    new = {path: text for path, text in project.files().items() if path not in before}
    assert set(new) == {"shop_operator/api/v2/__init__.py", "shop_operator/api/v2/ox.py"}
    for text in ('plural="oxen"', 'scope="Cluster"', "storage=False"):
        assert text in new["shop_operator/api/v2/ox.py"]
    assert [one.has_controller for one in read(project.path).resources] == [True, False]


def test_several_groups_live_side_by_side(folder: Folder) -> None:
    """With --multigroup the same kind may be in several groups, each with a controller of another name."""
    folder.run("init", "--domain", "example.com", "--multigroup")
    for group, kind in (("db", "MyDatabase"), ("old-db", "MyDatabase"), ("", "MYDatabase")):
        folder.run("create", "api", "--group", group, "--version", "v1", "--kind", kind)
    assert {path for path in folder.files() if path.endswith("my_database.py")} == {
        f"{place}my_database.py"
        for group in ("db", "old_db", "core")
        for place in (f"shop_operator/api/{group}/v1/", f"shop_operator/controllers/{group}/", f"tests/test_{group}_")
    }
    assert "create  config/crd/bases/old-db.example.com_mydatabases.yaml" in folder.run(
        "generate", "--dry-run", "--python", sys.executable
    )


def test_types_first_and_the_controller_later(project: Folder) -> None:
    """--no-controller leaves the reconciler for a later --no-resource."""
    project.run(*MYDATABASE, "--no-controller")
    assert "shop_operator/controllers/my_database.py" not in project.files()
    types = project.files()["shop_operator/api/v1/my_database.py"]
    project.run(*MYDATABASE, "--no-resource")
    assert "shop_operator/controllers/my_database.py" in project.files()
    assert project.files()["shop_operator/api/v1/my_database.py"] == types
    entry = read(project.path).resources[0]
    assert (entry.has_api, entry.has_controller) == (True, True)


def test_it_works_below_the_root(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project is found from any folder in it."""
    monkeypatch.chdir(project.path / "config")
    project.run(*MYDATABASE)
    assert "shop_operator/api/v1/my_database.py" in project.files()


def test_a_dry_run_writes_nothing(project: Folder) -> None:
    """What would change is listed, and isn't."""
    before = project.files()
    shown = project.run(*MYDATABASE, "--dry-run")
    assert "update  PROJECT\n" in shown
    assert project.files() == before


def test_force_writes_missing_files_and_keeps_edited_ones(project: Folder) -> None:
    """An API that is there is completed; the user's code stays."""
    project.run(*MYDATABASE)
    whole = project.files()
    types, controller = (project.path / f"shop_operator/{place}/my_database.py" for place in ("api/v1", "controllers"))
    types.write_text("# mine\n")
    controller.unlink()
    shown = project.run(*MYDATABASE, "--force")
    assert "kept    shop_operator/api/v1/my_database.py" in shown
    assert project.files() == {**whole, "shop_operator/api/v1/my_database.py": "# mine\n"}


def test_comments_in_project_stay(project: Folder) -> None:
    """PROJECT belongs to both: what its owner wrote into it survives."""
    file = project.path / "PROJECT"
    file.write_text("# ours\n" + file.read_text().replace("domain: example.com", "domain: example.com  # for ever"))
    project.run(*MYDATABASE)
    assert file.read_text().startswith("# ours\n")
    assert "domain: example.com  # for ever\n" in file.read_text()


def test_defaults_of_every_type_pass_the_projects_own_ruff(project: Folder) -> None:
    """What a user may write as a default needs no exception in the settings."""
    project.run(*MYDATABASE)
    types = project.path / "shop_operator/api/v1/my_database.py"
    text = types.read_text().replace(
        "import dataclass, field\n", "import dataclass, field\nfrom datetime import timedelta\n"
    )
    text = text.replace("    Object,\n", "    Object,\n    Quantity,\n")
    fields = '    size: Quantity = Quantity("1Gi")\n    """Size."""\n\n    grace: timedelta = timedelta(minutes=5)\n'
    types.write_text(text.replace("    message: ", fields + '    """Grace."""\n\n    message: ', 1))
    assert "Quantity(" in types.read_text()
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "."], cwd=project.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
