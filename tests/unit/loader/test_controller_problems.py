"""Mistakes in @controller and @rbac, as a person would read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.loader.projects import FIRST, IMPORTS, read, told

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('groups=["apps"], resources=["deployments"], verbs=["*"]', "verbs has *, which grants what nobody"),
        ('groups=["*"], resources=["deployments"], verbs=["get"]', "groups has *"),
        ('groups=["apps"], resources=["*/status"], verbs=["get"]', "resources has *"),
        ('resources=["pods"], verbs=["get"]', 'it names no group; write groups=["apps"] or the like'),
        ('groups="", resources=["pods"], verbs=["get"]', "groups is to be a list, not ''; write groups=[\"apps\"]"),
        ('groups=[""], resources=["pods"], verbs=["GET"]', 'verb "GET" is none; write get'),
        ('groups=[""], resources=["Pods"], verbs=["get"]', 'resource "Pods" is none; write the plural in lower case'),
        ('groups=[""], resources=["pods/"], verbs=["get"]', 'resource "pods/" is none; write the plural in lower case'),
        ('urls=["healthz"], verbs=["get"]', 'the path "healthz" starts with no slash; write /healthz'),
        ('groups=[""], resources=["pods"], verbs=["get"], namespace="My"', 'namespace "My" is not in lower-case'),
        ('groups=[""], verbs=["get"]', "it takes either resources= or urls="),
        ('groups=[""], resources=["pods"], verbs=[]', "it names no verb"),
        (
            'role_name="My Role", groups=[""], resources=["pods"], verbs=["get"]',
            'role_name "My Role" is not in lower-case',
        ),
        ('urls=["/healthz"], groups=[""], verbs=["get"]', "urls= stands alone"),
        (
            'groups=[""], resources=["pods"], resource_names=["a"], verbs=["create"]',
            "create can't be limited by resource_names",
        ),
    ],
)
def test_rbac(tmp_path: Path, rule: str, message: str) -> None:
    """A permission that is too wide, or says nothing, is refused at its line."""
    text = f"""\
        @dataclass(kw_only=True)
        class Spec:
            x: int = 1

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec

        @rbac({rule})
        @controller(Thing)
        class ThingReconciler:
            def reconcile(self, ctx, obj): ...
        """
    (said,) = told(tmp_path, text)
    assert said.startswith(f"acme/api/kind.py:{FIRST + 9}: @rbac: ")
    assert message in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('(Thing, owns="ConfigMap")', "owns is to be a list, not 'ConfigMap'; write owns=[GroupVersionKind("),
        ('(Thing, owns=["ConfigMap"])', "owns has 'ConfigMap' in it; write owns=[GroupVersionKind("),
        ("(Thing, owns=[Spec])", "Spec is no API type; put @resource(...) above it"),
        ("(Thing, watches=[Thing])", "watches has Thing itself in it; write watches=[Watch("),
        ("(Thing, watches=[Watch(kind=Thing, map=list, labels='a b')])", "'a b' is no label selector"),
        ("(Thing, watches=[Watch(kind=Thing, map=list, labels=[])])", "labels is to be a text, not []"),
        ('("Thing")', "'Thing' is no API type; name the class itself"),
        ("(Spec)", "Spec is no API type; put @resource(...) above it"),
        ("", "ThingReconciler is no API type; write @controller(TYPE), with the API type"),
        ('(Thing, timeout="5s")', "timeout is to be a number, not '5s'"),
        ("(Thing, timeout=-1)", "timeout is to be 0.001 or more, not -1"),
        ("(Thing, workers=0)", "workers is to be 1 or more, not 0"),
        ("(Thing, workers=True)", "workers is to be a whole number, not True"),
        ('(Thing, name="My Things")', 'name "My Things" is not in lower-case letters, digits and dashes'),
    ],
)
def test_controller(tmp_path: Path, arguments: str, message: str) -> None:
    """What @controller can't take is refused at its line, not where it would show first."""
    text = f"""\
        @dataclass(kw_only=True)
        class Spec:
            x: int = 1

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec

        @controller{arguments}
        class ThingReconciler:
            def reconcile(self, ctx, obj): ...
        """
    (said,) = told(tmp_path, text)
    assert said.startswith(f"acme/api/kind.py:{FIRST + 9}: @controller: ")
    assert message in said


def test_two_controllers_of_one_name(tmp_path: Path) -> None:
    """Metrics and field managers tell controllers apart by name, so it is unique."""
    said = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Spec:
            x: int = 1

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec

        @controller(Thing)
        class A:
            def reconcile(self, ctx, obj): ...

        @controller(Thing)
        class B:
            def reconcile(self, ctx, obj): ...
        """,
    )
    assert [line.split(": ")[0] for line in said] == [f"acme/api/kind.py:{FIRST + number}" for number in (9, 13)]


def test_rule_without_a_controller(tmp_path: Path) -> None:
    """@rbac on a class that reconciles nothing would be lost, so it is refused."""
    (said,) = told(tmp_path, '@rbac(urls=["/metrics"], verbs=["get"])\nclass Helper: ...\n')
    assert said.startswith(f"acme/api/kind.py:{FIRST}: @rbac: Helper is no reconciler, so the rule grants nothing;")


def test_misspelt_verb(tmp_path: Path) -> None:
    """A verb close to a request's is pointed out; others may be anybody's."""
    text = """\
@dataclass(kw_only=True)
class Spec:
    x: int = 1

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec

@rbac(groups=[""], resources=["pods"], verbs=["get", "lst", "use", "approve", "sign", "attest", "deletecollection"])
@controller(Thing)
class ThingReconciler:
    def reconcile(self, ctx, obj): ...
"""
    said = [str(warning) for warning in read(tmp_path, {"api/kind.py": IMPORTS + text}).warnings]
    assert said == [f"acme/api/kind.py:{FIRST + 9}: @rbac: no request has the verb lst; did you mean list?"]
