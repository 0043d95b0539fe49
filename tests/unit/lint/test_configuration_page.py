"""What docs/lint-crd-configuration.md shows works as it is shown."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from pyopscaffold.document.reader import Source
from pyopscaffold.lint import Config, Rule, engine, lint
from pyopscaffold.lint.configfile import json_schema, read
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.library import rules
from pyopscaffold.lint.registry import Registry
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = (ROOT / "docs" / "lint-crd-configuration.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code of the page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_configuration_is_one(tmp_path: Path) -> None:
    """Each key and rule of the example is there."""
    (tmp_path / "lint.toml").write_text(blocks("toml")[0])
    config = read(tmp_path / "lint.toml", rules())
    assert (config.profile, config.root, len(config.per_path), len(config.per_field)) == ("strict", tmp_path, 2, 2)


def test_editors_take_the_configuration() -> None:
    """The schema is one, and says the same of the example as the reader does; a misspelt key is a mistake to both."""
    schema = json_schema(rules())
    judge = Draft202012Validator(schema)
    judge.check_schema(schema)
    content = tomllib.loads(blocks("toml")[0])
    assert list(judge.iter_errors(content)) == []
    content["rules"]["ST12"]["max_depth"] = content["rules"]["ST12"].pop("max-depth")
    content["per-path"]["charts/**"]["profile"] = "strict"
    content["severity"]["VA"] = "warn"
    assert len(list(judge.iter_errors(content))) == 3


def test_the_exceptions_hide() -> None:
    """The comments hide what they say in a CRD with these fields, the annotations in any."""
    comments, annotations = blocks("yaml")
    fields = comments.partition("  properties:\n")[2]
    config = Config(select=("VA01", "LC02", "LC03"))
    text = spec(fields.replace("type: object", "type: object\n      properties: {a: {type: string}}"))
    assert lint([Source("x.yaml", text)], config=config).findings == ()
    assert len(lint([Source("x.yaml", text.replace("lint-crd:", ""))], config=config).findings) == 2
    text = spec("note: {type: string}").replace("metadata:\n", annotations, 1)
    assert lint([Source("x.yaml", text)], config=config).findings == ()


def test_the_library_is_used_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The loop prints the errors of a folder."""
    (tmp_path / "config" / "crd").mkdir(parents=True)
    (tmp_path / "config" / "crd" / "a.yaml").write_text("a: 1\na: 2\n")
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[0], {})  # noqa: S102 - the page's own code
    assert capsys.readouterr().out.startswith("config/crd/a.yaml:2 ST01 duplicate key")


def test_the_rule_is_one() -> None:
    """The example of a plugin makes a rule that finds something."""
    names: dict[str, Any] = {}
    exec(blocks("python")[1], names)  # noqa: S102 - the page's own code
    (rule,) = names["RULES"]
    assert isinstance(rule, Rule)
    found = engine.lint([Source("x.yaml", spec("a: {type: string}"))], Registry((rule,))).findings
    assert [finding.message for finding in found] == ["the group is not below acme.com"]
