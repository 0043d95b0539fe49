from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import crd, spec, status
from pyopscaffold.lint.registry import builtin

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Report

RULES = builtin()


def check(text: str, *select: str, file: str = "x.yaml") -> Report:
    """Lint one text by some rules."""
    return lint([Source(file, text)], RULES.choose(select=select))


def test_a_finding_says_where_it_is() -> None:
    """File, line, column, CRD, version and field; the line is the field's own."""
    text = spec("size: {type: integer, description: Size.}\nname: {type: string}")
    (finding,) = check(text, "VA01").findings
    assert text.splitlines()[finding.line - 1][finding.column - 1 :].startswith("name: {type: string}")
    assert (finding.file, finding.crd, finding.version, finding.field) == (
        "x.yaml",
        "widgets.example.com",
        "v1",
        ".spec.name",
    )


def test_all_documents_and_lists_of_objects_are_checked() -> None:
    """Several documents, and the List that kubectl get prints, which may hold others."""
    one = spec("name: {type: string}")
    listed, twice = (
        "apiVersion: v1\nkind: List\nitems:\n- " + inner.replace("\n", "\n  ").rstrip() + "\n"
        for inner in (one, "apiVersion: v1\nkind: List\nitems:\n- " + one.replace("\n", "\n  "))
    )
    report = check(f"{one}---\n# empty\n---\n{listed}---\n{twice}", "VA01")
    assert report.crds == 3
    lines = [finding.line for finding in report.findings]
    # The first document, three lines between, the head of the list, a line between, and two heads.
    assert lines == [25, 25 + 3 + 3 + 25, 25 + 3 + 3 + 25 + 1 + 6 + 25]


def test_one_broken_document_does_not_hide_the_others() -> None:
    """The parse error is a finding; the rest of the file is checked."""
    report = check(f"a: [\n---\n{spec('name: {type: string}')}", "ST01", "VA01")
    assert [finding.rule for finding in report.findings] == ["ST01", "VA01"]


def test_json_is_checked_as_yaml_is() -> None:
    """The same CRD as JSON has the same findings, at its own lines."""
    manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example", "names": {}},
    }
    report = check(json.dumps(manifest, indent="\t"), "ST04", file="x.json")
    assert (8, "group 'example' has no dot: it must be a domain such as example.example.com") in [
        (finding.line, finding.message) for finding in report.findings
    ]


def test_templates_are_skipped_and_said_to_be() -> None:
    """A Helm template is no YAML, or YAML with holes in its names; neither is a finding, neither is a success."""
    lines = "{{- if .Values.crds }}\n" + spec("name: {type: string}") + "{{- end }}\n"
    holes = spec("name: {type: string}").replace("widgets.example.com", '"{{ .Values.name }}"')
    for text in (lines, holes):
        report = check(text, "ST", "VA")
        assert [finding.rule for finding in report.findings] == ["ST02"]
        assert report.crds == 0
        assert [part.reason for part in report.skipped] == ["template"]


def test_braces_in_descriptions_make_no_template() -> None:
    """Descriptions may speak of templates."""
    report = check(spec('name: {type: string, description: "Such as {{ .name }}."}'), "VA01")
    assert (report.crds, len(report.findings), report.skipped) == (1, 1, ())


def test_kustomize_patches_of_crds_are_skipped() -> None:
    """A patch names a CRD and has nothing that makes one."""
    patch = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n"
        "spec: {conversion: {strategy: Webhook}}\n"
    )
    report = check(patch, "ST")
    assert ([finding.rule for finding in report.findings], report.crds) == (["ST02"], 0)
    assert [part.reason for part in report.skipped] == ["kustomize patch"]


def test_embedded_kubernetes_types_are_not_the_authors() -> None:
    """The inside of a pod template or a condition is left alone, the field that embeds it is not."""
    container = "args: {}, command: {}, env: {}, imagePullPolicy: {}, livenessProbe: {}, volumeMounts: {}"
    text = spec(f"main: {{type: object, properties: {{image: {{type: string}}, {container}}}}}")
    assert [finding.field for finding in check(text, "VA01", "UX01").findings] == [".spec.main"]


def test_status_strings_need_no_bounds() -> None:
    """The controller writes the status; VA01 is about what users write."""
    assert check(status("message: {type: string, description: Text.}"), "VA01").findings == ()


def test_other_manifests_do_not_count_as_crds() -> None:
    """Deployments and texts that are no objects pass by."""
    report = check("kind: Deployment\napiVersion: apps/v1\n---\n- 1\n---\ntext\n", "ST", "SE")
    assert (report.findings, report.crds) == ((), 0)


def test_every_fault_of_a_crd_is_reported() -> None:
    """The API server stops at the first kind of fault; the linter reports all at once."""
    text = crd(
        "spec: {type: object, properties: {a: {}, b: {type: array}, c: {type: string, x-kubernetes-list-type: set}}}"
    )
    broken = text.replace("scope: Namespaced", "scope: Everywhere").replace("storage: true", "storage: false")
    found = check(broken, "ST04", "ST06", "LS02").findings
    assert [finding.rule for finding in found] == ["ST04", "ST04", "ST06", "ST06", "LS02"]


def test_a_crd_that_etcd_does_not_take_is_an_error() -> None:
    """Beyond what kubectl keeps in an annotation a size is a warning, beyond what etcd takes an error."""
    small = spec("size: {type: integer}")
    for length, severities in ((100_000, []), (300_000, ["warning"]), (1_600_000, ["error"])):
        report = check(small.replace("A widget.", "x" * length), "UX06")
        assert [finding.severity for finding in report.findings] == severities
