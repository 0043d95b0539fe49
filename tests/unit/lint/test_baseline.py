"""The baseline, as users keep it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.example import spec

if TYPE_CHECKING:
    from pathlib import Path

TWO = spec("name: {type: string}\nsize: {type: string}")
NAME, SIZE = "VA01 widgets.example.com/v1 .spec.name", "VA01 widgets.example.com/v1 .spec.size"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a CRD, its configuration and its baseline, which is the working directory."""
    (tmp_path / "crd.yaml").write_text(TWO)
    (tmp_path / ".lint-crd.toml").write_text('select = ["VA01", "ST01"]\nbaseline = "known.json"\n')
    monkeypatch.chdir(tmp_path)
    assert run(["lint-crd", ".", "--write-baseline"]) == 0
    return tmp_path


def listed(folder: Path) -> dict[str, int]:
    """Read the entries of the baseline."""
    found: dict[str, int] = json.loads((folder / "known.json").read_text())["findings"]
    return found


def found(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[tuple[str, str]]]:
    """Lint, and return the exit code, and rule and message of what is found."""
    capsys.readouterr()
    code = run(["lint-crd", "-o", "json", *(options or ["."])])
    return code, [(it["rule"], it["message"]) for it in json.loads(capsys.readouterr().out)["findings"]]


def test_what_is_listed_is_put_up_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry a finding, without lines; the summary tells how many there are."""
    assert (folder / "known.json").read_text() == (
        f'{{\n  "version": 1,\n  "findings": {{\n    "{NAME}": 1,\n    "{SIZE}": 1\n  }}\n}}\n'
    )
    capsys.readouterr()
    assert run(["lint-crd", "."]) == 0
    assert capsys.readouterr().out.endswith("no findings (2 in the baseline)\n")
    assert run(["lint-crd", ".", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["baselined"] == len(listed(folder))


def test_a_baseline_outlives_edits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines may move, and the file may get another name."""
    (folder / "crd.yaml").unlink()
    (folder / "other.yaml").write_text("# a comment\n\n" + TWO)
    assert found(capsys) == (0, [])


def test_what_is_new_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another field is, and so is the same field a second time."""
    (folder / "crd.yaml").write_text(TWO + " " * 14 + "kind: {type: string}\n")
    code, findings = found(capsys)
    assert (code, len(findings)) == (1, 1)
    assert findings[0][1].startswith(".spec.kind takes any text")
    (folder / "copy.yaml").write_text(TWO)
    assert len(found(capsys)[1]) == 5


def test_what_is_mended_must_leave_the_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stale entry fails the run, whatever was selected, until the baseline is shrunk."""
    (folder / "crd.yaml").write_text(spec("name: {type: string}"))
    told = ("LC04", f"{SIZE}: is found no more: shrink the baseline by --write-baseline")
    assert found(capsys) == (1, [told])
    assert found(capsys, "--fail-on", "error", ".") == (1, [told])
    capsys.readouterr()
    assert run(["lint-crd", "."]) == 1
    assert f"known.json:5:5 LC04 error {SIZE}" in capsys.readouterr().out
    assert run(["lint-crd", ".", "--write-baseline"]) == 0
    assert listed(folder) == {NAME: 1}
    assert found(capsys) == (0, [])


def test_a_count_that_is_too_high_is_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two copies of a CRD count twice; with one of them gone, one is too many."""
    (folder / "known.json").write_text(json.dumps({"version": 1, "findings": {NAME: 2, SIZE: 1}}))
    message = f"{NAME}: only 1 of 2 are found: shrink the baseline by --write-baseline"
    assert found(capsys) == (1, [("LC04", message)])


def test_a_baseline_never_grows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Writing it again adds nothing: what is new stays a finding."""
    (folder / "crd.yaml").write_text(TWO.replace("size:", "length:"))
    code, findings = found(capsys, ".", "--write-baseline")
    assert (code, [message.split()[0] for _, message in findings]) == (1, [".spec.length"])
    assert listed(folder) == {NAME: 1}
    (folder / "copy.yaml").write_text(spec("name: {type: string}"))
    assert run(["lint-crd", ".", "--write-baseline"]) == 1
    assert listed(folder) == {NAME: 1}


