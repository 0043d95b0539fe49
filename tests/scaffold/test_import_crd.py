from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.scaffold.widgets_crd import WIDGETS, crd, versions

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

MODULE = '''\
"""The Widget API, version v1 of foreign.io."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pyopscaffold.api import (
    Age,
    Column,
    Default,
    Ge,
    ListMap,
    MinLen,
    Name,
    NoSchemaDefault,
    Object,
    Pattern,
    Scale,
    Selectable,
    cel,
    int32,
    int64,
    resource,
)


@dataclass(kw_only=True)
class WidgetSpecFallbackPort:
    container_port: int32
    name: str | None = None


@dataclass(kw_only=True)
class WidgetSpecFallback:
    image: Annotated[str, MinLen(1)]
    ports: Annotated[list[WidgetSpecFallbackPort], ListMap("container_port")] | None = None


@cel("has(self.template) || has(self.fallback)", message="one is needed")
@dataclass(kw_only=True)
class WidgetSpec:
    """What is wanted."""

    mode: Annotated[Literal["fast", "slow"], Selectable()]
    """How to run."""

    replicas: Annotated[int32, Ge(1)] = 2
    cluster_ip: Annotated[str, Name("clusterIP"), Pattern(r"^\\d+$")] | None = None
    size: int | str | None = None
    template: WidgetSpecFallback | None = None
    fallback: WidgetSpecFallback | None = None


@dataclass(kw_only=True)
class WidgetStatus:
    observed_generation: int64 | None = None
    phase: Annotated[str, Default("New")] | None = None
    replicas: int32 | None = None


@resource(
    group="foreign.io",
    version="v1",
    short_names=["wd"],
    columns=[Column("Phase", json_path=".status.phase"), Age()],
    scale=Scale(spec="spec.replicas", status="status.replicas"),
    annotations={"foreign.io/channel": "standard"},
    skip=True,
)
@dataclass(kw_only=True)
class Widget(Object):
    """A widget."""

    spec: WidgetSpec
    status: Annotated[WidgetStatus, NoSchemaDefault()] = field(default_factory=WidgetStatus)
'''


def test_module_of_a_kind(folder: Folder) -> None:
    """Outside of a project, a kind becomes a module that reads as if written by hand."""
    (folder.path / "crd.yaml").write_text(WIDGETS)

    said = folder.run("import", "crd", "crd.yaml")

    assert folder.files()["v1/widget.py"] == MODULE
    assert "create  v1/widget.py" in said


def test_types_of_others_in_a_project(project: Folder) -> None:
    """In a project the types of another API are for controllers: PROJECT records them, and no CRD is generated."""
    (project.path / "crd.yaml").write_text(WIDGETS)

    project.run("import", "crd", "crd.yaml")

    files = project.files()
    assert files["shop_operator/api/v1/widget.py"] == MODULE
    (entry,) = yaml.safe_load(files["PROJECT"])["resources"]
    assert entry == {
        "domain": "io",
        "external": True,
        "group": "foreign",
        "kind": "Widget",
        "path": "shop_operator.api.v1.widget",
        "version": "v1",
    }
    project.run("create", "api", "--group", "shop", "--version", "v1", "--kind", "Web")
    controller = project.path / "shop_operator" / "controllers" / "web.py"
    text = controller.read_text().replace(
        "@controller(Web, ", "@controller(Web, watches=[Watch(kind=Widget, map=of)], "
    )
    imports = "from pyopscaffold.api import Watch\nfrom shop_operator.api.v1.widget import Widget\n"
    head = f"{imports}\n\ndef of(widget): return []\n"
    controller.write_text(text.replace("\n\n\n", f"\n{head}\n\n", 1))
    project.run("generate", "--python", sys.executable)
    assert [path.name for path in (project.path / "config" / "crd" / "bases").iterdir()] == [
        "shop.example.com_webs.yaml"
    ]
    assert "foreign.io" in (project.path / "config" / "rbac" / "role.yaml").read_text()


