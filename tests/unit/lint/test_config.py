"""The configuration, as users write it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.document.reader import Source
from pyopscaffold.errors import SettingsError
from pyopscaffold.lint.configfile import json_schema, read
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.globs import matches_field, matches_path
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.lint.ruleset import Ruleset
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DIRTY = spec("name: {type: string}\ntemplate: {type: object, properties: {size: {type: string}}}")
DEEP = spec("{a: {type: object, properties: {b: {type: object, properties: {c: {type: object, properties: {d: {type: "
            "string}}}}}}}}")  # fmt: skip
ONLY = 'select = ["VA01"]\n'


@dataclass(frozen=True)
class Options:
    """Options of a rule, as its author writes them."""

    max_depth: int = 3
    """Levels that are fine."""
    words: tuple[str, ...] = ("spec",)
    """Words that are fine."""
    strict: bool = False
    """Whether more is asked."""


RULES = Registry(
    tuple(replace(rule, options=Options()) if rule.id == "ST12" else replace(rule, options=None) for rule in builtin())
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a CRD in config/crd, which is the working directory."""
    (tmp_path / "config" / "crd").mkdir(parents=True)
    (tmp_path / "config" / "crd" / "widgets.yaml").write_text(DIRTY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fields(capsys: pytest.CaptureFixture[str], *options: str, path: str = "config") -> list[tuple[str, str, str]]:
    """Lint, and return rule, severity and field of what is found."""
    run(["lint-crd", path, "-o", "json", *options])
    captured = capsys.readouterr()
    assert captured.err == ""
    return [(found["rule"], found["severity"], found["field"]) for found in json.loads(captured.out)["findings"]]


def problems(text: str, folder: Path) -> str:
    """Read a configuration that can't be, and return what is said about it."""
    (folder / "lint.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        read(folder / "lint.toml", RULES)
    return str(caught.value).replace(f"{folder}/", "")


NAME, SIZE = ("VA01", "warning", ".spec.name"), ("VA01", "warning", ".spec.template.size")


@pytest.mark.parametrize(
    ("file", "table"), [(".lint-crd.toml", ""), ("pyproject.toml", "[tool.pyopscaffold.lint-crd]\n")]
)
def test_the_nearest_configuration_counts(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: str, table: str
) -> None:
    """It is found upward of the working directory; a pyproject.toml without the table is none; it can be left aside."""
    (folder / file).write_text(table + ONLY)
    (folder / "config" / "pyproject.toml").write_text("[tool.other]\nlint-crd = 1\n")
    monkeypatch.chdir(folder / "config")
    assert fields(capsys, path="crd") == [NAME, SIZE]
    assert len(fields(capsys, "--isolated", path="crd")) > 2


def test_a_misspelt_table_is_no_silence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project would be checked by the defaults, and never know; what other tools have there is theirs."""
    (folder / "pyproject.toml").write_text(
        "[tool.pyopscaffold]\nother.a = 1\n[tool.pyopscaffold.lint_crd]\nignore = []\n"
    )
    assert run(["lint-crd", "config"]) == 2
    assert "pyproject.toml:3: tool.pyopscaffold.lint_crd: did you mean lint-crd?" in capsys.readouterr().err
    (folder / "pyproject.toml").write_text("[tool.pyopscaffold]\nother.a = 1\n")
    assert run(["lint-crd", "config", "--select", "VA01"]) == 1


def test_a_given_file_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--config names a file of any name, instead of the one that would be found."""
    (folder / ".lint-crd.toml").write_text('select = ["CO01"]')
    (folder / "mine.toml").write_text(ONLY)
    assert fields(capsys, "--config", "mine.toml") == [NAME, SIZE]


def test_the_command_line_wins(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is selected there replaces what the file selects; what is ignored in either is ignored."""
    (folder / ".lint-crd.toml").write_text('select = ["CO01"]\nignore = ["UX01"]\nfail-on = "never"\n')
    assert {rule for rule, *_ in fields(capsys, "--select", "VA01,UX01")} == {"VA01"}
    assert {rule for rule, *_ in fields(capsys, "--profile", "strict")} > {"VA01"}
    assert run(["lint-crd", "config", "--select", "VA01"]) == 0
    assert run(["lint-crd", "config", "--select", "VA01", "--fail-on", "warn"]) == 1


def test_severities_are_set_by_rule_or_family(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The longer key counts, and what fails a run follows."""
    (folder / ".lint-crd.toml").write_text(ONLY + 'severity = { VA = "error", string-constraint = "info" }\n')
    assert fields(capsys) == [("VA01", "info", NAME[2]), ("VA01", "info", SIZE[2])]
    assert run(["lint-crd", "config"]) == 0


def test_files_have_settings_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules can be off, on or weigh otherwise by path, whatever folder the command runs in."""
    (folder / "charts").mkdir()
    (folder / "charts" / "widgets.yaml").write_text(DIRTY)
    (folder / ".lint-crd.toml").write_text(
        ONLY + '[per-path."charts/**"]\nignore = ["VA"]\n[per-path."config/crd/*.yaml"]\nseverity.VA01 = "info"\n'
        '[per-path."w*.yaml"]\nextend-select = ["ST12"]\n'
    )
    monkeypatch.chdir(folder / "config")
    assert fields(capsys, path="..") == [("VA01", "info", NAME[2]), ("VA01", "info", SIZE[2])]
    (folder / "charts" / "widgets.yaml").write_text(DEEP)
    assert [rule for rule, *_ in fields(capsys, path="../charts")] == ["ST12"]


def test_fields_have_settings_of_their_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Generated YAML keeps no comments; a pattern of CRD, version and field says what is exempt."""
    for pattern in (".spec.template.**", "widgets.example.com:.spec.template.size", "*.example.com/v1:.**.size"):
        (folder / ".lint-crd.toml").write_text(ONLY + f'[per-field."{pattern}"]\nignore = ["VA01"]\n')
        assert fields(capsys) == [NAME], pattern
    for pattern in ("widgets.example.com", "widgets.example.com:", "*.example.com/v*:"):
        (folder / ".lint-crd.toml").write_text(ONLY + f'[per-field."{pattern}"]\nseverity.VA = "info"\n')
        assert fields(capsys) == [("VA01", "info", NAME[2]), ("VA01", "info", SIZE[2])], pattern
    (folder / ".lint-crd.toml").write_text(ONLY + '[per-field."other.example.com"]\nignore = ["VA"]\n')
    assert fields(capsys) == [NAME, SIZE]
    (folder / ".lint-crd.toml").write_text(ONLY + '[per-field."widgets.example.com/v2"]\nignore = ["VA"]\n')
    assert fields(capsys) == [NAME, SIZE]


def test_a_path_counts_more_than_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A family's severity for a path counts more than a rule's for all, and a later path more than an earlier one."""
    (folder / ".lint-crd.toml").write_text(
        ONLY + 'severity.VA01 = "info"\n[per-path."*.yaml"]\nseverity.VA = "error"\n'
    )
    assert fields(capsys) == [("VA01", "error", NAME[2]), ("VA01", "error", SIZE[2])]
    with (folder / ".lint-crd.toml").open("a") as file:
        file.write('[per-path."config/**"]\nseverity.V = "warning"\n')
    assert fields(capsys) == [NAME, SIZE]


def test_folders_can_be_excluded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is excluded is not walked into; a file that is named is checked all the same."""
    (folder / "vendor").mkdir()
    (folder / "vendor" / "widgets.yaml").write_text(DIRTY)
    (folder / ".lint-crd.toml").write_text(ONLY + 'exclude = ["vendor", "config/crd/w*.yaml"]\n')
    assert run(["lint-crd", "."]) == 2
    assert "no CRD found" in capsys.readouterr().err
    assert fields(capsys, path="vendor/widgets.yaml") == [NAME, SIZE]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("profil = 1\n", "lint.toml:1: profil: unknown key; did you mean profile?"),
        ('profile = "checklists"\n', "'checklists' is none of apiserver, checklist, strict; did you mean checklist?"),
        ('\nselect = "VA01"\n', "lint.toml:2: select: must be a list, each item a string"),
        ('fail-on = "warning"\n', "lint.toml:1: fail-on: 'warning' is none of error, warn, info, never; did you mean"),
        ('ignore = [\n  "VA01",\n  "VVA01",\n]\n', "lint.toml:1: ignore: no rule 'VVA01'; did you mean VA01?"),
        ('[severity]\nVA01 = "info"\n"string-constrain" = "info"\n', "lint.toml:3: severity.string-constrain: no rule"),
        ('[severity]\nVA01 = "warn"\n', "lint.toml:2: severity.VA01: 'warn' is none of error, warning, info"),
        ('[per-path]\n"a/*" = 1\n', 'lint.toml:2: per-path."a/*": must be a table'),
        ('[per-path."a=b/*"]\nselect = []\n', 'lint.toml:2: per-path."a=b/*".select: unknown key; did you mean extend'),
        ('[per-field.".spec"]\nignore = ["XX"]\n', "lint.toml:2: per-field.\".spec\".ignore: no rule 'XX'"),
        ("[rules.ST12]\nmax_depth = 4\n", "lint.toml:2: rules.ST12.max_depth: unknown key; did you mean max-depth?"),
        ('[rules.ST12]\nmax-depth = "4"\n', "lint.toml:2: rules.ST12.max-depth: must be a whole number"),
        ("[rules.nesting]\nstrict = 1\n", "lint.toml:2: rules.nesting.strict: must be true or false"),
        ("[rules.CO01]\na = 4\n", "lint.toml:1: rules.CO01: CO01 has no options"),
        ("[rules.ST]\na = 4\n", "lint.toml:1: rules.ST: 'ST' is no whole id"),
        ("[rules.ST21]\na = 4\n", "lint.toml:1: rules.ST21: no rule 'ST21'; did you mean ST12?"),
        ("rules = 1\n", "lint.toml:1: rules: must be a table"),
        ("a = [\n", "lint.toml: not readable as TOML: "),
    ],
)
def test_mistakes_are_told_with_their_place(folder: Path, text: str, told: str) -> None:
    """File, line, key, what is wrong, and what may have been meant."""
    assert told in problems(text, folder)


def test_all_mistakes_are_told_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command exits with 2 and lists each on a line."""
    (folder / "pyproject.toml").write_text("[tool.pyopscaffold.lint-crd]\nprofil = 1\nselect = 1\n")
    assert run(["lint-crd", "config"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("pyproject.toml")[2][:10] for line in lines[:2]] == [":2: profil", ":3: select"]


def test_a_file_that_is_no_configuration_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not there, is not text, or lacks the table."""
    (folder / "pyproject.toml").write_text("[project]\n")
    (folder / "latin.toml").write_bytes(b"\xe9")
    for file, told, way_out in (
        ("absent.toml", "No such file", "name one that is there, or none"),
        ("latin.toml", "not UTF-8", "save it as UTF-8"),
        ("pyproject.toml", "there is no", "add it"),
    ):
        assert run(["lint-crd", "config", "--config", file]) == 2
        shown = capsys.readouterr().err
        assert told in shown
        assert way_out in shown


def test_options_reach_their_rule(folder: Path) -> None:
    """A rule is called with the options of the configuration, its own defaults where nothing is said."""
    seen: list[Any] = []

    def note(_: object, options: Options) -> tuple[()]:
        seen.append(options)
        return ()

    rules = Registry(tuple(replace(rule, check=note) if rule.options else rule for rule in RULES))
    (folder / "lint.toml").write_text('[rules.nesting]\nmax-depth = 5\nwords = ["a", "b"]\n')
    for config in (read(folder / "lint.toml", rules), None):
        lint([Source("x.yaml", DIRTY)], Ruleset(rules, config))
    assert seen == [Options(max_depth=5, words=("a", "b")), Options()]


def test_the_schema_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/lint-crd.schema.json is what ``lint-crd --config-schema`` prints: write it anew when they differ."""
    assert run(["lint-crd", "--config-schema"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "lint-crd.schema.json").read_text()


def test_the_schema_says_what_the_reader_takes() -> None:
    """Keys, types, choices, defaults and descriptions, those of options too; unknown keys are none."""
    content = json_schema(RULES)["properties"]
    assert content["profile"]["enum"] == ["apiserver", "checklist", "strict"]
    assert content["per-path"]["additionalProperties"]["additionalProperties"] is False
    assert all(entry["description"] for entry in content.values())
    options = content["rules"]["properties"]["ST12"]["properties"]
    assert options["max-depth"] == {"description": "Levels that are fine.", "type": "integer", "default": 3}
    assert options["words"]["items"] == {"type": "string"}
    assert content["rules"]["properties"]["nesting"] == content["rules"]["properties"]["ST12"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("config/crd/*.yaml", "config/crd/a.yaml", True),
        ("config/crd/*.yaml", "config/crd/b/a.yaml", False),
        ("config/**/*.yaml", "config/a.yaml", True),
        ("config/**/*.yaml", "config/crd/b/a.yaml", True),
        ("config/", "config/crd/a.yaml", True),
        ("./config", "config/crd/a.yaml", True),
        ("crd", "config/crd/a.yaml", True),
        ("*.yaml", "config/crd/a.yaml", True),
        ("/a.yaml", "b/a.yaml", False),
        ("conf", "config/a.yaml", False),
        ("**", "../a.yaml", True),
    ],
)
def test_path_patterns(pattern: str, path: str, matches: bool) -> None:
    """As in .gitignore."""
    assert matches_path(pattern, path) is matches


@pytest.mark.parametrize(
    ("pattern", "field", "matches"),
    [
        (".spec.**", ".spec", True),
        (".spec.**", ".spec.a[].b", True),
        (".spec.a.**", ".spec.a[].b", True),
        (".spec.a.**", ".spec.ab", False),
        (".spec.*", ".spec.a", True),
        (".spec.*", ".spec.a.b", False),
        (".spec.*.name", ".spec.items[].name", True),
        (".**.name", ".spec.items[].name", True),
        (".spec.items[].name", ".spec.items[].name", True),
        ("**", "", True),
        (".**.a.**", ".ab.a.c", True),
        (".**.a" * 30 + ".z", ".a" * 200, False),
        (".*a" + "*a" * 30 + "z", "." + "a" * 200, False),
    ],
)
def test_field_patterns(pattern: str, field: str, matches: bool) -> None:
    """One star is one step, two are any number; lists and maps are steps of their field; no pattern takes long."""
    assert matches_field(pattern, field) is matches