def test_what_did_not_run_is_not_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Entries of other rules and of CRDs that were not given stay, as pre-commit gives only what changed."""
    (folder / "crd.yaml").write_text(spec("name: {type: string}"))
    (folder / "other.yaml").write_text(spec("size: {type: string}").replace("idget", "adget"))
    (folder / ".lint-crd.toml").write_text('select = ["VA01"]\n')
    options = ["other.yaml", "--baseline", "known.json"]
    assert [rule for rule, _ in found(capsys, *options)[1]] == ["VA01"]
    assert found(capsys, "crd.yaml", "--baseline", "known.json", "--select", "ST01") == (0, [])
    assert run(["lint-crd", *options, "--write-baseline"]) == 1
    assert listed(folder) == {NAME: 1, SIZE: 1}


def test_rules_that_are_gone_are_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry of a rule that there is no longer goes as well."""
    entries = {"VA00 widgets.example.com/v1 .spec.name": 1, NAME: 1, SIZE: 1}
    (folder / "known.json").write_text(json.dumps({"version": 1, "findings": entries}))
    assert [rule for rule, _ in found(capsys)[1]] == ["LC04"]


def test_files_that_are_no_manifests_are_listed_by_path(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is relative to the baseline, whatever folder the command runs in."""
    (folder / "known.json").unlink()
    (folder / "config").mkdir()
    (folder / "config" / "broken.yaml").write_text("a: 1\na: 2\n")
    assert run(["lint-crd", ".", "--write-baseline"]) == 0
    assert listed(folder) == {"ST01 config/broken.yaml": 1, NAME: 1, SIZE: 1}
    monkeypatch.chdir(folder / "config")
    assert found(capsys, "..") == (0, [])
    (folder / "config" / "broken.yaml").write_text("a: 1\n")
    assert [rule for rule, _ in found(capsys, "..")[1]] == ["LC04"]


def test_names_with_spaces_are_judged_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name may have spaces, and what was found in it may be gone."""
    (folder / "known.json").unlink()
    (folder / "my crds").mkdir()
    broken = folder / "my crds" / "old ones.yaml"
    broken.write_text("a: 1\na: 2\n")
    assert run(["lint-crd", ".", "--write-baseline"]) == 0
    assert "ST01 my crds/old ones.yaml" in listed(folder)
    broken.write_text("a: 1\n")
    assert [rule for rule, _ in found(capsys)[1]] == ["LC04"]


def test_stale_entries_weigh_as_configured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They need not be selected, but who ignores them, or gives them another severity, has it so."""
    (folder / "crd.yaml").write_text(spec("name: {type: string}"))
    assert [rule for rule, _ in found(capsys)[1]] == ["LC04"]
    with (folder / ".lint-crd.toml").open("a") as file:
        file.write('severity.LC = "info"\n')
    assert (found(capsys)[0], [rule for rule, _ in found(capsys)[1]]) == (0, ["LC04"])
    assert found(capsys, ".", "--ignore", "LC04") == (0, [])


def test_entries_about_changes_are_judged_beside_what_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run without --against finds no change, and says nothing of entries that list some."""
    (folder / "old").mkdir()
    (folder / "old" / "crd.yaml").write_text(TWO.replace("size:", "length:"))
    options = ["crd.yaml", "--select", "VE", "--baseline", "changes.json"]
    assert run(["lint-crd", *options, "--write-baseline", "--against", "old"]) == 0
    assert found(capsys, *options, "--against", "old") == (0, [])
    assert found(capsys, *options) == (0, [])
    assert [rule for rule, _ in found(capsys, *options, "--against", "crd.yaml")[1]] == ["LC04"] * 2


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("[]", [], "no baseline of this version"),
        ('{"version": 2, "findings": {}}', [], "no baseline of this version"),
        ('{"version": 1,\n "findings": {\n"a": "b"}}', [], "known.json:3: a: must be a count"),
        ("{\n<<<<<<< HEAD\n", [], "known.json:2: no baseline: not one JSON object"),
        ("", [], "known.json:1: no baseline: not one JSON object"),
        ("", ["--baseline", "absent.json"], "there is no baseline absent.json"),
        ("", ["--isolated", "--write-baseline"], "--write-baseline has nowhere to write"),
    ],
)
def test_what_can_not_be_read_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, options: list[str], told: str
) -> None:
    """The command exits with 2: a baseline that is not read must not pass for one."""
    (folder / "known.json").write_text(text)
    assert run(["lint-crd", "crd.yaml", *options]) == 2
    assert told in capsys.readouterr().err