def test_types_of_ones_own(project: Folder) -> None:
    """With --own the project takes the kind over: what is generated is the CRD that was imported."""
    (project.path / "crd.yaml").write_text(WIDGETS)

    project.run("import", "crd", "crd.yaml", "--own")
    project.run("generate", "--python", sys.executable)

    (made,) = yaml.safe_load_all((project.path / "config/crd/bases/foreign.io_widgets.yaml").read_text())
    wanted = yaml.safe_load(WIDGETS)
    for data in (made, wanted):
        properties = data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        for name in ("apiVersion", "kind", "metadata"):
            del properties[name]
    assert made["spec"] == wanted["spec"]
    assert made["metadata"]["annotations"] == {"foreign.io/channel": "standard"}


def test_imported_project_is_in_order(project: Folder) -> None:
    """The project's own formatter, linter and type checker find nothing in the modules."""
    (project.path / "crd.yaml").write_text(crd(versions=versions("v1alpha1", "v1")))
    project.run("import", "crd", "crd.yaml")

    modules = ["shop_operator/api/v1/widget.py", "shop_operator/api/v1alpha1/widget.py"]
    for command in (["ruff", "format", "--check"], ["ruff", "check"], ["mypy", "--no-incremental"]):
        done = subprocess.run([*command, *modules], cwd=project.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_an_existing_module_stays(folder: Folder) -> None:
    """A module that is there already is refused with the way out; --force keeps it and writes the others."""
    (folder.path / "crd.yaml").write_text(crd(versions=versions("v1beta1", "v1")))
    (folder.path / "v1").mkdir()
    (folder.path / "v1" / "widget.py").write_text("mine = True\n")

    said = folder.run("import", "crd", "crd.yaml", code=2)

    assert "v1/widget.py is there already" in said
    assert "--force" in said
    assert not (folder.path / "v1beta1").exists()
    assert "kept    v1/widget.py" in folder.run("import", "crd", "crd.yaml", "--force")
    assert folder.files()["v1/widget.py"] == "mine = True\n"
    assert "class Widget(Object)" in folder.files()["v1beta1/widget.py"]


def test_importing_twice_changes_nothing(project: Folder) -> None:
    """Whoever imports the same CRD again is told of no change."""
    (project.path / "crd.yaml").write_text(WIDGETS)
    project.run("import", "crd", "crd.yaml")
    before = project.files()

    assert project.run("import", "crd", "crd.yaml") == ""
    assert project.files() == before


def test_dry_run_writes_nothing(project: Folder) -> None:
    """--dry-run shows the files and leaves the tree as it was."""
    (project.path / "crd.yaml").write_text(WIDGETS)
    before = project.files()

    assert "create  shop_operator/api/v1/widget.py" in project.run("import", "crd", "crd.yaml", "--dry-run")
    assert project.files() == before


def test_output_dir(project: Folder) -> None:
    """With --output-dir there are plain modules in that folder, and PROJECT is not touched."""
    (project.path / "crd.yaml").write_text(WIDGETS)
    before = project.files()

    project.run("import", "crd", "crd.yaml", "--output-dir", "foreign/types")

    added = {path for path, text in project.files().items() if before.get(path) != text}
    assert added == {"foreign/types/v1/__init__.py", "foreign/types/v1/widget.py"}


def test_what_is_left_out_is_told(folder: Folder) -> None:
    """What no dataclass can say is told for each place, in JSON too."""
    schema = versions("v1")
    root = schema[0]["schema"]["openAPIV3Schema"]
    root["properties"]["metadata"] = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}
    root["properties"]["spec"]["properties"]["mode"]["x-other"] = True
    schema[0]["subresources"]["scale"]["statusReplicasPath"] = ".status.phase"
    names = {"kind": "Widget", "listKind": "Widgetry", "plural": "widgets"}
    (folder.path / "crd.yaml").write_text(crd(versions=schema, names=names, conversion={"strategy": "Webhook"}))

    told = json.loads(folder.run("import", "crd", "crd.yaml", "--output", "json"))

    assert told["kinds"] == [{"group": "foreign.io", "version": "v1", "kind": "Widget", "file": "v1/widget.py"}]
    assert told["written"] == ["v1/__init__.py", "v1/widget.py"]
    assert {(note["path"], note["message"].partition(":")[0]) for note in told["notes"]} == {
        ("", "the conversion webhook is left out"),
        ("", "the scale subresource is left out"),
        ("", "listKind Widgetry; that of a dataclass is WidgetList"),
        ("metadata", "what the schema demands of it is left out"),
        ("spec.mode", "x-other has no marker"),
    }
    (folder.path / "v1" / "widget.py").unlink()
    assert "note: Widget v1 spec.mode: x-other has no marker" in folder.run("import", "crd", "crd.yaml")


