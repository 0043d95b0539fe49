"""The reference of the API says what the CRD says, and its links lead somewhere."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from pyopscaffold.generate import crd, docs
from pyopscaffold.generate.markdown import anchor_name, prose
from pyopscaffold.generate.words import NO_VALIDATION, validations
from pyopscaffold.schema import Rule, Schema
from tests.unit.loader.projects import IMPORTS, read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.model.kinds import ProjectModel

THING = (
    IMPORTS
    + '''
@mark(Title("Port of a thing"))
@cel("self.number != 22 || self.name == 'ssh'", message="22 is for ssh")
@dataclass(kw_only=True)
class Port:
    """A port | of <something>."""
    name: Annotated[str, MinLen(1), MaxLen(15)]
    number: Annotated[int32, Gt(0), Lt(65536)] = 80
    target: int | str | None = None

@dataclass(kw_only=True)
class Retry:
    limit: Annotated[int, MultipleOf(3)] = 3
    delay: timedelta | None = None

@dataclass(kw_only=True)
class Spec:
    """Desired state."""
    colour: Literal["red", "blue"] = "red"
    address: Annotated[str, Format("ipv4"), Immutable()] | None = None
    ports: Annotated[list[Port], ListMap("name"), MaxLen(8)] = field(default_factory=list)
    by_name: dict[str, Annotated[str, Pattern("^(a|b)`*$")]] | None = None
    size: Quantity | None = None
    """Its size:

        $ size <file>
    """
    retry: Annotated[Retry, CEL("self.limit < oldSelf.limit", reason="FieldValueForbidden")] | None = None
    words: Annotated[set[Annotated[str, MaxLen(3)]], MinLen(1), Title("Words"), Example(["a"])] | None = None
    choice: Annotated[str, AnyOf({"minLength": 4}, {"pattern": "^x"}), Nullable()] | None = None
    more: RawExtension | None = None
    zone: Annotated[str, Selectable(), ExternalDocs("https://example.com/zones", "All zones")] = "eu"

@dataclass(kw_only=True)
class Status:
    """Observed state."""
    observed_generation: int64 | None = None
    last: Retry | None = None
    conditions: Conditions = field(default_factory=list)

@resource(
    group="example.com", version="v1", short_names=["th"], categories=["all"], deprecated="use v2",
    columns=[Column("A|B", path="spec.colour", description="Its <colour>.", priority=1), Age()],
)
@dataclass(kw_only=True)
class Thing(Object):
    """A thing.

    It has no sides.
    """
    spec: Spec
    status: Status = field(default_factory=Status)

@resource(group="example.com", version="v1", scope="Cluster")
@dataclass(kw_only=True)
class Other(Object):
    """Another thing."""
    spec: Port
'''
)
PAGE = "docs/api/example.com_v1.md"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ProjectModel:
    """Give two kinds with nearly all that a field can say."""
    return read(tmp_path_factory.mktemp("docs"), {"api/kind.py": THING})


@pytest.fixture(scope="module")
def pages(model: ProjectModel) -> dict[str, str]:
    """Give the pages by path."""
    return {artefact.path: artefact.text for artefact in docs.artefacts(model)}


def _sections(page: str) -> dict[str, str]:
    """Return the text of each section by its anchor."""
    parts = re.split(r'^#+ <a id="([^"]+)"></a>', page, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _untold(page: str, kind: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield what a CRD's schema says and the page does not, reading the page as its reader does."""
    sections = _sections(page)
    for name, child in schema["properties"].items():
        if name not in {"apiVersion", "kind", "metadata"}:
            yield from _untold_field(sections, f"{kind}-{name}", child, required=name in schema.get("required", ()))


def _untold_field(sections: dict[str, str], place: str, schema: dict[str, Any], *, required: bool) -> Iterator[str]:
    text = sections.get(place)
    if text is None:
        yield f"{place} itself"
        return
    first = text.split("\n\n")[1]
    if ("required" if required else "optional") not in first:
        yield f"{place}: required"
    if "default" in schema and f"default `{json.dumps(schema['default'])}`" not in first:
        yield f"{place}: default"
    linked = re.search(r"\]\(#(.*?)\)", first)
    whole = text + (sections[linked[1]] if linked else "")
    yield from _untold_values(whole, place, schema)
    node = schema
    while inner := node.get("items") or node.get("additionalProperties"):
        if "kubernetes.io" in first:
            return  # told there
        yield from _untold_values(whole, place, inner)
        node = inner
    for name, child in node.get("properties", {}).items() if linked else ():
        assert linked
        needed = name in node.get("required", ())
        yield from _untold_field(sections, f"{linked[1]}-{name}", child, required=needed)


_SAID = {
    "minimum": " {}\n",
    "maximum": " {}\n",
    "multipleOf": "a multiple of {}\n",
    "minLength": "at least {} character",
    "maxLength": "at most {} character",
    "minItems": "at least {} item",
    "maxItems": "at most {} item",
    "pattern": "{}",
    "format": "{}",
    "title": "**{}**",
}
_QUIET = {"int64", "int32", "date-time"}


