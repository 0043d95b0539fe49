"""lint-crd renders a chart by the real helm, and tells of its own files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.alike import same_lines
from pyopscaffold.lint.example import spec
from tests.tools_path import tool

if TYPE_CHECKING:
    from pathlib import Path

DIRTY = spec("name: {type: string}")
LINE = DIRTY.splitlines().index("              name: {type: string}") + 1
TEMPLATE = DIRTY.replace("widgets", "gadgets").replace(
    "metadata:\n",
    "metadata:\n  labels:\n    app: {{ .Release.Name }}\n    {{- range .Values.more }}\n"
    "    {{ . }}: {{ . | quote }}\n    {{- end }}\n",
)
FIX = ("--select", "VA10", "--fix", "--unsafe-fixes", "--fail-on", "info")
CHECK = ("lint-crd", "shop", "--select", "ST01,VA01", "-f", "github")


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a chart with a CRD in crds/ and a template of one; its parent is the working directory, helm is on PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tool('helm').parent}{os.pathsep}{os.environ['PATH']}")
    files = {
        "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
        "values.yaml": "crds: true\nmore: [a, b, c, d, e]\n",
        "crds/widgets.yaml": DIRTY,
        "templates/gadgets.yaml": "{{- if .Values.crds }}\n" + TEMPLATE + "{{- end }}\n",
    }
    for name, text in files.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    return tmp_path / "shop"


def test_lines_of_templates(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings stand at the lines of the chart's own files, though the values make more lines or fewer of them."""
    assert run(CHECK) == 1
    out = capsys.readouterr().out
    template = (chart / "templates" / "gadgets.yaml").read_text().splitlines()
    assert f"file=shop/crds/widgets.yaml,line={LINE},col=15," in out
    assert f"file=shop/templates/gadgets.yaml,line={template.index('              name: {type: string}') + 1}," in out


