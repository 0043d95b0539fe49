"""For every marker and form of type that Go has, controller-gen and we write the same for a small twin.

The twins are ``testdata/go/twins`` and ``testdata/python/twins``, one package and module a theme. Where we differ on
purpose, ``test_differences.py`` holds the table of docs/controller-gen.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle import compare

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.compare import Documents

CRDS = {
    "aliases": ["aliases.example.com_maps.yaml"],
    "bounds": ["bounds.example.com_measures.yaml"],
    "choices": ["choices.example.com_backups.yaml"],
    "constants": ["constants.example.com_loggers.yaml"],
    "docs": ["docs.example.com_books.yaml"],
    "immutable": ["immutable.example.com_disks.yaml"],
    "lifecycle": ["lifecycle.example.com_vessels.yaml", "lifecycle.example.com_rafts.yaml"],
    "lists": ["lists.example.com_houses.yaml"],
    "open": ["open.example.com_boxes.yaml"],
    "optional": ["optional.example.com_wishes.yaml"],
    "plural": [
        f"plural.example.com_{name}.yaml" for name in ("boxes", "buses", "dishes", "gateways", "proxies", "quotas")
    ],
    "shared": ["shared.example.com_shops.yaml", "shared.example.com_stalls.yaml"],
    "types": ["types.example.com_samples.yaml"],
    "versions": ["versions.example.com_tents.yaml"],
}
EMBEDDED = "options.example.com_forms.yaml"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Give controller-gen's documents for the twins."""
    generators = ("crd:allowDangerousTypes=true", "rbac:roleName=manager-role", "webhook")
    return compare.theirs(tmp_path_factory.mktemp("twins"), ["./twins/..."], *generators)


@pytest.fixture(scope="module")
def ours() -> Documents:
    """Give our documents for the twins."""
    return compare.ours("twins")


@pytest.mark.parametrize("theme", CRDS)
def test_same_crds(theirs: Documents, ours: Documents, theme: str) -> None:
    """The CRDs of a theme mean the same, word for word where the words are ours."""
    for name in CRDS[theme]:
        (their_crd,), (our_crd,) = theirs[name], ours[name]
        assert list(compare.differences(compare.comparable(their_crd), compare.comparable(our_crd))) == []


def test_same_kinds(theirs: Documents, ours: Documents) -> None:
    """What is skipped there is skipped here, and no kind is left out of the comparison."""
    compared = {name for names in CRDS.values() for name in names}
    assert {name for name in theirs if name not in {"role.yaml", "manifests.yaml"}} == compared
    crds = {name for name, documents in ours.items() if documents[0]["kind"] == "CustomResourceDefinition"}
    assert crds == {*compared, EMBEDDED}


def test_embedded_metadata(tmp_path: Path, ours: Documents) -> None:
    """KeepMetadata keeps what their option generateEmbeddedObjectMeta keeps of the metadata inside of objects."""
    theirs = compare.theirs(tmp_path, ["./options/embedded"], "crd:generateEmbeddedObjectMeta=true")
    (their_crd,), (our_crd,) = theirs[EMBEDDED], ours[EMBEDDED]
    assert list(compare.differences(compare.comparable(their_crd), compare.comparable(our_crd))) == []


@pytest.mark.parametrize("length", [0, 25])
def test_trimmed_descriptions(tmp_path: Path, length: int) -> None:
    """--max-description cuts descriptions where their option maxDescLen does."""
    (name,) = CRDS["docs"]
    (their_crd,) = compare.theirs(tmp_path, ["./twins/docs"], f"crd:maxDescLen={length}")[name]
    (our_crd,) = compare.ours("twins", max_description=length)[name]
    assert list(compare.differences(compare.comparable(their_crd), compare.comparable(our_crd))) == []


def test_same_permissions(theirs: Documents, ours: Documents) -> None:
    """Rules are merged and sorted alike, however often and in which order they were asked for, in every role."""
    assert list(compare.differences(_rules(theirs["role.yaml"]), _rules(ours["role.yaml"]))) == []


def test_same_webhooks(theirs: Documents, ours: Documents) -> None:
    """The webhook configurations are the same: addresses, rules, policies, selectors, conditions, order and names."""
    assert list(compare.differences(theirs["manifests.yaml"], ours["manifests.yaml"])) == []


def _rules(roles: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rules by namespace and name; the operator's own roles in single namespaces have longer names here."""
    found = {}
    for role in roles:
        if role["kind"] != "RoleBinding":
            namespace, name = role["metadata"].get("namespace", ""), role["metadata"]["name"]
            found[f"{namespace}/{name.removesuffix(f'-{namespace}')}"] = role["rules"]
    return found
