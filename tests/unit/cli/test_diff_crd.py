"""``pyopscaffold diff-crd`` and ``lint-crd --against``, as a user runs them, with a real git."""

from __future__ import annotations

import io
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.example import spec
from pyopscaffold.loader.revision import changed_lines

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

OLD = spec("size: {type: integer}\nname: {type: string}")
NEW = spec("size: {type: integer, minimum: 1}\nnew: {type: string}")
ONLY_CHANGES = ("--isolated", "--select", "VE")


def git(*args: str) -> None:
    """Run git as somebody."""
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *identity, *args], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a git repository whose commit has a CRD and a file beside it; the working folder is a folder of it."""
    folder = tmp_path / "operator"
    (folder / "crds").mkdir(parents=True)
    monkeypatch.chdir(folder)
    git("init", "--quiet", "..")
    (folder / "crds/ü widget.yaml").write_text(OLD)
    (folder / "crds/README.md").write_text("not: [a manifest")
    git("add", "--all")
    git("commit", "--quiet", "--message", "one")
    git("tag", "v1.0")
    return folder


def test_against_a_revision(repository: Path, capsys: Capture) -> None:
    """What changed since is found at the lines of the work tree; what is only new is not told unless asked for."""
    (repository / "crds/ü widget.yaml").write_text(NEW)
    assert run(["lint-crd", "crds", "--against", "v1.0", *ONLY_CHANGES, "--ignore", "VE09"]) == 1
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("crds/")]
    assert [head.partition(" error ")[2] for head in heads] == [
        "version v1: .spec.name is gone; what is stored is dropped",
        "version v1: .spec.size must be at least 1 now",
    ]
    assert run(["lint-crd", "crds", "--against", "HEAD", "--isolated", "--profile", "strict", "--output", "json"]) == 1
    found = {finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert {"VE01", "VE05"} <= found
    assert "VE09" not in found


def test_nothing_changed_is_nothing_found(repository: Path) -> None:
    """A file that was only moved is the same CRD."""
    (repository / "crds/ü widget.yaml").rename(repository / "crds/other.yaml")
    assert run(["lint-crd", "crds", "--against", "HEAD", *ONLY_CHANGES]) == 0


def test_a_crd_that_is_gone_is_told(repository: Path, capsys: Capture) -> None:
    """It is told at the place where it was, though there is no file left, and weighs as configured."""
    (repository / "crds/ü widget.yaml").write_text(OLD.replace("widgets", "gadgets"))
    assert run(["lint-crd", "crds", "--against", "v1.0", *ONLY_CHANGES]) == 1
    assert "v1.0:crds/ü widget.yaml:1:1 VE01 error the CRD widgets.example.com is gone" in capsys.readouterr().out
    (repository / ".lint-crd.toml").write_text('select = ["VE01"]\nseverity.VE = "info"\n')
    assert run(["lint-crd", "crds", "--against", "v1.0"]) == 0
    assert "VE01 info the CRD widgets.example.com is gone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{OLD}  broken: [\n", ["ST01"]),
        (OLD.replace("kind: Widget", "kind: {{ .Values.kind }}"), ["ST02"]),
        (OLD.replace("name: widgets", "labels: {a: '{{ .Values.a }}'}\n  name: widgets"), ["ST02"]),
        (OLD.partition("spec:")[0] + "spec: {preserveUnknownFields: false}\n", ["VE01", "ST02"]),
    ],
    ids=["broken", "template", "template that is YAML", "patch"],
)
def test_what_can_not_be_read_is_not_gone(repository: Path, text: str, found: list[str], capsys: Capture) -> None:
    """The file's own fault is told, at its place; a patch alone is no CRD any more."""
    (repository / "crds/moved.yaml").write_text(text)
    (repository / "crds/ü widget.yaml").write_text(OLD.replace("widgets", "gadgets"))
    run(["lint-crd", "crds", "--against", "HEAD", "--isolated", "--select", "VE,ST01,ST02", "--output", "json"])
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]] == found


def test_against_a_path(repository: Path, capsys: Capture) -> None:
    """A file or folder is an earlier state as well, and REVISION:PATH names one of another place."""
    (repository / "now.yaml").write_text(NEW)
    for earlier in ("crds", "crds/ü widget.yaml", "v1.0:crds", "HEAD:crds/ü widget.yaml"):
        assert run(["lint-crd", "now.yaml", "--against", earlier, *ONLY_CHANGES]) == 1
        assert ".spec.size must be at least 1 now" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["v9", "HEAD:gone", "--output=x", "-h"])
def test_what_is_no_earlier_state_is_told(repository: Path, place: str, capsys: Capture) -> None:
    """Neither path nor revision: exit code 2, and git takes nothing for an option."""
    (repository / "now.yaml").write_text(NEW)
    assert run(["diff-crd", "--", place, "now.yaml"]) == 2
    shown = capsys.readouterr().err
    assert place in shown
    assert "hint:" in shown