def test_line_that_values_make(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is in no line of the template stands at the rendered document, which is named after it."""
    file = chart / "templates" / "gadgets.yaml"
    file.write_text(file.read_text().replace("name: {type: string}", "{{ .Release.Name }}: {type: string}"))
    assert run(CHECK) == 1
    assert "file=shop/templates/gadgets.yaml (rendered),line=" in capsys.readouterr().out


def test_settings_of_a_template(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the configuration says of a template holds for all that is rendered of it, in lines of its own or not."""
    file = chart / "templates" / "gadgets.yaml"
    file.write_text(
        file.read_text().replace("name: {type", "{{ .Release.Name }}: {type: string}\n              name: {type")
    )
    settings = chart.parent / ".lint-crd.toml"
    settings.write_text('select = ["VA01"]\n[per-path."shop/templates/*.yaml"]\nextend-select = ["VA02"]\n')
    assert run(("lint-crd", "shop", "-f", "github")) == 1
    assert capsys.readouterr().out.count("title=VA02") == 2
    settings.write_text('select = ["VA01"]\n[per-path."shop/templates/*.yaml"]\nignore = ["VA01"]\n')
    assert run(("lint-crd", "shop", "-f", "github")) == 1
    assert "gadgets" not in capsys.readouterr().out


def test_comment_in_a_template(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A suppression in a template hides its finding, and is told where it hides nothing."""
    file = chart / "templates" / "gadgets.yaml"
    comment = "# lint-crd: ignore[VA01] any text is right"
    file.write_text(file.read_text().replace("name: {type: string}", f"name: {{type: string}}  {comment}"))
    assert run((*CHECK, "--extend-select", "LC")) == 1
    assert "gadgets" not in capsys.readouterr().out
    file.write_text(file.read_text().replace("name: {type: string}", "name: {type: string, maxLength: 9}"))
    assert run((*CHECK, "--extend-select", "LC")) == 1
    assert capsys.readouterr().out.count("LC01") == 1


def test_comment_in_what_is_not_rendered(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody knows what a suppression hides that stands in a branch of a template which the values switch off."""
    file = chart / "templates" / "gadgets.yaml"
    commented = TEMPLATE.replace("name: {type", "old: {type").replace(
        "string}", "string}  # lint-crd: ignore[VA01] old"
    )
    file.write_text(file.read_text().replace("{{- end }}", f"{{{{- else }}}}\n{commented}{{{{- end }}}}"))
    assert run((*CHECK, "--extend-select", "LC")) == 1
    assert "LC01" not in capsys.readouterr().out


def test_folder_like_an_option(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder whose name begins as an option does is a folder to helm as well."""
    chart.rename(chart.parent / "-shop")
    assert run((*CHECK[:1], *CHECK[2:], "--", "-shop")) == 1
    assert "file=-shop/templates/gadgets.yaml,line=" in capsys.readouterr().out


def test_refused_by_helm(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A chart that can't be rendered is one finding in the words of helm; other paths and crds/ are checked."""
    (chart / "templates" / "broken.yaml").write_text('{{ fail "set a password" }}')
    (chart.parent / "other.yaml").write_text(DIRTY)
    assert run((*CHECK, "other.yaml")) == 1
    out = capsys.readouterr().out
    assert out.count("set a password") == 1
    assert "file=shop/Chart.yaml,line=1" in out
    assert "file=shop/crds/widgets.yaml" in out
    assert "file=other.yaml" in out


def test_fixes_are_for_files(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a template made is not mended, as nobody knows what would make it so; the CRDs named as files are."""
    crds = chart / "crds" / "widgets.yaml"
    crds.write_text(DIRTY.replace("{type: string}", "{type: integer}"))
    before = {file: file.read_text() for file in chart.rglob("*.yaml")}
    assert run(("lint-crd", "shop", *FIX)) == 1
    assert {file: file.read_text() for file in chart.rglob("*.yaml")} == before
    assert run(("lint-crd", "shop/crds", *FIX)) == 0
    assert crds.read_text() != before[crds]
    assert "fixed" in capsys.readouterr().out


def test_without_helm(chart: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without helm, crds/ is checked as files, and templates are said to be skipped."""
    monkeypatch.setenv("PATH", str(chart))
    assert run(("lint-crd", "shop", "--select", "ST01,VA01")) == 1
    out = capsys.readouterr().out
    assert f"shop/crds/widgets.yaml:{LINE}:" in out
    assert "not checked, template: shop/templates/gadgets.yaml:1" in out


def test_template_that_is_switched_off(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A CRD that the values leave out is told as a template that was not checked, also where nothing else is made."""
    (chart / "values.yaml").write_text("crds: false\n")
    assert run((*CHECK[:-1], "text")) == 1
    assert "not checked, template: shop/templates/gadgets.yaml:1" in capsys.readouterr().out
    (chart / "crds" / "widgets.yaml").unlink()
    assert run(CHECK) == 2
    assert "shop/templates/gadgets.yaml:1 is no whole one (template)" in capsys.readouterr().err


def test_spaces_in_names(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files whose names have spaces are files of the chart like others, each of them."""
    for folder in ("crds", "templates"):
        (chart / folder / "my own.yaml").write_text(DIRTY.replace("widgets", f"in{folder}"))
    assert run(CHECK) == 1
    out = capsys.readouterr().out
    assert f"file=shop/crds/my own.yaml,line={LINE},col=15," in out
    assert f"file=shop/templates/my own.yaml,line={LINE},col=15," in out
    assert out.count("title=VA01") == 4


def test_values_in_a_large_template() -> None:
    """However many lines of a repetitive text come of values, each other line is mapped to its own."""
    made = [f"{'  ' * (at % 5)}type: string" if at % 3 else f"field{at}:" for at in range(20_000)]
    template = ["{{- if .Values.crds }}", *("{{ it }}" if at % 7 == 2 else line for at, line in enumerate(made))]
    found = same_lines(made, template)
    kept = {at for at in range(1, len(made) + 1) if (at - 1) % 7 != 2}
    assert {line for line, there in found.items() if there != line + 1} == set()
    assert len(kept - found.keys()) < len(kept) / 100
