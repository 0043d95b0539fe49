"""Every pair of flags makes a project that is formatted, linted, typed and tested as it comes."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.files.apply import apply
from pyopscaffold.scaffold.api import ApiOptions, create_api
from pyopscaffold.scaffold.init import InitOptions, init
from pyopscaffold.scaffold.regenerate import plan_project
from pyopscaffold.scaffold.workload import ImageOptions

if TYPE_CHECKING:
    from pathlib import Path

Flags = dict[str, object]

BARE = ImageOptions(image="registry.example.com:5000/team/memcached:1.6")
FULL = ImageOptions(
    image="nginx:1.27", ports=(8080, 9090), command="nginx -g 'daemon off; user \"www\";'", run_as_user=101
)

CHOICES: dict[str, tuple[object, ...]] = {
    "name": ("shop", "a-shop-operator-with-a-rather-long-name"),
    "license": ("apache2", "mit", "none"),
    "watches_own": (False, True),
    "multigroup": (False, True),
    "group": ("", "db", "a-b.c"),
    "version": ("v1", "v2alpha1"),
    "kind": ("MyDatabase", "HTTPRoute", "KindWithARatherLongNameOfWords"),
    "plural": (None, "irregular"),
    "cluster": (False, True),
    "second_version": (False, True),
    "image": (False, True),
}


def possible(flags: Flags) -> bool:
    """Tell whether create api takes the combination: an operator of one namespace can't control cluster-wide kinds."""
    return not (flags["watches_own"] and flags["cluster"])


def pairwise(choices: dict[str, tuple[object, ...]]) -> list[Flags]:
    """Give a few combinations that have every pair of values of two choices among them (greedy, deterministic)."""
    products = itertools.product(*choices.values())
    every = [flags for values in products if possible(flags := dict(zip(choices, values, strict=True)))]
    random.Random(7).shuffle(every)  # noqa: S311 - no secret; unshuffled, ties would go to ones that are much alike
    pairs = [frozenset(itertools.combinations(flags.items(), 2)) for flags in every]
    missing = set().union(*pairs)
    chosen = []
    while missing:
        best = max(range(len(every)), key=lambda index: len(pairs[index] & missing))
        missing -= pairs[best]
        chosen.append(every[best])
    return chosen


COMBINATIONS = pairwise(CHOICES)


def make(root: Path, flags: Flags) -> None:
    """Make the project that the flags ask for, with one API."""
    options = InitOptions(
        domain="example.com",
        name=str(flags["name"]),
        license=flags["license"],  # type: ignore[arg-type]  # one of the three
        namespaced=bool(flags["watches_own"]),
        multigroup=bool(flags["multigroup"]),
    )
    apply(init(root, options).plan)
    versions = [str(flags["version"]), *(["v3"] if flags["second_version"] else [])]
    for version in versions:
        first = version == versions[0]
        api = ApiOptions(
            group=str(flags["group"]),
            version=version,
            kind=str(flags["kind"]),
            plural=flags["plural"],  # type: ignore[arg-type]  # a text or None
            namespaced=not flags["cluster"],
            container=FULL if flags["image"] and first else ImageOptions(),
        )
        apply(create_api(root, api).plan)
    plan, warnings = plan_project(root, python=sys.executable)
    assert warnings == ()
    apply(plan)


@pytest.fixture(scope="session")
def types_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give mypy's cache, which the projects share: most of it is about pyopscaffold."""
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.parametrize("flags", COMBINATIONS, ids=lambda flags: "-".join(map(str, flags.values())))
def test_a_project_is_in_order_as_it_comes(tmp_path: Path, types_cache: Path, flags: Flags) -> None:
    """Formatter, linter, type checker, CRD linter and unit tests find nothing to complain about."""
    root = tmp_path / "project"
    make(root, flags)
    check(root, types_cache)
    run(root, "pytest", "-q", "-p", "no:cacheprovider", "-k", "not api_server")


def check(root: Path, types_cache: Path) -> None:
    """Have all but the tests find nothing to complain about."""
    for command in (
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "--no-cache", "."],
        ["mypy", "--cache-dir", str(types_cache)],
        ["pyopscaffold", "lint-crd", "--profile", "strict", "config/crd/bases"],
    ):
        run(root, *command)


@pytest.mark.parametrize(
    ("watches_own", "multigroup", "cluster"), [(True, True, False), (False, False, True)], ids=["namespaced", "cluster"]
)
def test_its_operator_reconciles(
    tmp_path: Path, types_cache: Path, watches_own: bool, multigroup: bool, cluster: bool
) -> None:
    """On a real API server, with the generated permissions alone: in one namespace, and for cluster-scoped kinds."""
    chosen = {"watches_own": watches_own, "multigroup": multigroup, "cluster": cluster}
    flags = {name: values[0] for name, values in CHOICES.items()} | chosen
    make(tmp_path, flags)
    for kind, container in (("Cache", BARE), ("Web", FULL)):
        options = ApiOptions(group="", version="v1", kind=kind, namespaced=not cluster, container=container)
        apply(create_api(tmp_path, options).plan)
    plan, _ = plan_project(tmp_path, python=sys.executable)
    apply(plan)
    check(tmp_path, types_cache)
    shown = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider")
    assert "skipped" not in shown


def run(root: Path, *command: str) -> str:
    """Run a Python tool in the project; it must find nothing wrong."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_combinations_are_few() -> None:
    """The greedy choice stays near the least that is possible: the product of the two longest lists."""
    assert 9 <= len(COMBINATIONS) <= 14