@pytest.mark.parametrize("option", ["--against", "--since"])
def test_no_revision_is_not_taken_for_none_asked(repository: Path, option: str, capsys: Capture) -> None:
    """A variable of CI that is empty must not switch the check off."""
    (repository / "now.yaml").write_text(NEW)
    assert run(["lint-crd", "now.yaml", option, "", *ONLY_CHANGES]) == 2
    assert "an empty text is no " in capsys.readouterr().err


def test_an_earlier_state_that_cannot_be_read_is_told(repository: Path, capsys: Capture) -> None:
    """What can't be compared passes, as it could never be mended else, but not in silence."""
    (repository / "now.yaml").write_text(NEW)
    (repository / "broken.yaml").write_text("a: 1\nb: [\n")
    assert run(["lint-crd", "now.yaml", "--against", "broken.yaml", *ONLY_CHANGES]) == 0
    shown = capsys.readouterr().err
    assert "warning: broken.yaml:" in shown
    assert "taken for new" in shown


def test_no_earlier_crd_is_told(repository: Path, capsys: Capture) -> None:
    """A file that has another name now is not taken for new in silence."""
    (repository / "crds/ü widget.yaml").rename(repository / "crds/renamed.yaml")
    assert run(["lint-crd", "crds/renamed.yaml", "--against", "HEAD", *ONLY_CHANGES, "--ignore", "VE09"]) == 0
    assert "no CRD found in HEAD: all are taken for new" in capsys.readouterr().err
    assert run(["lint-crd", "crds/renamed.yaml", "--against", "HEAD:crds", *ONLY_CHANGES]) == 0
    assert capsys.readouterr().err == ""
    (repository / "chart.yaml").write_text(NEW.replace("\nspec:", "\n  labels: {{ .Values.labels }}\nspec:"))
    assert run(["lint-crd", "crds/renamed.yaml", "--against", "chart.yaml", *ONLY_CHANGES, "--ignore", "VE09"]) == 0
    assert "no CRD found in chart.yaml" in capsys.readouterr().err


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Where there is no repository, git's own reason is in the message."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "now.yaml").write_text(NEW)
    assert run(["lint-crd", "now.yaml", "--against", "main"]) == 2
    assert "main is no file, folder or revision" in capsys.readouterr().err


def test_diff_is_a_release_note(repository: Path, capsys: Capture) -> None:
    """Exit code 1 where something breaks; --fail-on lets it pass."""
    (repository / "new").mkdir()
    (repository / "new/widget.yaml").write_text(NEW)
    assert run(["diff-crd", "crds", "new"]) == 1
    note = capsys.readouterr().out
    assert note.startswith("## widgets.example.com\n\n### Breaking\n\n- `v1` `.spec.name` is gone")
    assert "### Compatible\n\n- `v1` `.spec.new` is new\n" in note
    assert run(["diff-crd", "v1.0:crds", "new", "--fail-on", "never"]) == 0
    assert capsys.readouterr().out == note
    assert run(["diff-crd", "crds", "HEAD:crds"]) == 0
    assert capsys.readouterr().out == "Nothing changed that an API client could notice.\n"
    assert run(["diff-crd", "new", "crds", "--output", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["summary"] == {"breaking": 1, "risky": 0, "compatible": 2}


def test_a_revision_alone_means_the_same_path(repository: Path, capsys: Capture) -> None:
    """CRDs that the revision has elsewhere are not gone."""
    (repository / "other.yaml").write_text(OLD.replace("widgets", "gadgets"))
    git("add", "--all")
    git("commit", "--quiet", "--message", "two")
    assert run(["diff-crd", "HEAD", "crds"]) == run(["diff-crd", "crds", "HEAD"]) == 0
    assert run(["diff-crd", "v1.0", "HEAD"]) == 0
    assert "the CRD gadgets.example.com is new" in capsys.readouterr().out
    for places in (("HEAD", "v1.0:crds"), ("v1.0:crds", "HEAD")):
        assert run(["diff-crd", *places]) == 0
        assert "gadgets" not in capsys.readouterr().out
    assert run(["diff-crd", "v1.0", "other.yaml"]) == 2
    assert "error: no CRD found in v1.0:other.yaml\n" in capsys.readouterr().err


def test_crds_come_and_go(repository: Path, capsys: Capture) -> None:
    """Of two folders, a CRD that is in one alone is new, or gone; of two files, one became the other."""
    (repository / "new").mkdir()
    (repository / "new/a.yaml").write_text(OLD)
    (repository / "new/b.yaml").write_text(OLD.replace("widgets", "gadgets"))
    assert run(["diff-crd", "crds", "new"]) == 0
    assert "the CRD gadgets.example.com is new" in capsys.readouterr().out
    assert run(["diff-crd", "new", "crds"]) == 1
    assert "the CRD gadgets.example.com is gone, and all its objects" in capsys.readouterr().out
    assert run(["diff-crd", "new/a.yaml", "new/b.yaml"]) == 1
    assert "plural was widgets and is gadgets now" in capsys.readouterr().out


def test_only_lines_that_changed(repository: Path, capsys: Capture) -> None:
    """--since leaves old findings alone: those in files git does not know, and at lines that changed, are shown."""
    old = spec("a: {type: string}\nb: {type: string}")
    for name in ("crds/ü widget.yaml", 'crds/"quoted"\\.yaml'):
        (repository / name).write_text(old.replace("widgets", "w" if "ü" in name else "q"))
    git("add", "--all")
    git("commit", "--quiet", "--message", "two")
    for name in ("crds/ü widget.yaml", 'crds/"quoted"\\.yaml'):
        (repository / name).write_text((repository / name).read_text().replace("b: {", "changed: {"))
    (repository / "crds/unknown.yaml").write_text(old.replace("widgets", "u"))
    assert run(["lint-crd", "crds", "--since", "HEAD", "--isolated", "--select", "VA01", "--output", "json"]) == 1
    found = [(one["file"], one["field"]) for one in json.loads(capsys.readouterr().out)["findings"]]
    assert found == [
        ('crds/"quoted"\\.yaml', ".spec.changed"),
        ("crds/unknown.yaml", ".spec.a"),
        ("crds/unknown.yaml", ".spec.b"),
        ("crds/ü widget.yaml", ".spec.changed"),
    ]
    git("add", "--all")
    git("commit", "--quiet", "--message", "three")
    assert run(["lint-crd", "crds", "--since", "HEAD", "--isolated", "--select", "VA01"]) == 0
    assert run(["lint-crd", "crds", "--since", "HEAD~1", "--isolated", "--select", "VA01"]) == 1


def test_what_git_does_not_have_is_new(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """--since shows all that stands in an ignored file that is named, and in standard input: git knows no old lines."""
    (repository / ".gitignore").write_text("built.yaml\n")
    (repository / "built.yaml").write_text(OLD)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OLD.encode())))
    options = ("--isolated", "--select", "UX03", "--fail-on", "info", "--output", "github")
    assert run(["lint-crd", "built.yaml", "-", "--since", "HEAD", *options]) == 1
    assert capsys.readouterr().out.count("title=UX03::") == 2
    assert run(["lint-crd", "crds", "--since", "HEAD", *options]) == 0


