"""The linter on damaged CRDs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import json as json_report
from pyopscaffold.lint.report import text as text_report

RULES = builtin()
UNREADABLE = {"ST01", "ST02"}
EXAMPLES = [
    part.data
    for rule in RULES
    for text in (*rule.good, *rule.bad)
    for part in scan(Source("x.yaml", text))
    if isinstance(part, Document) and isinstance(part.data, dict)
]
KEYWORDS = (  # noqa: SIM905 - a dozen words a line
    "type items properties required default enum anyOf not additionalProperties description metadata spec status "
    "x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-embedded-resource conditions observedGeneration "
    "group names kind versions"
).split()
odd = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.sampled_from(KEYWORDS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3)),
    max_leaves=6,
)


def _places(data: Any) -> list[tuple[Any, Any]]:
    entries = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    return [place for key, value in entries for place in [(data, key), *_places(value)]]


@settings(max_examples=200)
@given(st.sampled_from(EXAMPLES), st.lists(st.tuples(st.integers(0, 10_000), odd), min_size=1, max_size=3))
def test_no_damage_stops_the_linter(manifest: dict[str, Any], damage: list[tuple[int, Any]]) -> None:
    """Whatever stands where something else should, there is a report, at lines of the file, in both forms."""
    manifest = deepcopy(manifest)
    for number, value in damage:
        places = _places(manifest)
        container, key = places[number % len(places)]
        container[key] = deepcopy(value)
    source = Source("x.yaml", yaml.safe_dump(manifest, allow_unicode=True))
    report = lint([source], RULES)
    assert report.failures == ()
    assert all(1 <= finding.line <= len(source.lines) for finding in report.findings)
    assert len(json.loads(json_report.render(report))["findings"]) == len(report.findings)
    assert text_report.render(report).endswith("\n")
