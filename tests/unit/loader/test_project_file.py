"""loader.project: the PROJECT file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.errors import ProjectError
from pyopscaffold.loader.project import (
    add_resource,
    api_module,
    controller_module,
    dump,
    parse,
    read,
)
from pyopscaffold.loader.root import find_root
from pyopscaffold.model.project import Project, ResourceEntry, Workload

HAND_EDITED = """\
# our operator
domain: example.com   # the company's
layout:
- python.pyopscaffold.dev/v1
projectName: shop-operator
resources:
# the first one
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  group: db
  kind: MyDatabase
  path: elsewhere
  version: v1
# the end
version: "3"
unknownKey: {stays: true}
"""


def entry(kind: str = "Shop", **changes: object) -> ResourceEntry:
    """Make an entry of PROJECT's resources."""
    values = {"group": "db", "domain": "example.com", "version": "v1", "plural": f"{kind.lower()}s", **changes}
    return ResourceEntry(kind=kind, **values)  # type: ignore[arg-type]  # test values by name


def project(**changes: object) -> Project:
    """Make a project."""
    values = {"domain": "example.com", "name": "shop-operator", "package": "shop_operator", "image": "shop", **changes}
    return Project(cli_version="0.1.0", **values)  # type: ignore[arg-type]  # test values by name


def test_the_format_is_kubebuilders() -> None:
    """Keys, order and quotes are those of kubebuilder's version 3, with ours under plugins."""
    made = dump(project(multigroup=True, resources=(entry(), entry("Sheep", plural="sheep", namespaced=False))))
    assert [line for line in made.splitlines() if not line.startswith("#")] == [
        "cliVersion: 0.1.0",
        "domain: example.com",
        "layout:",
        "- python.pyopscaffold.dev/v1",
        "multigroup: true",
        "plugins:",
        "  python.pyopscaffold.dev/v1:",
        "    image: shop",
        "    package: shop_operator",
        "projectName: shop-operator",
        "resources:",
        "- api:",
        "    crdVersion: v1",
        "    namespaced: true",
        "  controller: true",
        "  domain: example.com",
        "  group: db",
        "  kind: Shop",
        "  path: shop_operator.api.db.v1.shop",
        "  version: v1",
        "- api:",
        "    crdVersion: v1",
        "  controller: true",
        "  domain: example.com",
        "  group: db",
        "  kind: Sheep",
        "  path: shop_operator.api.db.v1.sheep",
        "  plural: sheep",
        "  version: v1",
        'version: "3"',
    ]


def test_what_runs_is_recorded_as_by_kubebuilders_plugin() -> None:
    """An API for an image has its options under plugins, all of them texts."""
    full = Workload(image="memcached:1.6", ports=(11211,), command=("memcached", "-o", "a b"), run_as_user=1001)
    made = project(resources=(entry(workload=full), entry("Sheep", workload=Workload(image="sheep:1"), group="")))
    text = dump(made)
    lines = text.splitlines()
    start = lines.index("  deploy-image.python.pyopscaffold.dev/v1:")
    assert lines[start + 1 : start + 17] == [
        "    resources:",
        "    - domain: example.com",
        "      group: db",
        "      kind: Shop",
        "      options:",
        "        containerCommand: memcached -o 'a b'",
        "        containerPort: '11211'",
        "        image: memcached:1.6",
        "        runAsUser: '1001'",
        "      version: v1",
        "    - domain: example.com",
        "      kind: Sheep",
        "      options:",
        "        image: sheep:1",
        "      version: v1",
        "  python.pyopscaffold.dev/v1:",
    ]
    assert parse(text) == made