def test_settings_of_git_move_no_line(repository: Path) -> None:
    """Whatever a user or a repository has git diff show, the lines that changed are the same."""
    file = repository / "crds/ü widget.yaml"
    file.write_text(
        file.read_text().replace("kind: Widget\n", "kind: Gadget\n").replace("{status: {}}", "{status:  {}}")
    )
    changed = changed_lines("HEAD")[os.path.realpath(file)]
    assert len(changed) == 2
    settings = ("interHunkContext=50", "mnemonicPrefix=true", "noprefix=true", "relative=true", "renames=copies")
    for setting in (*(f"diff.{each}" for each in settings), "diff.cut.textconv=sed 1d", "core.quotePath=true"):
        git("config", *setting.split("=", 1))
    (repository / ".gitattributes").write_text("*.yaml diff=cut\n")
    assert changed_lines("HEAD")[os.path.realpath(file)] == changed


def test_changed_lines_that_look_like_those_of_a_diff(repository: Path) -> None:
    """What a file has in it moves no other line to another file."""
    file = repository / "crds/ü widget.yaml"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(["++ b", *lines[:-1], "+++ c", "@@ -1 +1 @@"]) + "\n")
    assert changed_lines("HEAD")[os.path.realpath(file)] == {1, len(lines) + 1, len(lines) + 2}


@pytest.mark.parametrize("more", ["--fix", "--diff", "--write-baseline"])
def test_a_part_of_the_findings_is_not_acted_upon(repository: Path, more: str, capsys: Capture) -> None:
    """What is only a view of the findings is no base for changes."""
    assert run(["lint-crd", "crds", "--since", "HEAD", more, "--baseline", str(repository / "b.json")]) == 2
    assert "--since" in capsys.readouterr().err


def test_what_can_not_be_read_is_told(repository: Path, capsys: Capture) -> None:
    """A file that is broken, or has no CRD, is named with its line; the other side is not taken for new."""
    (repository / "broken.yaml").write_text("a: 1\nb: [\n")
    (repository / "other.yaml").write_text("a: 1\n")
    (repository / "now").mkdir()
    (repository / "now/gadget.yaml").write_text(OLD.replace("widgets", "gadgets"))
    for text, why in (("a: [\n", ":28: "), ("{{ if .a }}\n", ":1: a template"), ("", "")):
        (repository / "now/widget.yaml").write_text(text + OLD if "{{" in text else OLD + text)
        assert run(["diff-crd", "crds", "now"]) == (2 if text else 0)
        assert f"error: now/widget.yaml{why}" in capsys.readouterr().err or not text
    assert run(["diff-crd", "crds", "broken.yaml"]) == 2
    assert "error: broken.yaml:" in capsys.readouterr().err
    assert run(["diff-crd", "other.yaml", "crds"]) == 2
    assert "no CRD found in other.yaml" in capsys.readouterr().err
