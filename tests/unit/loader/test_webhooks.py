"""Webhooks are read as declared, and each mistake in one is named with its place and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import configure_webhooks, mutating_webhook, validating_webhook
from pyopscaffold.errors import DeclarationError
from pyopscaffold.kube.builtin import DEPLOYMENT
from tests.unit.loader.projects import FIRST, IMPORTS, read, told

if TYPE_CHECKING:
    from pathlib import Path

WIDGET = """\
@resource(group="db.example.com", version="v1beta1")
@dataclass(kw_only=True)
class Widget(Object):
    pass

"""
LINE = FIRST + WIDGET.count("\n")
"""Where declarations begin below the kind."""

ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "operation": (
        {"operations": ["updat"]},
        'operations takes "create", "update", "delete", "connect" or "*", not \'updat\'; did you mean \'update\'?',
    ),
    "operation in capitals": ({"operations": ["CREATE"]}, "did you mean 'create'?"),
    "one operation": (
        {"operations": "create"},
        "operations is to be a list, not 'create'; write operations=[\"create\"]",
    ),
    "no operation": ({"operations": []}, "operations is empty; leave it out for the usual ones"),
    "all operations and more": (
        {"operations": ["*", "create"]},
        'operations has "*" beside others; write operations=["*"] for all',
    ),
    "all groups": ({"groups": ["*"]}, 'groups=["*"] says nothing about the resources; write resources=[...] too'),
    "all groups and more": ({"groups": ["*", "apps"], "resources": ["pods"]}, 'groups has "*" beside others'),
    "failure policy": (
        {"failure_policy": "Fial"},
        "failure_policy is to be \"fail\" or \"ignore\", not 'Fial'; did you mean 'fail'?",
    ),
    "match policy": ({"match_policy": "same"}, 'match_policy is to be "exact", "equivalent" or None'),
    "reinvocation": ({"reinvocation_policy": "IfNeeded"}, "did you mean 'if_needed'?"),
    "side effects": ({"side_effects": "some"}, 'side_effects is to be "none" or "none_on_dry_run", not \'some\''),
    "timeout too long": ({"timeout_seconds": 31}, "timeout_seconds is to be 1 to 30, not 31"),
    "timeout too short": ({"timeout_seconds": 0}, "timeout_seconds is to be 1 to 30, not 0"),
    "timeout of another type": ({"timeout_seconds": 2.5}, "timeout_seconds is to be a whole number, not 2.5"),
    "name": ({"name": "widget.io"}, 'name "widget.io" is no domain of three parts or more; write widget.example.com'),
    "path and url": ({"path": "/a", "url": "https://a/b"}, "it takes either path= or url="),
    "path": (
        {"path": "mutate"},
        'path "mutate" is none that a Service takes; write it like /mutate-example-com-v1-widget',
    ),
    "url without TLS": (
        {"url": "http://a/b"},
        'url "http://a/b" is no https:// address without user, query and fragment',
    ),
    "url with query": ({"url": "https://a/b?c"}, "is no https:// address without user, query and fragment"),
    "url and service": (
        {"url": "https://a/b", "service_port": 1},
        "url= stands in place of a Service; leave out service_name",
    ),
    "service": (
        {"service_name": "my.service"},
        'service_name "my.service" is not in lower-case letters, digits and dashes',
    ),
    "namespace": ({"service_namespace": "A"}, 'service_namespace "A" is not in lower-case letters, digits and dashes'),
    "port": ({"service_port": 0}, "service_port is to be 1 to 65535, not 0"),
    "selector": ({"namespace_selector": "a in b"}, "namespace_selector: 'a in b' is no label selector"),
    "selector as a mapping": ({"object_selector": {"a": "b"}}, "object_selector is to be a text, not {'a': 'b'}"),
    "condition without rule": (
        {"match_conditions": {"a": " "}},
        "match_conditions: a has no expression; write a rule in CEL",
    ),
    "condition's name": ({"match_conditions": {"a b": "true"}}, 'match_conditions: "a b" is no name'),
    "conditions as a list": (
        {"match_conditions": ["true"]},
        "match_conditions is to be CEL expressions by name, not ['true']",
    ),
    "too many conditions": (
        {"match_conditions": {str(i): "true" for i in range(65)}},
        "has 65 conditions, and the API server takes 64",
    ),
    "empty resource": ({"resources": ["pods", ""]}, "resources has an empty name in it; remove it"),
    "all resources and more": ({"resources": ["*", "pods"]}, 'resources has a "*" beside others'),
    "all and a subresource": ({"resources": ["*/*", "pods/log"]}, 'resources has a "*" beside others'),
    "review version twice": (
        {"admission_review_versions": ["v1", "v1"]},
        "admission_review_versions names a version twice; remove one",
    ),
    "review versions": ({"admission_review_versions": ["v2"]}, 'write admission_review_versions=["v1"]'),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_argument(case: str) -> None:
    """What the API server would refuse is refused, with the way out."""
    arguments, message = ARGUMENTS[case]
    with pytest.raises(DeclarationError) as caught:
        mutating_webhook(DEPLOYMENT, **arguments)
    (problem,) = caught.value.problems
    assert message in problem.message


def test_place(tmp_path: Path) -> None:
    """A mistake is placed at the decorator's line."""
    (problem,) = told(tmp_path, f"{WIDGET}@mutating_webhook(Widget, timeout_seconds=31)\nclass Hook: pass\n")
    message = "@mutating_webhook: timeout_seconds is to be 1 to 30, not 31"
    assert problem == f"acme/api/kind.py:{LINE}: {message}"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Object", "Object is no API type; put @resource(...) above it"),
        ("str", "str is no API type; write @validating_webhook(TYPE), with the API type or its GroupVersionKind"),
        ('"Widget"', "'Widget' is no API type; write @validating_webhook(TYPE)"),
    ],
)
def test_kind(tmp_path: Path, kind: str, message: str) -> None:
    """A webhook is for an API type."""
    (problem,) = told(tmp_path, f"{WIDGET}@validating_webhook({kind})\nclass Hook: pass\n")
    assert f":{LINE}: @validating_webhook: {message}" in problem


