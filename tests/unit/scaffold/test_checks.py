"""scaffold.checks: names that can be, and what is said about those that can't."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.errors import UsageError
from pyopscaffold.scaffold import checks

Check = Callable[[str], None]
check_group = partial(checks.check_group, domain="example.com")


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (checks.check_domain, "example.com"),
        (checks.check_domain, "corp"),
        (checks.check_domain, "my-k8s.io"),
        (checks.check_owner, "Jörg Müller & Co."),
        (checks.check_project_name, "shop-operator"),
        (checks.check_project_name, "a" * 47),
        (checks.check_image, "shop"),
        (checks.check_image, "registry.example.com:5000/team/shop_operator"),
        (check_group, ""),
        (check_group, "db"),
        (check_group, "a.b-c"),
        (checks.check_version, "v1"),
        (checks.check_version, "v2beta10"),
        (checks.check_kind, "MyDatabase"),
        (checks.check_kind, "HTTPRoute"),
        (checks.check_plural, "my-databases"),
    ],
)
def test_good_names_pass(check: Check, name: str) -> None:
    """What Kubernetes and Python take is taken."""
    check(name)


@pytest.mark.parametrize(
    ("check", "name", "hint"),
    [
        (checks.check_domain, "", "--domain example.com"),
        (checks.check_domain, "Example.com", "--domain example.com"),
        (checks.check_domain, "example_com", "--domain example.com"),
        (checks.check_domain, "k8s.io", "--domain example.com"),
        (checks.check_domain, "db.kubernetes.io", "--domain example.com"),
        (checks.check_owner, "Jane\nDoe", "in one line"),
        (checks.check_project_name, "123", "--project-name my-operator"),
        (partial(checks.check_group, domain="corp"), "", "--group apps"),
        (checks.check_project_name, "Shop Operator", "--project-name shop-operator"),
        (checks.check_project_name, "1shop", "--project-name shop-operator"),
        (checks.check_project_name, "a" * 48, "--project-name"),
        (checks.check_project_name, "class", "--project-name class-operator"),
        (checks.check_project_name, "json", "--project-name json-operator"),
        (checks.check_project_name, "tests", "--project-name tests-operator"),
        (checks.check_project_name, "pyopscaffold-runtime", "--project-name"),
        (checks.check_image, "Shop", "lower case"),
        (checks.check_image, "shop:latest", "without tag"),
        (checks.check_image, "shop@sha256:00", "without tag"),
        (check_group, "DB", "--group db"),
        (check_group, "a_b", "--group a-b"),
        (check_group, "db.example.com", "write --group 'db'"),
        (check_group, "example.com", "write --group ''"),
        (checks.check_version, "1", "v1beta1"),
        (checks.check_version, "v1.2", "v1beta1"),
        (checks.check_version, "V1", "v1beta1"),
        (checks.check_kind, "my_database", "--kind MyDatabase"),
        (checks.check_kind, "myDatabase", "--kind MyDatabase"),
        (checks.check_kind, "9lives", "--kind Lives"),
        (checks.check_kind, "A" * 64, "--kind AAA"),
        (checks.check_kind, "", "--kind MyKind"),
        (checks.check_kind, "Class", "--kind ClassConfig"),
        (checks.check_kind, "None", "--kind NoneConfig"),
        (checks.check_kind, "Object", "--kind MyObject"),
        (checks.check_plural, "Shops", "leave it out"),
        (checks.check_plural, "1shops", "leave it out"),
    ],
)
def test_bad_names_are_refused_with_a_way_out(check: Check, name: str, hint: str) -> None:
    """The message quotes what was given; the hint tells what to write instead."""
    with pytest.raises(UsageError) as caught:
        check(name)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert hint in (caught.value.hint or "")


@given(st.text(max_size=70))
def test_every_suggestion_would_do(text: str) -> None:
    """A hint that names a value names one that is taken."""
    options: dict[str, Check] = {"--kind": checks.check_kind, "--project-name": checks.check_project_name}
    for option, check in options.items():
        try:
            check(text)
        except UsageError as error:
            suggested = (error.hint or "").partition(f"{option} ")[2]
            try:
                check(suggested)
            except UsageError as second:  # the nearest name may be a keyword: then the next hint is good
                check((second.hint or "").partition(f"{option} ")[2])