workloads = st.builds(
    Workload,
    image=st.sampled_from(["nginx:1.27", "a/b@sha256:" + "0" * 64]),
    ports=st.lists(st.integers(1, 65535), max_size=3).map(tuple),
    command=st.lists(st.text(st.characters(exclude_categories=["C"])), max_size=3).map(tuple),
    run_as_user=st.none() | st.integers(1, 2**31 - 1),
)
entries = st.lists(
    st.builds(
        entry,
        st.sampled_from(["Shop", "MyDatabase", "Proxy", "Yes", "Null"]),
        group=st.sampled_from(["", "db", "on", "1.2"]),
        plural=st.sampled_from(["shops", "true", "proxies"]),
        namespaced=st.booleans(),
        has_controller=st.booleans(),
        has_api=st.just(True),
        workload=st.none() | workloads,
    ),
    max_size=3,
    unique_by=lambda entry: entry.gvk,
)


@given(st.booleans(), st.booleans(), entries)
def test_what_is_written_is_read(multigroup: bool, namespaced: bool, resources: list[ResourceEntry]) -> None:
    """A project survives a round trip, whether its entries are written at once or added one by one."""
    made = project(multigroup=multigroup, namespaced=namespaced, resources=tuple(resources))
    assert parse(dump(made)) == made
    text = dump(project(multigroup=multigroup, namespaced=namespaced))
    for resource in resources:
        text = add_resource(text, resource)
    assert parse(text) == made


def test_an_added_resource_leaves_the_rest_as_it_is() -> None:
    """Comments, order, quotes and keys that we don't know stay."""
    added = add_resource(HAND_EDITED, entry())
    for line in HAND_EDITED.splitlines():
        assert line in added.splitlines()
    assert [resource.kind for resource in parse(added).resources] == ["MyDatabase", "Shop"]


def test_a_listed_resource_gets_what_it_lacks() -> None:
    """Adding an API again fills in its entry, and adds none."""
    without = HAND_EDITED.replace("  controller: true\n", "").replace("elsewhere", "shop_operator.api.v1.my_database")
    assert not parse(without).resources[0].has_controller
    changed = add_resource(without, entry("MyDatabase", plural="mydatabases"))
    assert [(found.kind, found.has_controller) for found in parse(changed).resources] == [("MyDatabase", True)]
    assert changed.replace("  controller: true\n", "") == without
    assert add_resource(changed, entry("MyDatabase", plural="mydatabases")) == changed


