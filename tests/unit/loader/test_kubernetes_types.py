"""Kubernetes' own types embedded in a project's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.generate import rbac, samples
from pyopscaffold.model.kinds import FieldModel, KnownType, ListType, SourceSpan
from pyopscaffold.model.known import is_known, schema_of
from pyopscaffold.model.project import Project
from pyopscaffold.model.schema import kind_schema, type_schema
from pyopscaffold.schema import to_mapping, validate
from tests.unit.loader.projects import IMPORTS, read, read_kind, told

if TYPE_CHECKING:
    from pathlib import Path

CORE = "io.k8s.api.core.v1"
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")

THING = """\
from pyopscaffold.k8s.core.v1 import ContainerPort, PodTemplateSpec, ServiceSpec, Toleration
from pyopscaffold.k8s.networking.v1 import HTTPIngressPath

@dataclass(kw_only=True)
class ThingSpec:
    template: PodTemplateSpec
    kept: Annotated[PodTemplateSpec, KeepMetadata()] | None = None
    ports: Annotated[list[ContainerPort], ListMap("container_port", "protocol")] = field(default_factory=list)
    service: ServiceSpec | None = None
    tolerations: dict[str, Toleration] = field(default_factory=dict)
    path: HTTPIngressPath
    '''Where it is served.'''

@resource(group="example.com", version="v1", columns=[Column("IP", path="spec.service.cluster_ip")])
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec
"""


def spec_of(kind: Any) -> dict[str, Any]:
    """Return the properties of the spec, in JSON form."""
    found: dict[str, Any] = to_mapping(kind_schema(kind))["properties"]["spec"]["properties"]
    return found


def test_embedded(tmp_path: Path) -> None:
    """Fields, items and values have the schemas of the types; a field's own docstring describes it."""
    spec = spec_of(read_kind(tmp_path, THING))

    assert spec["template"] == to_mapping(schema_of(f"{CORE}.PodTemplateSpec"))
    assert spec["ports"]["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert spec["ports"]["items"] == to_mapping(schema_of(f"{CORE}.ContainerPort"))
    assert spec["tolerations"]["additionalProperties"]["properties"]["effect"]["enum"] == [
        "NoExecute",
        "NoSchedule",
        "PreferNoSchedule",
    ]
    assert spec["path"]["description"] == "Where it is served."


def test_kept_metadata(tmp_path: Path) -> None:
    """Embedded metadata is an object without fields, unless the field says that they are kept."""
    spec = spec_of(read_kind(tmp_path, THING))

    assert {**spec["template"]["properties"]["metadata"], "description": ""} == {"description": "", "type": "object"}
    kept = spec["kept"]["properties"]["metadata"]["properties"]
    assert sorted(kept) == ["annotations", "finalizers", "labels", "name", "namespace"]


def test_column_through_an_embedded_type(tmp_path: Path) -> None:
    """A path goes on inside, by Python names."""
    (column,) = read_kind(tmp_path, THING).columns
    assert (column.json_path, column.type) == (".spec.service.clusterIP", "string")


def test_defaults(tmp_path: Path) -> None:
    """A default of such a type is the server's too, and judged by its schema."""
    text = """\
from pyopscaffold.k8s.core.v1 import ResourceRequirements, Toleration

@dataclass(kw_only=True)
class ThingSpec:
    resources: ResourceRequirements = field(default_factory=lambda: ResourceRequirements(limits={"cpu": "100m"}))
    none: ResourceRequirements = field(default_factory=ResourceRequirements)
    tolerations: list[Toleration] = field(default_factory=lambda: [Toleration(key="a", toleration_seconds=5)])

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec
"""
    spec = spec_of(read_kind(tmp_path, text))
    assert spec["resources"]["default"] == {"limits": {"cpu": "100m"}}
    assert spec["none"]["default"] == {}
    assert spec["tolerations"]["default"] == [{"key": "a", "tolerationSeconds": 5}]
    (message,) = told(tmp_path / "other", text.replace('"100m"', '"much"'))
    assert "ThingSpec.resources: its default is not allowed: limits.cpu" in message


def test_misspelt_names_inside(tmp_path: Path) -> None:
    """Keys and paths that the type does not have are told, with what was meant."""
    wrong = THING.replace("cluster_ip", "clusterIP").replace('ListMap("container_port"', 'ListMap("port"')
    messages = "\n".join(told(tmp_path, wrong))
    assert "ServiceSpec has no field clusterIP; " in messages
    assert "cluster_ip" in messages
    assert "there is no field port to be a key of the list; " in messages


def test_key_that_may_be_missing(tmp_path: Path) -> None:
    """A key that neither Kubernetes nor its default gives is refused."""
    (message,) = told(tmp_path, THING.replace('"protocol")', '"host_port")'))
    assert "the key host_port can be missing" in message


def test_owned_kinds(tmp_path: Path) -> None:
    """What a controller owns and watches by class, its role grants."""
    controller = """\
    from acme.api.kind import Thing
    from pyopscaffold.api import Watch, controller
    from pyopscaffold.k8s.apps.v1 import StatefulSet
    from pyopscaffold.k8s.core.v1 import Pod, Service

    @controller(Thing, owns=[StatefulSet, Service], watches=[Watch(kind=Pod, map=lambda pod: [])])
    class ThingReconciler:
        async def reconcile(self, ctx, obj): ...
    """
    model = read(tmp_path, {"api/kind.py": IMPORTS + THING, "controllers/kind.py": controller})
    role = next(item.text for item in rbac.artefacts(model, PROJECT, {}) if item.path == "config/rbac/role.yaml")
    granted = {
        (group, resource)
        for rule in yaml.safe_load(role)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }

    assert {("apps", "statefulsets"), ("", "services"), ("", "pods")} <= granted
    assert [kind.gvk.kind for kind in model.kinds] == ["Thing"]


def test_sample(tmp_path: Path) -> None:
    """A sample fills in what the type demands, and no more."""
    kind = read_kind(tmp_path, THING)
    (path,) = (member for member in kind.root.fields[0].type.fields if member.name == "path")

    value = samples.value_of(path)
    assert value == {"backend": {}, "pathType": "Exact"}
    assert validate(type_schema(path.type), value) == ()
    assert "template: {}" in samples.sample(kind, PROJECT)


def test_sample_of_conditions() -> None:
    """The items of a list have what a Condition demands."""
    member = FieldModel("c", "c", ListType(KnownType("Condition")), SourceSpan("", 0))
    assert samples.value_of(member) == []
    single = FieldModel("c", "c", KnownType("Condition"), SourceSpan("", 0))
    assert validate(type_schema(single.type), samples.value_of(single)) == ()


@pytest.mark.parametrize(
    ("name", "known"),
    [
        (f"{CORE}.PodSpec", True),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector", True),
        ("Condition", True),
        (f"{CORE}.PodSpeck", False),
        ("io.k8s.api.core.v7.PodSpec", False),
    ],
)
def test_known_names(name: str, known: bool) -> None:
    """What the tool knows of another version's types, it says before it looks for them."""
    assert is_known(name) == known
