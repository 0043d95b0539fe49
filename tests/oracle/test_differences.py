"""Where we differ from controller-gen on purpose: each row of the table in docs/controller-gen.md, by a twin."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import validating_webhook
from pyopscaffold.errors import DeclarationError
from pyopscaffold.kube.builtin import POD
from tests.oracle import compare
from tests.oracle.compare import ABSENT, DATA
from tests.tools_path import ROOT, tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.compare import Documents

GROUP = "differences.example.com"
VERSION = ".spec.versions[0]"
SCHEMA = f"{VERSION}.schema.openAPIV3Schema.properties"
SPEC = f"{SCHEMA}.spec"

DIFFERENCES: dict[str, tuple[str, list[tuple[str, Any, Any]]]] = {
    "`k8s:immutable` and the one-of markers on a field that CEL reserves": (
        "Reserved",
        [
            (
                f"{SPEC}.x-kubernetes-validations[0].rule",
                "!has(oldSelf.namespace) || has(self.namespace)",
                "!has(oldSelf.__namespace__) || has(self.__namespace__)",
            )
        ],
    ),
    "`k8s:enum`": (
        "Stair",
        [
            (f"{SPEC}.properties.step.enum[0]", "high", "low"),
            (f"{SPEC}.properties.step.enum[1]", "low", "middle"),
            (f"{SPEC}.properties.step.enum[2]", "middle", "high"),
        ],
    ),
    "bounds on a type, and others on a field of it": (
        "Tight",
        [
            (f"{SPEC}.properties.word.allOf", [{"maxLength": 9}, {"maxLength": 5}], ABSENT),
            (f"{SPEC}.properties.word.maxLength", ABSENT, 5),
        ],
    ),
    "`Pattern` on a type, and another on a field of it": (
        "Twofold",
        [
            (f"{SPEC}.properties.word.allOf", [{"pattern": "^[a-z]+$"}, {"pattern": "^x"}], [{"pattern": "^x"}]),
            (f"{SPEC}.properties.word.pattern", ABSENT, "^[a-z]+$"),
        ],
    ),
    "`int`": ("Count", [(f"{SPEC}.properties.number.format", ABSENT, "int64")]),
    "`printcolumn` on a kind without subresources": ("Shown", [(f"{VERSION}.subresources", {}, ABSENT)]),
    "a status with `observedGeneration`": (
        "Start",
        [(f"{SCHEMA}.status.default", ABSENT, {"observedGeneration": -1})],
    ),
    "`default` below the status": ("Seen", [(f"{SCHEMA}.status.properties.what.default", "nothing", ABSENT)]),
    "an empty list or map as `default`": ("Empty", [(f"{SPEC}.properties.names.default", [], ABSENT)]),
    "code in a comment": (
        "Block",
        [
            (
                f"{SPEC}.properties.name.description",
                "A name, for example:\n\n\tname: x\n\nand no more.",
                "A name, for example:\n\n    name: x\n\nand no more.",
            )
        ],
    ),
    "`k8s:required` on a string": ("Must", [(f"{SPEC}.properties.name.minLength", 1, ABSENT)]),
    "irregular plurals": (
        "Person",
        [(".metadata.name", f"people.{GROUP}", f"persons.{GROUP}"), (".spec.names.plural", "people", "persons")],
    ),
}
"""Kind whose twins show a row's difference, and the difference: JSON path, theirs, ours."""

REFUSED = {
    "`UniqueItems`": "UniqueSpec.names: UniqueItems can't apply to a list; the API server refuses uniqueItems",
    "an empty `groupName`": 'Groupless: group "" is no domain in lower case',
    "`rbac` with `*`": "@rbac: verbs has *, which grants what nobody has thought of",
    "`rbac` with `create` and `resourceNames`": "@rbac: create can't be limited by resource_names",
}
"""What they take and we refuse, and how."""

OWN_TESTS = {
    "the annotation `controller-gen.kubebuilder.io/version`",
    "descriptions of `apiVersion`, `kind` and conditions",
    "rules of a type and of a field of it",
    "types of Kubernetes itself",
    "floats",
    "`rbac` with `namespace`",
    "a webhook's `failurePolicy` and `verbs`",
}
"""Rows with a test of their own below."""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Give controller-gen's documents."""
    generators = ("crd:allowDangerousTypes=true", "rbac:roleName=manager-role")
    return compare.theirs(tmp_path_factory.mktemp("differences"), ["./differences/..."], *generators)


@pytest.fixture(scope="module")
def ours() -> Documents:
    """Give our documents."""
    return compare.ours("differences")