def _untold_values(text: str, place: str, schema: dict[str, Any]) -> Iterator[str]:
    for key, form in _SAID.items():
        if key in schema and form.format(schema[key]) not in text and "[quantity](" not in text:
            yield f"{place}: {key}"
    said = [(key, json.dumps(item)) for key in ("enum", "anyOf") for item in schema.get(key, ())]
    said += [("example", json.dumps(schema["example"]))] if "example" in schema else []
    said += [("externalDocs", item) for item in schema.get("externalDocs", {}).values()]
    said += [("nullable", "may be `null`")] if schema.get("nullable") else []
    said += [("list type", "no item twice")] if schema.get("x-kubernetes-list-type") == "set" else []
    said += [("list key", f"`{key}`") for key in schema.get("x-kubernetes-list-map-keys", ())]
    for rule in schema.get("x-kubernetes-validations", ()):
        message = rule.get("message", "")
        if message == "field is immutable":
            said.append(("rule", "can't be changed"))
        elif not message.endswith("is immutable once set"):
            said += [("rule", rule["rule"]), ("message", message), ("reason", rule.get("reason", ""))]
    if "x-kubernetes-int-or-string" in schema:
        said = [("int-or-string", "[quantity](" if "pattern" in schema else "integer or string")]
    yield from (f"{place}: {key}" for key, item in said if item not in text)


def _all_untold(page: str, model: ProjectModel) -> list[str]:
    found: list[str] = []
    for kind in model.kinds:
        version = crd.crd_of([kind])["spec"]["versions"][0]
        found += _untold(page, kind.gvk.kind.lower(), version["schema"]["openAPIV3Schema"])
    return found


def test_everything_is_told(model: ProjectModel, pages: dict[str, str]) -> None:
    """All that the CRD holds of a field stands in the field's section, or in that of its type."""
    assert _all_untold(pages[PAGE], model) == []
    assert "- can't be changed\n- can't be taken away once it is set\n" in pages[PAGE]


@pytest.mark.parametrize(
    ("left_out", "untold"),
    [
        ('### <a id="spec-zone"></a>', "spec-zone itself"),
        ("- less than 65536\n", "port-number: maximum"),
        ("- at most 8 items\n", "spec-ports: maxItems"),
        ("each item: at most 3 characters", "spec-words: maxLength"),
        ("self.number != 22 || self.name == 'ssh'", "spec-ports: rule"),
        ("22 is for ssh", "other-spec: message"),
        ("- can't be changed\n", "spec-address: rule"),
        ("FieldValueForbidden", "spec-retry: reason"),
        (", default `80`", "port-number: default"),
        ("same `name`", "spec-ports: list key"),
        ("**Port of a thing**", "other-spec: title"),
        ("required\n", "thing-spec: required"),
        ("^(a|b)`*$", "spec-byName: pattern"),
    ],
)
def test_what_is_left_out_is_noticed(model: ProjectModel, pages: dict[str, str], left_out: str, untold: str) -> None:
    """The test above fails for a field, a bound or a rule that is not on the page."""
    assert left_out in pages[PAGE]
    assert untold in _all_untold(pages[PAGE].replace(left_out, ""), model)


def test_links(pages: dict[str, str]) -> None:
    """Every link within the reference leads to an anchor, and no anchor is there twice."""
    links = [(path, link) for path, page in pages.items() for link in re.findall(r"\]\((?!https://)(.*?)\)", page)]
    assert len(links) > 15
    for path, link in links:
        page, _, name = link.partition("#")
        target = pages[f"{docs.FOLDER}/{page}" if page else path]
        assert target.count(f'<a id="{name}"></a>') == 1, link


def test_name_that_no_tag_could_hold() -> None:
    """A JSON name of any characters has an anchor, and other names keep theirs."""
    assert anchor_name("observedGeneration") == "observedGeneration"
    assert anchor_name('a"b <c>') == "a_22b_20_3cc_3e"


@pytest.mark.parametrize(
    ("words", "url"),
    [
        ("All zones", "https://example.com/zones"),
        ("a] or [b](https://example.net)", "https://example.com/a_(b)"),
        ("zones", "https://example.com/a) <b>"),
    ],
)
def test_link_that_ends_where_it_should(words: str, url: str) -> None:
    """A link to external docs is one link, whatever its words and its address have in them."""
    (said,) = validations(Schema(type="string", external_docs={"url": url, "description": words}))
    assert said.startswith("see ")
    page = MarkdownIt().render(said)
    assert page.count("<a href=") == 1
    assert page.endswith("</a></p>\n")


def test_kind(pages: dict[str, str]) -> None:
    """A kind's section has its text, its names, where it stands, and its columns."""
    section = _sections(pages[PAGE])["thing"]
    assert "A thing.\n\nIt has no sides.\n" in section
    for row in (
        "| names for kubectl | `things`, `thing`, `th` |",
        "| categories | `all` |",
        "| scope | Namespaced |",
        "| version | served, stored, deprecated: use v2 |",
        "| selectable by | `.spec.zone` |",
        "| A\\|B | `.spec.colour` | Its &lt;colour>. | with `-o wide` only |",
    ):
        assert f"{row}\n" in section
    assert "| scope | Cluster |\n" in _sections(pages[PAGE])["other"]


