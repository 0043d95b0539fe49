"""The linter as a library, and rules of other distributions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.errors import LoadError, SettingsError, UsageError
from pyopscaffold.lint import Config, Report, Severity, Source, lint
from pyopscaffold.lint.configfile import json_schema
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.library import rules, settings

PLUGIN = Path(__file__).with_name("example_plugin")
DIRTY = spec("name: {type: string}")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the example plugin, as a copy, and give the folder that it stands in."""
    site = tmp_path / "site"
    shutil.copytree(PLUGIN, site, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "acme_lint", raising=False)
    (tmp_path / "crd.yaml").write_text(DIRTY)
    monkeypatch.chdir(tmp_path)
    return site


def test_lint_takes_paths_and_texts(tmp_path: Path) -> None:
    """A folder, a file in it and a text are checked in one call; findings are values, each told once."""
    (tmp_path / "crd.yaml").write_text(DIRTY)
    report = lint(
        [tmp_path, str(tmp_path / "crd.yaml"), Source("x.yaml", DIRTY.replace("idget", "adget"))],
        config=Config(select=("string-constraint",), severity={"VA": Severity.INFO}),
    )
    assert isinstance(report, Report)
    assert [(finding.file, finding.field, finding.severity) for finding in report.findings] == [
        (str(tmp_path / "crd.yaml"), ".spec.name", Severity.INFO),
        ("x.yaml", ".spec.name", Severity.INFO),
    ]
    assert not report.fails()


def test_lint_finds_no_configuration_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function does depends on its arguments; ``settings`` reads what the command would."""
    (tmp_path / ".lint-crd.toml").write_text('select = ["VA01"]\n')
    monkeypatch.chdir(tmp_path)
    source = Source("x.yaml", DIRTY)
    assert {finding.rule for finding in lint([source]).findings} > {"VA01"}
    assert {finding.rule for finding in lint([source], config=settings(rules())).findings} == {"VA01"}


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (Config(select=("VVA01",)), "select: no rule 'VVA01'; did you mean VA01?"),
        (Config(rules={"CO01": {"a": 1}}), "rules.CO01: CO01 has no options"),
    ],
)
def test_a_wrong_configuration_is_refused(config: Config, told: str) -> None:
    """As it is on the command line."""
    with pytest.raises(UsageError, match="no") as caught:
        lint([Source("x.yaml", DIRTY)], config=config)
    assert str(caught.value) == told


def test_a_path_alone_is_refused() -> None:
    """A text is a list of its letters to Python, and to its type checkers: no file is called so."""
    with pytest.raises(UsageError, match="lint takes a list") as caught:
        lint("config/crd")
    assert caught.value.hint == "write lint(['config/crd'])"


def test_importing_the_library_is_light() -> None:
    """Nothing but the names is loaded before they are used."""
    code = "import sys, pyopscaffold.lint as it; print(*(name for name in sys.modules if 'yaml' in name)); it.lint"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_an_installed_plugin_adds_its_rules(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They run, can be selected, configured and suppressed, and are in the schema."""
    assert [entry.value for entry in entry_points(group="pyopscaffold.lint.rules")] == ["acme_lint:RULES"]
    assert run(["lint-crd", "crd.yaml", "--select", "AC"]) == 1
    assert "AC01 error group example.com is not below acme.com" in capsys.readouterr().out
    Path(".lint-crd.toml").write_text('select = ["group-of-acme"]\n[rules.AC01]\ndomain = "example.com"\n')
    assert run(["lint-crd", "crd.yaml"]) == 0
    assert json_schema(rules())["properties"]["rules"]["properties"]["AC01"]["properties"]["domain"] == {
        "description": "The domain that all API groups are below.",
        "type": "string",
        "default": "acme.com",
    }
    Path("crd.yaml").write_text(
        DIRTY.replace("group: example.com", "group: example.com  # lint-crd: ignore[AC01] is no product of ours")
    )
    assert run(["lint-crd", "crd.yaml", "--isolated", "--select", "AC01,LC"]) == 0


def test_options_of_a_plugin_are_checked(plugin: Path) -> None:
    """As those of the linter's own rules."""
    Path(".lint-crd.toml").write_text("[rules.AC01]\ndomain = 1\n")
    with pytest.raises(SettingsError, match=r"\.lint-crd\.toml:2: rules\.AC01\.domain: must be a string"):
        settings(rules())


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import absent", "acme_lint:RULES can't be loaded: ModuleNotFoundError: No module named 'absent'"),
        ("1 / 0", "acme_lint:RULES can't be loaded: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "acme_lint:RULES can't be loaded: SystemExit: 3"),
        ("RULE = 1", "acme_lint:RULES can't be loaded: AttributeError: module 'acme_lint' has no attribute 'RULES'"),
        ("RULES = 1", "acme_lint:RULES is neither a rule nor a list of rules"),
        ("{old}\nRULES = [GROUP, 1]", "acme_lint:RULES is neither a rule nor a list of rules"),
        ("{old}\nRULES = [GROUP, GROUP]", "AC01 is a rule of acme-lint 1.0 already"),
        (
            "{old}\nRULES = replace(GROUP, subject=dict)",
            "AC01 looks at <class 'dict'>: take Crd, Version, Manifest or File",
        ),
        ('{old}\nRULES = [replace(GROUP, id="VA01")]', "VA01 is a rule of pyopscaffold already"),
        ('{old}\nRULES = [replace(GROUP, name="parse")]', "parse is a rule of pyopscaffold already"),
        ('{old}\nRULES = replace(GROUP, id="ac1")', "a rule is called like AC01 and a-name, not ac1 and group-of-acme"),
    ],
)
def test_a_broken_plugin_is_named(plugin: Path, capsys: pytest.CaptureFixture[str], code: str, told: str) -> None:
    """One line says which distribution it is and what is wrong; nothing is checked without its rules."""
    module = plugin / "acme_lint.py"
    old = module.read_text() + "\nfrom dataclasses import replace"
    module.write_text(code.replace("{old}", old))
    with pytest.raises(LoadError) as caught:
        rules()
    assert str(caught.value) == f"the lint rules of acme-lint 1.0: {told}"
    assert run(["lint-crd", "crd.yaml"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_a_severity_may_be_its_word(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Plugins need not be typed: a word counts as the severity that it names, and any other is the rule's fault."""
    module = plugin / "acme_lint.py"
    old = module.read_text()
    module.write_text(old.replace("severity=Severity.ERROR", 'severity="error"'))
    assert run(["lint-crd", "crd.yaml", "--select", "AC01"]) == 1
    assert "checked by 1 rule: 1 error" in capsys.readouterr().out
    module.write_text(old.replace("severity=Severity.ERROR", 'severity="fatal"'))
    del sys.modules["acme_lint"]
    assert run(["lint-crd", "crd.yaml", "--select", "AC01"]) == 2
    assert "rule AC01 of acme-lint 1.0 broke down: ValueError: 'fatal'" in capsys.readouterr().err


def test_a_rule_that_breaks_down_is_named(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the others find is shown all the same; the run can't be a success."""
    module = plugin / "acme_lint.py"
    module.write_text(module.read_text().replace('group = crd.spec.get("group")', 'group = crd.spec["grup"]'))
    assert run(["lint-crd", "crd.yaml", "--select", "AC01,VA01"]) == 2
    captured = capsys.readouterr()
    assert "VA01 warning" in captured.out
    assert captured.err.startswith(
        "error: crd.yaml:1: rule AC01 of acme-lint 1.0 broke down: KeyError: 'grup' (acme_lint.py:"
    )