def test_kubebuilders_other_spellings_are_understood() -> None:
    """A list of controllers counts as a controller, and no api as none."""
    text = HAND_EDITED.replace("  controller: true\n", "  controllers:\n  - name: main\n")
    assert parse(text).resources[0].has_controller
    text = HAND_EDITED.replace(
        "- api:\n    crdVersion: v1\n    namespaced: true\n  controller: true", "- external: true"
    )
    assert (parse(text).resources[0].has_api, parse(text).resources[0].has_controller) == (False, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{image: a:1, containerPort: http}", "options can't be read: invalid literal for int()"),
        ('{image: a:1, containerCommand: "\'"}', "options can't be read: No closing quotation"),
        ("{}", "image is missing"),
    ],
)
def test_mistakes_in_what_runs_are_placed(options: str, message: str) -> None:
    """Whoever edited the options of an image by hand learns which line is wrong."""
    text = dump(project(resources=(entry(workload=Workload(image="a:1")),)))
    broken = text.replace("options:\n        image: a:1", f"options: {options}")
    line = next(number for number, line in enumerate(broken.splitlines(), 1) if "options:" in line)
    with pytest.raises(ProjectError) as caught:
        parse(broken)
    assert str(caught.value).startswith(f"PROJECT:{line}: {message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version: "3"', 'version: "2"', "PROJECT:18: version '2' is unknown; it is to be \"3\""),
        ('version: "3"\n', "", "PROJECT:1: version is missing"),
        ("- python.pyopscaffold.dev/v1", "- go.kubebuilder.io/v4", "PROJECT:3: the project has the layout go.kube"),
        ("domain: example.com   # the", "domain: [a]  # the", "PROJECT:2: domain is to be a text"),
        ("  kind: MyDatabase\n", "", "PROJECT:8: kind is missing"),
        ("    namespaced: true", "    namespaced: maybe", "PROJECT:10: namespaced is to be true or false"),
        ("- api:\n    crdVersion: v1\n    namespaced: true", "- api: v1", "PROJECT:8: api is to be a mapping"),
        ("layout:\n- python.pyopscaffold.dev/v1", "layout: x", "PROJECT:3: layout is to be a list"),
        ("domain: example.com   # the", "domain: 5_  # the", "PROJECT:2: domain '5_' is no DNS name in lower case"),
        ("projectName: shop-operator", "projectName: ../x", "PROJECT:5: projectName '../x' is to have lower-case"),
        ("unknownKey: {", "plugins: {python.pyopscaffold.dev/v1: {package: ../x}}\nu: {", "PROJECT:19: package '../x'"),
        ("unknownKey: {", "domain: example.org\nunknownKey: {", "PROJECT:19: duplicate key 'domain'"),
        ("  version: v1\n", "  version: v1\n  kind: Other\n", "PROJECT:17: duplicate key 'kind'"),
        ("stays: true", "stays: " + "[" * 5000 + "]" * 5000, "PROJECT: it is nested too deeply"),
        ("projectName:", "projectName: [", "PROJECT:6: "),
        (HAND_EDITED, "just text", "PROJECT:1: the file is to hold a mapping"),
        (HAND_EDITED, "", "PROJECT:1: the file is to hold a mapping"),
        ("# our operator", "\x01", "PROJECT: unacceptable character #x0001"),
    ],
)
def test_mistakes_are_placed(old: str, new: str, message: str) -> None:
    """Whoever edited the file by hand learns which line is wrong."""
    assert old in HAND_EDITED
    with pytest.raises(ProjectError) as caught:
        parse(HAND_EDITED.replace(old, new))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_aliases_are_read_once() -> None:
    """A file whose aliases expand to billions of values is read as fast as it was written."""
    rows = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert parse("\n".join([HAND_EDITED + "a0: &a0 [x, *a0]", *rows])).domain == "example.com"


def test_the_root_is_found_from_below(tmp_path: Path) -> None:
    """Commands work in every folder of a project, and say so outside of one."""
    (tmp_path / "PROJECT").write_text(HAND_EDITED)
    below = tmp_path / "a/b"
    below.mkdir(parents=True)
    assert find_root(below) == find_root(tmp_path) == tmp_path
    assert read(tmp_path).name == "shop-operator"
    with pytest.raises(ProjectError, match="is not inside a project"):
        find_root(Path(tmp_path.anchor))


def test_an_unreadable_file_is_an_error_of_the_project(tmp_path: Path) -> None:
    """Neither a missing file nor one that is no text ends in a traceback."""
    with pytest.raises(ProjectError, match="can't be read: No such file"):
        read(tmp_path)
    (tmp_path / "PROJECT").write_bytes(b"\xff")
    with pytest.raises(ProjectError, match="not UTF-8"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("multigroup", "group", "api", "controller"),
    [
        (False, "db", "shop_operator.api.v1.http_route", "shop_operator.controllers.http_route"),
        (True, "db", "shop_operator.api.db.v1.http_route", "shop_operator.controllers.db.http_route"),
        (True, "a-b.c", "shop_operator.api.a_b_c.v1.http_route", "shop_operator.controllers.a_b_c.http_route"),
        (True, "", "shop_operator.api.core.v1.http_route", "shop_operator.controllers.core.http_route"),
    ],
)
def test_modules_follow_from_group_version_and_kind(multigroup: bool, group: str, api: str, controller: str) -> None:
    """With several groups each has packages of its own."""
    made, resource = project(multigroup=multigroup), entry("HTTPRoute", group=group)
    assert (api_module(made, resource), controller_module(made, resource)) == (api, controller)