def test_index(pages: dict[str, str]) -> None:
    """The first page lists the kinds, with the first paragraph of each text."""
    assert "| [Thing](example.com_v1.md#thing) | `example.com/v1` | A thing. |\n" in pages[docs.INDEX]


def test_title_of_a_type(pages: dict[str, str]) -> None:
    """A dataclass's own title stands in its section, not in that of each field."""
    assert pages[PAGE].count("**Port of a thing**") == 1


def test_type_in_several_places(pages: dict[str, str]) -> None:
    """A dataclass is told once, and names the fields that have it."""
    places = "[Other.spec](#other-spec), [Spec.ports](#spec-ports)"
    assert f"Used in {places}." in _sections(pages[PAGE])["port"]


def test_two_dataclasses_of_one_name(tmp_path: Path) -> None:
    """Dataclasses of the same name from two modules have a section each."""
    part = "from dataclasses import dataclass\n@dataclass(kw_only=True)\nclass Part:\n    {}: str\n"
    kind = """\
from acme import one, two
@dataclass(kw_only=True)
class Spec:
    first: one.Part
    second: two.Part
@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
    model = read(tmp_path, {"one.py": part.format("a"), "two.py": part.format("b"), "api/kind.py": IMPORTS + kind})
    sections = _sections(docs.artefacts(model)[1].text)
    assert "[Part](#part)" in sections["spec-first"]
    assert "[Part](#part-2)" in sections["spec-second"]
    assert {"part-a", "part-2-b"} <= sections.keys()


SAMPLES: dict[str, Any] = {
    "nullable": True,
    "enum": ("a",),
    "minimum": 0,
    "exclusive_minimum": True,
    "maximum": 0,
    "exclusive_maximum": True,
    "multiple_of": 2,
    **dict.fromkeys(("min_length", "max_length", "min_items", "max_items", "min_properties", "max_properties"), 0),
    "pattern": "a",
    "list_type": "map",
    "list_map_keys": ("name",),
    "map_type": "atomic",
    "preserve_unknown_fields": True,
    "embedded_resource": True,
    "example": None,
    "external_docs": {"url": "https://example.com"},
    **dict.fromkeys(("all_of", "any_of", "one_of"), ({"minLength": 1},)),
    "not_": {"minLength": 1},
}
BESIDE: dict[str, dict[str, Any]] = {
    "exclusive_minimum": {"minimum": 1},
    "exclusive_maximum": {"maximum": 1},
    "list_map_keys": {"list_type": "map"},
}


@pytest.mark.parametrize("attribute", sorted(Schema.__dataclass_fields__.keys() - NO_VALIDATION))
def test_every_attribute_has_words(attribute: str) -> None:
    """Whatever a schema can demand is told; an attribute that is new needs words too."""
    beside = BESIDE.get(attribute, {})
    schema = Schema(type="object", **beside)
    assert validations(Schema(type="object", **beside, **{attribute: SAMPLES[attribute]}), beyond=schema)


def test_rule_in_words() -> None:
    """A rule is told with all that it has."""
    rule = Rule(
        rule="self > 0", message_expression="'a'", reason="FieldValueRequired", field_path=".a", optional_old_self=True
    )
    assert validations(Schema(rules=(rule,))) == (
        "says `'a'`: `self > 0` (a refusal names `.a`, its reason is FieldValueRequired, also when it is created)",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <b>bold</b> word", "<p>a &lt;b&gt;bold&lt;/b&gt; word</p>"),
        ("<!-- hidden", "<p>&lt;!-- hidden</p>"),
        ("use `<name>` there", "<p>use <code>&lt;name&gt;</code> there</p>"),
        ("use ``<a`b>`` there", "<p>use <code>&lt;a`b&gt;</code> there</p>"),
        ("one ` tick\n\nand <b> another `", "<p>one ` tick</p>\n<p>and &lt;b&gt; another `</p>"),
        ("# no title", "<p># no title</p>"),
        ("no title\n---", "<p>no title\n---</p>"),
        ("see:\n\n    if a < b:\n        c", "<p>see:</p>\n<pre><code>if a &lt; b:\n    c\n</code></pre>"),
        ("```\n# a <b>\n```", "<pre><code># a &lt;b&gt;\n</code></pre>"),
        ("~~~\nopen <b>", "<pre><code>open &lt;b&gt;\n</code></pre>"),
        ("- a\n\n    <b>", "<ul>\n<li>\n<p>a</p>\n<p>&lt;b&gt;</p>\n</li>\n</ul>"),
        ("lazy\n    <b>", "<p>lazy\n&lt;b&gt;</p>"),
    ],
)
def test_text_of_authors(text: str, shown: str) -> None:
    """Code stays as it is written; tags and titles of a description can't break the page."""
    assert MarkdownIt().render(prose(text) + "\n\nafter\n") == f"{shown}\n<p>after</p>\n"
