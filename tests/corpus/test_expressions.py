"""The expressions in real CRDs, held against what Go says of them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold import cel
from pyopscaffold.generate.witness import witnesses
from pyopscaffold.schema.matcher import matches
from tests.oracle.grammar import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Source

pytestmark = pytest.mark.xdist_group("corpus")


class Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: an item ``=`` is a string."""


Loader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@pytest.fixture(scope="session")
def nodes(corpus: tuple[Source, ...]) -> list[dict[str, Any]]:
    """Give every mapping in the files with rules or patterns; Helm templates are no YAML."""
    texts = {source.text for source in corpus if "x-kubernetes-validations" in source.text}
    documents = (yaml.load_all(text, Loader) for text in texts if "{{" not in text)
    return list(mappings([list(found) for found in documents]))


def mappings(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in a document."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from mappings(child)


def test_rules_parse(nodes: list[dict[str, Any]]) -> None:
    """Every rule and message expression that projects ship is one to cel-go and to us."""
    rules = [rule for node in nodes if isinstance(made := node.get("x-kubernetes-validations"), list) for rule in made]
    texts = {rule[key] for rule in rules for key in ("rule", "messageExpression") if rule.get(key)}
    assert len(texts) > 100
    assert {answer["error"] for answer in ask({"cel": text} for text in texts)} == {""}
    for text in texts:
        cel.parse(text)


def test_patterns_are_read(nodes: list[dict[str, Any]]) -> None:
    """Every pattern that projects ship compiles there and here, and small strings of ours match both or neither."""
    patterns = sorted({node["pattern"] for node in nodes if isinstance(node.get("pattern"), str)})
    assert len(patterns) > 30
    texts = {pattern: [*islice(witnesses(pattern), 3), "", "a", "a.b", "1", "-"] for pattern in patterns}
    answers = ask({"pattern": pattern, "texts": texts[pattern]} for pattern in patterns)
    ours = [[matches(pattern, text) for text in texts[pattern]] for pattern in patterns]
    assert ours == [answer["matches"] for answer in answers]
    assert [pattern for pattern, found in zip(patterns, ours, strict=True) if not any(found)] == []