def test_lists_and_several_files(folder: Folder) -> None:
    """A folder is read as a whole, a List as its items; equal CRDs count once, other manifests not at all."""
    listed = {"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(WIDGETS), {"kind": "Secret"}]}
    (folder.path / "crds").mkdir()
    (folder.path / "crds" / "a.json").write_text(json.dumps(listed))
    (folder.path / "crds" / "b.yaml").write_text(f"apiVersion: v1\nkind: Namespace\n---\n{WIDGETS}")

    assert folder.run("import", "crd", "crds").count("widget.py") == 1


BROKEN = {
    "no CRD": ("kind: Secret\n", "there is no CRD in in.yaml"),
    "v1beta1": (
        WIDGETS.replace("k8s.io/v1", "k8s.io/v1beta1"),
        "in.yaml:1: widgets.foreign.io: it is of apiextensions.k8s.io/v1beta1",
    ),
    "template": (f"{{{{- if .Values.crds }}}}\n{WIDGETS}{{{{- end }}}}\n", "helm template"),
    "templated value": (WIDGETS.replace("kind: Widget,", "kind: '{{ .Values.kind }}',"), "a template"),
    "kustomize patch": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n",
        "a kustomize patch",
    ),
    "broken YAML": (f"{WIDGETS}  x: [", "in.yaml:"),
    "no schema": (
        crd(versions=[{"name": "v1", "served": True, "storage": True}]),
        "widgets.foreign.io: it has no spec.versions[0].schema.openAPIV3Schema",
    ),
    "no names": (crd(names={"kind": "Widget"}), "it has no spec.names.plural"),
    "two of one module": (f"{WIDGETS}---\n{crd(group='a.io')}", "v1/widget.py would be of foreign.io and of a.io"),
    "two that differ": (f"{WIDGETS}---\n{crd(scope='Cluster')}", "it is in in.yaml:1 too, and they differ"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_can_not_be_imported(folder: Folder, case: str) -> None:
    """What is no whole CRD of today is refused with its place, and nothing is written."""
    text, message = BROKEN[case]
    (folder.path / "in.yaml").write_text(text)

    said = folder.run("import", "crd", "in.yaml", code=2)

    assert message in said
    assert folder.entries() == {"in.yaml"}


def test_some_that_can_not_be_imported(project: Folder) -> None:
    """In a folder, what can be imported is; what can't is told with its place, and the exit code says so."""
    crds = project.path / "crds"
    crds.mkdir()
    (version,) = versions("v1")
    (crds / "a.yaml").write_text(crd(group="a.io", versions=[{"name": "v1", "served": True, "storage": True}]))
    (crds / "b.yaml").write_text(f"{crd(group='b.io')}---\n{WIDGETS}---\nkind: [\n")
    (crds / "c.yaml").write_text(crd(group="b.io", scope="Cluster"))
    (crds / "d.yaml").write_text(crd(group="d.io", versions=[{**version, "additionalPrinterColumns": [{"name": "A"}]}]))
    (crds / "e.yaml").write_text(f"{{{{- if .Values.crds }}}}\n{WIDGETS}{{{{- end }}}}\n")
    second = yaml.safe_load((crds / "b.yaml").read_text().partition("---")[2].partition("---")[0])
    assert second["metadata"]["name"] == "widgets.foreign.io"
    line = crd(group="b.io").count("\n") + 2 + WIDGETS.count("\n") + 1

    said = project.run("import", "crd", "crds", code=1)

    assert "create  shop_operator/api/v1/widget.py" in said
    assert project.files()["shop_operator/api/v1/widget.py"] == MODULE
    assert [entry["group"] for entry in yaml.safe_load(project.files()["PROJECT"])["resources"]] == ["foreign"]
    told = [text.partition(";")[0] for text in said.splitlines() if text.startswith("error: ")]
    assert told == [
        (
            "error: crds/a.yaml:1: widgets.foreign.io: it has no spec.versions[0].schema.openAPIV3Schema,"
            " and no server takes it"
        ),
        f"error: crds/b.yaml:{line + 1}: YAML: did not find expected node content",
        "error: crds/c.yaml:1: widgets.b.io: it is in crds/b.yaml:1 too, and they differ",
        "error: crds/d.yaml:1: widgets.d.io: it has not the form that CRDs have: KeyError: 'jsonPath'",
    ]
    assert "warning: left out: crds/e.yaml:1: a template" in said

    report = json.loads(project.run("import", "crd", "crds", "--force", "--output", "json", code=1))
    assert [problem["subject"] for problem in report["problems"]] == [
        "widgets.foreign.io",
        "YAML",
        "widgets.b.io",
        "widgets.d.io",
    ]
    assert report["skipped"] == ["crds/e.yaml:1: a template"]


def test_none_that_can_be_imported(folder: Folder) -> None:
    """Where nothing is left, the command fails, and tells of each."""
    (version,) = versions("v1")
    (folder.path / "a.yaml").write_text(crd(versions=[{"name": "v1", "served": True, "storage": True}]))
    (folder.path / "b.yaml").write_text(
        crd(group="b.io", versions=[{**version, "additionalPrinterColumns": [{"name": "A"}]}])
    )

    said = folder.run("import", "crd", ".", code=2)

    assert [f"error: {name}.yaml:1:" in said for name in "ab"] == [True, True]
    (folder.path / "a.yaml").unlink()
    assert "b.yaml:1: widgets.b.io: it has not the form" in folder.run("import", "crd", ".", code=2)
    assert folder.entries() == {"b.yaml"}


REFUSED = {
    "nothing named": ((), "name files or folders, - or --cluster"),
    "a missing file": (("nowhere.yaml",), "nowhere.yaml: can't be read"),
    "a context without --cluster": (("crd.yaml", "--context", "x"), "add --cluster"),
    "a second group": (("crd.yaml", "--own"), "not laid out for a second one"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_call(project: Folder, case: str) -> None:
    """A call that can't be is refused with the way out."""
    arguments, message = REFUSED[case]
    project.run("create", "api", "--group", "shop", "--version", "v1", "--kind", "Web")
    (project.path / "crd.yaml").write_text(WIDGETS)

    assert message in project.run("import", "crd", *arguments, code=2)


def test_a_module_that_is_taken(project: Folder) -> None:
    """A kind of another group can't have the module of the project's own kind of that name."""
    project.run("create", "api", "--group", "shop", "--version", "v1", "--kind", "Widget")
    (project.path / "crd.yaml").write_text(WIDGETS)

    said = project.run("import", "crd", "crd.yaml", code=2)

    assert "the module shop_operator.api.v1.widget is taken by Widget of shop.example.com" in said
    assert "--output-dir" in said


def test_names_are_told_apart(folder: Folder) -> None:
    """Names that Python or the API package has, equal names and odd ones each get one of their own."""
    names = ["fooBar", "foo_bar", "class", "list", "a.b", "3d", "größe"]
    spec: dict[str, Any] = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}}
    spec["properties"]["port"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    spec["properties"]["ports"] = {
        "type": "array",
        "items": {"type": "object", "properties": {"b": {"type": "string"}}},
    }
    (version,) = versions("v1")
    version["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": spec}}
    del version["subresources"], version["selectableFields"]
    (folder.path / "crd.yaml").write_text(
        crd(versions=[version], names={"kind": "Pattern", "plural": "patterns", "singular": "pattern"})
    )

    folder.run("import", "crd", "crd.yaml")

    text = folder.files()["v1/pattern.py"]
    lines = [line.strip() for line in text.splitlines()]
    for line in (
        "foo_bar: bool | None = None",
        'foo_bar_2: Annotated[bool, Name("foo_bar")] | None = None',
        "class_: bool | None = None",
        "list_: bool | None = None",
        'a_b: Annotated[bool, Name("a.b")] | None = None',
        'field_3d: Annotated[bool, Name("3d")] | None = None',
        'gr__e: Annotated[bool, Name("größe")] | None = None',
        "port: PatternSpecPort | None = None",
        "ports: list[PatternSpecPort2] | None = None",
        "class Pattern2(Object):",
    ):
        assert line in lines, text
    assert 'kind="Pattern"' in text


def test_objects_are_read_and_written(folder: Folder) -> None:
    """The codec reads an object as the imported class, and writes it back unchanged."""
    (folder.path / "crd.yaml").write_text(WIDGETS)
    folder.run("import", "crd", "crd.yaml", "--output-dir", "imported_widgets")
    thing = {
        "apiVersion": "foreign.io/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "spec": {"mode": "fast", "replicas": 3, "clusterIP": "1", "size": "10%", "template": {"image": "x"}},
        "status": {},
    }
    check = (
        "import json, sys\n"
        "from pyopscaffold import codec\n"
        "from imported_widgets.v1.widget import Widget\n"
        "read = codec.decode(Widget, sys.stdin.buffer.read())\n"
        "assert read.spec.cluster_ip == '1' and read.spec.template.ports is None\n"
        "print(json.dumps(codec.to_mapping(read)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", check],
        input=json.dumps(thing),
        cwd=folder.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout or "{}") == thing, done.stderr


def test_standard_input(folder: Folder) -> None:
    """A dash reads what another program prints."""
    program = Path(sys.executable).with_name("pyopscaffold")
    done = subprocess.run(
        [program, "import", "crd", "-"], input=WIDGETS, cwd=folder.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert folder.files()["v1/widget.py"] == MODULE


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "no type": ({}, "spec.odd: it has no type: Any stands there"),
    "items not described": ({"type": "array"}, "spec.odd: its items are not described: Any stands for them"),
    "fields and a dict": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
        "spec.odd: its fields are left out: it is no object, or a dict",
    ),
    "required, not described": (
        {"type": "object", "required": ["b"]},
        "spec.odd: required are b, which it does not describe",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_a_schema_that_no_server_takes(folder: Folder, case: str) -> None:
    """Where a schema is not structural, what the class does not say of it is told."""
    odd, message = ODD[case]
    (version,) = versions("v1")
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["odd"] = odd
    (folder.path / "crd.yaml").write_text(crd(versions=[version]))

    assert f"note: Widget v1 {message}" in folder.run("import", "crd", "crd.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {"group": "a'; import os"},
        {"names": {"kind": 'X"""', "plural": "xs"}},
        {"names": {"kind": "X", "plural": "x s"}},
        {"versions": versions("../v1")},
    ],
)
def test_names_that_are_none(folder: Folder, changes: dict[str, Any]) -> None:
    """What becomes a name in the code, or of a file, is refused where no server would take it."""
    (folder.path / "crd.yaml").write_text(crd(**changes))

    assert "is no name that a server takes" in folder.run("import", "crd", "crd.yaml", code=2)
    assert folder.entries() == {"crd.yaml"}


def test_another_form_than_a_crd_has(folder: Folder) -> None:
    """A CRD whose parts have other types than they should is told as such, without a traceback."""
    (version,) = versions("v1")
    version["additionalPrinterColumns"] = [{"name": "A"}]
    (folder.path / "crd.yaml").write_text(crd(versions=[version]))

    said = folder.run("import", "crd", "crd.yaml", code=2)

    form = "it has not the form that CRDs have: KeyError: 'jsonPath'"
    assert f"crd.yaml:1: widgets.foreign.io: {form}; see what kubectl" in said


def test_whose_a_kind_is_stays(project: Folder) -> None:
    """A kind that PROJECT has as another's does not become the project's own in passing, nor the other way round."""
    (project.path / "crd.yaml").write_text(WIDGETS)
    project.run("import", "crd", "crd.yaml")
    assert "Widget v1 is recorded as another's API" in project.run("import", "crd", "crd.yaml", "--own", code=2)

    (project.path / "PROJECT").write_text((project.path / "PROJECT").read_text().replace("external: true", "api: {}"))
    assert "Widget v1 is recorded as the project's own API" in project.run("import", "crd", "crd.yaml", code=2)
