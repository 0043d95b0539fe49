"""The kustomizations that list generated files."""

from __future__ import annotations

import pytest
import yaml

from pyopscaffold.errors import DocumentError
from pyopscaffold.files.artefact import Owner
from pyopscaffold.generate import kustomize
from pyopscaffold.model.kinds import ProjectModel
from pyopscaffold.model.project import Project

MODEL = ProjectModel(kinds=(), controllers=())
PROJECT = Project(domain="example.com", name="shop", package="shop", image="shop", cli_version="0.1.0")
CRD = "config/crd/kustomization.yaml"
RBAC = "config/rbac/kustomization.yaml"
SAMPLES = "config/samples/kustomization.yaml"


def updated(present: dict[str, str]) -> dict[str, str]:
    """Give path → text of the kustomizations for a tree."""
    return {artefact.path: artefact.text for artefact in kustomize.artefacts(MODEL, PROJECT, present)}


def resources(text: str) -> list[str]:
    """Give what a kustomization lists."""
    listed: list[str] = yaml.safe_load(text)["resources"]
    return listed


@pytest.mark.parametrize(
    ("path", "file"),
    [
        (CRD, "bases/sales.example.com_shops.yaml"),
        (RBAC, "role.yaml"),
        (RBAC, "shop_viewer_role.yaml"),
        (RBAC, "sales_shop_editor_role.yaml"),
        (RBAC, "shop_admin_role.yaml"),
        (SAMPLES, "sales_v1alpha1_shop.yaml"),
        (SAMPLES, "v1_shop.yaml"),
    ],
)
def test_generated_file_is_listed_in_an_empty_list(path: str, file: str) -> None:
    """The first file turns the empty list into one in block style."""
    folder = path.rpartition("/")[0]
    text = updated({path: "kind: Kustomization\nresources: []\n", f"{folder}/{file}": ""})[path]
    assert text == f"kind: Kustomization\nresources:\n- {file}\n"


def test_the_users_lines_stay() -> None:
    """Comments, order and entries that are not the tool's are as they were; a new file comes last."""
    before = "# mine\nresources:\n- extra.yaml # keep\n\n- role.yaml\npatches:\n- path: p.yaml\n"
    tree = {RBAC: before, "config/rbac/role.yaml": "", "config/rbac/shop_admin_role.yaml": ""}
    assert updated(tree)[RBAC] == before.replace("- role.yaml\n", "- role.yaml\n- shop_admin_role.yaml\n")


def test_entry_goes_with_its_file() -> None:
    """An entry of the tool's whose file is gone is removed; the user's dangling one is not."""
    before = "resources:\n- bases/sales.example.com_shops.yaml\n- bases/a.yaml\n- ../elsewhere\n"
    after = updated({CRD: before, "config/crd/bases/a.yaml": ""})[CRD]
    assert resources(after) == ["bases/a.yaml", "../elsewhere"]


def test_last_entry_leaves_an_empty_list() -> None:
    """Kustomize refuses a list that is null, so an empty one is left."""
    assert resources(updated({CRD: "resources:\n- bases/a.yaml\n"})[CRD]) == []


def test_commented_entry_stays_out() -> None:
    """Who comments an entry out does not find it back after the next run."""
    text = "resources:\n- role.yaml\n# - shop_admin_role.yaml\n"
    tree = {RBAC: text, "config/rbac/role.yaml": "", "config/rbac/shop_admin_role.yaml": ""}
    assert updated(tree)[RBAC] == text


def test_other_files_are_not_listed() -> None:
    """Only names of the tool's form are: the user's own manifests are the user's to list."""
    tree = {
        CRD: "resources: []\n",
        "config/crd/patches/webhook.yaml": "",
        "config/crd/bases/nested/a.yaml": "",
        SAMPLES: "resources: []\n",
        "config/samples/my-own.yaml": "",
        "config/samples/kustomizeconfig.yaml": "",
        RBAC: "resources: []\n",
        "config/rbac/leader_election_role.yaml": "",
        "config/rbac/role_binding.yaml": "",
    }
    assert {path: resources(text) for path, text in updated(tree).items()} == {CRD: [], SAMPLES: [], RBAC: []}


def test_second_run_changes_nothing() -> None:
    """What the first run made is left alone by the next."""
    tree = {SAMPLES: "resources: []\n", "config/samples/b_v1_x.yaml": "", "config/samples/a_v1_x.yaml": ""}
    once = updated(tree)
    assert resources(once[SAMPLES]) == ["a_v1_x.yaml", "b_v1_x.yaml"]
    assert updated(tree | once) == once


def test_deleted_kustomization_is_not_made_again() -> None:
    """A project without the kustomize tree keeps it so."""
    assert kustomize.artefacts(MODEL, PROJECT, {"config/crd/bases/a.yaml": ""}) == ()


def test_files_belong_to_both() -> None:
    """The user and the tool edit them."""
    (artefact,) = kustomize.artefacts(MODEL, PROJECT, {CRD: "resources: []\n"})
    assert artefact.owner is Owner.BOTH


@pytest.mark.parametrize("text", ["resources: [", "resources: text\n", "- a\n"])
def test_malformed_file_is_named(text: str) -> None:
    """A file that can't be edited is reported with its path."""
    with pytest.raises(DocumentError, match=rf"^{CRD}:\d+: "):
        updated({CRD: text, "config/crd/bases/a.yaml": ""})