def test_table() -> None:
    """The table in the documentation has exactly the rows that are held here."""
    text = (ROOT / "docs" / "controller-gen.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| In Go \| controller-gen .*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()]
    assert sorted(rows) == sorted([*DIFFERENCES, *REFUSED, *OWN_TESTS])


@pytest.mark.parametrize("row", DIFFERENCES)
def test_difference(theirs: Documents, ours: Documents, row: str) -> None:
    """The documented difference is exactly what differs between the twins."""
    kind, expected = DIFFERENCES[row]
    assert list(_differences(theirs, ours, kind)) == expected


@pytest.mark.parametrize("row", REFUSED)
def test_refused(theirs: Documents, row: str) -> None:
    """What controller-gen takes, we refuse at its place, with what to write instead."""
    assert {"_grouplesses.yaml", f"{GROUP}_uniques.yaml", "role.yaml"} <= {*theirs}
    with pytest.raises(DeclarationError) as caught:
        compare.ours("refused")
    assert sum(REFUSED[row] in str(problem) for problem in caught.value.problems) == 1


def test_version_and_words_of_kubernetes(theirs: Documents, ours: Documents) -> None:
    """Between plain twins, nothing but controller-gen's own version and Kubernetes' words differs."""
    found = compare.differences(_crd(theirs, "Real"), _crd(ours, "Real"))
    paths = [".metadata.annotations", f"{SCHEMA}.apiVersion.description", f"{SCHEMA}.kind.description"]
    assert [path for path, *_ in found] == paths


def test_same_mistakes() -> None:
    """A marker where it can't be is refused by both, at the same types and fields, and nothing else is."""
    command = [str(tool("controller-gen")), "crd", "paths=./mistakes", "output:none"]
    done = subprocess.run(command, cwd=DATA / "go", check=False, capture_output=True, text=True)
    lines = (DATA / "go" / "mistakes" / "types.go").read_text(encoding="utf-8").splitlines()
    places = [lines[int(line) - 1] for line in re.findall(r"types\.go:(\d+):", done.stderr)]
    theirs = {place.removeprefix("type ").split()[0].lower() for place in places}
    with pytest.raises(DeclarationError) as caught:
        compare.ours("mistakes")
    ours = [problem.subject.rpartition(".")[2].lower() for problem in caught.value.problems]
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == 15


def test_order_of_rules(theirs: Documents, ours: Documents) -> None:
    """The rules of a field stand before those of its type there, and after them here."""
    path = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec", "properties", "both")
    their_rules, our_rules = (_at(_crd(side, "Ruled"), *path)["x-kubernetes-validations"] for side in (theirs, ours))
    assert [rule["rule"] for rule in their_rules] == ["self != 'field'", "self != 'type'"]
    assert our_rules == [*reversed(their_rules)]


def test_types_of_kubernetes(theirs: Documents, ours: Documents) -> None:
    """But for words, our schemas of Kubernetes' types differ in the enums that the API server publishes, and little."""
    for side in (theirs, ours):
        compare.drop_descriptions(_crd(side, "Pack"))
    found = {(path.rpartition(".")[2], a == ABSENT, b == ABSENT) for path, a, b in _differences(theirs, ours, "Pack")}
    theirs_only = {"x-kubernetes-map-type", "minLength", "minimum", "maximum", "maxItems"}
    assert found == {("enum", True, False), *((name, False, True) for name in theirs_only)}


def test_floats(ours: Documents) -> None:
    """Floats need an option there, and none here."""
    command = [str(tool("controller-gen")), "crd", "paths=./differences/api", "output:none"]
    done = subprocess.run(command, cwd=DATA / "go", check=False, capture_output=True, text=True)
    assert (done.returncode, "found float" in done.stderr) == (1, True)
    assert _at(_crd(ours, "Real"), "spec", "versions", 0, "schema")


def test_roles_in_single_namespaces(theirs: Documents, ours: Documents) -> None:
    """Our role in a namespace has a name of its own, and is bound to the operator."""
    (their_role,) = (item for item in theirs["role.yaml"] if item["kind"] == "Role")
    our_role, binding = (item for item in ours["role.yaml"] if item["metadata"].get("namespace") == "infra")
    differences = [(".metadata.name", "manager-role", "manager-role-infra")]
    assert list(compare.differences(their_role, our_role)) == differences
    assert (binding["kind"], binding["roleRef"]["name"]) == ("RoleBinding", "manager-role-infra")


def test_words_of_webhooks() -> None:
    """What no API server knows is refused; controller-gen passes it through."""
    with pytest.raises(DeclarationError, match=r'failure_policy is to be "fail" or "ignore".*did you mean \'ignore\''):
        validating_webhook(POD, failure_policy="ingore")  # type: ignore[arg-type]  # it is what is refused
    with pytest.raises(DeclarationError, match=r"operations takes .*did you mean 'update'"):
        validating_webhook(POD, operations=["updat"])  # type: ignore[list-item]  # it is what is refused


def _crd(side: Documents, kind: str) -> dict[str, Any]:
    documents = (item for items in side.values() for item in items)
    (found,) = (item for item in documents if item.get("spec", {}).get("names", {}).get("kind") == kind)
    return found


def _differences(theirs: Documents, ours: Documents, kind: str) -> Iterator[tuple[str, Any, Any]]:
    return compare.differences(compare.comparable(_crd(theirs, kind)), compare.comparable(_crd(ours, kind)))


def _at(node: Any, *path: str | int) -> Any:
    for step in path:
        node = node[step]
    return node