def test_without_brackets() -> None:
    """Without its brackets the decorator takes the class for the kind, and says what to write."""
    with pytest.raises(DeclarationError, match=r"Hook is no API type; write @mutating_webhook\(TYPE\)"):

        @mutating_webhook  # type: ignore[arg-type]  # the slip that is told of
        class Hook: ...


def test_defaults(tmp_path: Path) -> None:
    """Name, path and rule follow from the kind; the core group leaves its place in the path empty."""
    text = f"""{IMPORTS}{WIDGET}
@mutating_webhook(Widget)
@validating_webhook(GroupVersionKind("", "v1", "Pod"))
class Hook: pass
"""
    found = [
        (item.name, item.path, item.groups, item.versions, item.resources)
        for item in read(tmp_path, {"webhooks/hook.py": text}).webhooks
    ]
    assert found == [
        (
            "mwidget-v1beta1.kb.io",
            "/mutate-db-example-com-v1beta1-widget",
            ("db.example.com",),
            ("v1beta1",),
            ("widgets",),
        ),
        ("vpod-v1.kb.io", "/validate--v1-pod", ("",), ("v1",), ("pods",)),
    ]


def test_url_leaves_no_path(tmp_path: Path) -> None:
    """A webhook elsewhere has no path here."""
    text = f'{IMPORTS}{WIDGET}@mutating_webhook(Widget, url="https://example.com/hook")\nclass Hook: pass\n'
    (webhook,) = read(tmp_path, {"webhooks/hook.py": text}).webhooks
    assert (webhook.path, webhook.url) == ("", "https://example.com/hook")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            "",
            "",
            'acme/api/kind.py:{line} has the name "mwidget-v1beta1.kb.io" too; write name= on one of them',
        ),
        (
            "",
            'name="other.example.com"',
            "is served at /mutate-db-example-com-v1beta1-widget too; write path= on one of them",
        ),
    ],
)
def test_two_of_the_same(tmp_path: Path, first: str, second: str, message: str) -> None:
    """Two webhooks can share neither a name nor a path: the API server would refuse one, or never reach it."""
    hooks = [f"@mutating_webhook(Widget, {arguments})\nclass Hook: pass\n" for arguments in (first, second)]
    text = WIDGET + "".join(hooks).replace("Hook", "Other", 1)
    (problem,) = told(tmp_path, text)
    assert message.format(line=LINE) in problem


def test_condition_that_does_not_parse(tmp_path: Path) -> None:
    """A condition is CEL, and its mistake is placed within it."""
    arguments = "match_conditions={\"named\": \"object.metadata.name in ['a', 'b'\"}"
    (problem,) = told(tmp_path, f"{WIDGET}@validating_webhook(Widget, {arguments})\nclass Hook: pass\n")
    assert f":{LINE}: @validating_webhook: match_conditions: named does not parse: expected ]" in problem


def test_pattern_in_a_condition(tmp_path: Path) -> None:
    """A regular expression in it is read as the API server reads it."""
    arguments = 'match_conditions={"named": "object.metadata.name.matches(\'a(b\')"}'
    (problem,) = told(tmp_path, f"{WIDGET}@validating_webhook(Widget, {arguments})\nclass Hook: pass\n")
    assert "match_conditions: named has the pattern 'a(b' in matches, at 1:30, which is no regular" in problem


def test_same_name_in_both_configurations(tmp_path: Path) -> None:
    """A mutating and a validating webhook may be called alike: they stand in configurations of their own."""
    text = f"""{IMPORTS}{WIDGET}
@mutating_webhook(Widget, name="a.example.com")
@validating_webhook(Widget, name="a.example.com")
class Hook: pass
"""
    assert [item.mutating for item in read(tmp_path, {"webhooks/hook.py": text}).webhooks] == [False, True]


def test_configurations(tmp_path: Path) -> None:
    """The project names its configurations once."""
    call = 'configure_webhooks(mutating_name="a", validating_name="b")'
    model = read(tmp_path, {"webhooks/hook.py": f"{IMPORTS}{call}\n"})
    assert (model.webhook_names.mutating_name, model.webhook_names.validating_name) == ("a", "b")
    again = told(tmp_path / "again", f"{call}\n\n{call}\n")
    assert [problem.partition(": ")[2] for problem in again] == [
        f"configure_webhooks: it is called at kind.py:{FIRST} too; write one call with both names"
    ]


def test_name_of_a_configuration() -> None:
    """It is a name that objects may have."""
    with pytest.raises(DeclarationError, match='mutating_name "A b" is not in lower-case letters'):
        configure_webhooks(mutating_name="A b")


@pytest.mark.parametrize("resources", [["*"], ["*/*"], ["*", "*/scale"], ["pods/*", "pods"]])
def test_resources(resources: list[str]) -> None:
    """Everything, and subresources beside it, can be asked for."""
    mutating_webhook(DEPLOYMENT, resources=resources)


def test_foreign_kind() -> None:
    """Kinds of others are named by group, version and kind; the declaration leaves the class as it is."""

    class Hook: ...

    assert validating_webhook(DEPLOYMENT, operations=["delete"])(Hook) is Hook
