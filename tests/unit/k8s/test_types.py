"""Kubernetes' own types behave as the keyword-only dataclasses that their stubs show."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
import subprocess
import sys
import typing
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

import pyopscaffold.k8s
from pyopscaffold import codec
from pyopscaffold.api import Object, ObjectMeta, Watch, controller
from pyopscaffold.api.declarations import controller_of
from pyopscaffold.api.introspect import fields_of
from pyopscaffold.api.resource import declaration_of, declared_resources
from pyopscaffold.k8s.apps.v1 import StatefulSet, StatefulSetSpec
from pyopscaffold.k8s.core.v1 import (
    Container,
    ContainerPort,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Secret,
    Service,
    ServiceSpec,
)
from pyopscaffold.k8s.meta.v1 import LabelSelector
from pyopscaffold.k8s.networking.v1 import IPBlock, NetworkPolicyIngressRule, NetworkPolicyPeer
from pyopscaffold.k8s.rbac.v1 import ClusterRole

STUBS = sorted(Path(pyopscaffold.k8s.__path__[0]).glob("*/*.pyi"))
MODULES = [f"pyopscaffold.k8s.{stub.parent.name}.{stub.stem}" for stub in STUBS]


def template() -> PodTemplateSpec:
    """Return a template with something in it."""
    ports = [ContainerPort(container_port=80)]
    return PodTemplateSpec(spec=PodSpec(containers=[Container(name="web", image="nginx", ports=ports)]))


def test_what_is_not_given_is_none() -> None:
    """Every optional field is there, and None."""
    container = Container(name="web")

    assert (container.name, container.image, container.ports) == ("web", None, None)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"nam": "web"}, "unexpected keyword argument 'nam'"),
        ({"image": "nginx"}, "missing required keyword arguments: 'name'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, str], complaint: str) -> None:
    """A misspelt and a missing argument are type errors that say which."""
    with pytest.raises(TypeError, match=complaint):
        Container(**arguments)  # type: ignore[arg-type]  # wrong on purpose


def test_arguments_are_keywords() -> None:
    """Nobody knows the order of forty fields."""
    with pytest.raises(TypeError, match="positional"):
        Container("web")  # type: ignore[call-arg,arg-type]  # wrong on purpose


def test_equality_is_by_value() -> None:
    """Objects with the same fields are equal, and none is hashable, since each can be changed."""
    assert template() == template()
    assert template() != dataclasses.replace(template(), spec=None)
    assert template() != object()
    with pytest.raises(TypeError, match="unhashable"):
        hash(template())


def test_repr_shows_what_is_set() -> None:
    """A representation is the call that makes the object, without the many fields that are not set."""
    assert repr(ContainerPort(container_port=80)) == "ContainerPort(container_port=80)"


def test_dataclasses_module_takes_them() -> None:
    """fields, replace and asdict work."""
    assert dataclasses.is_dataclass(ContainerPort)
    names = [field.name for field in dataclasses.fields(ContainerPort)]
    assert names == ["container_port", "host_ip", "host_port", "name", "protocol"]
    assert dataclasses.replace(ContainerPort(container_port=80), name="http").name == "http"
    assert dataclasses.asdict(template())["spec"]["containers"][0]["ports"][0]["container_port"] == 80


def test_they_can_be_copied_and_pickled() -> None:
    """copy, deepcopy and pickle give equal objects; a deep copy shares nothing."""
    made = template()
    deep = copy.deepcopy(made)

    assert copy.copy(made) == deep == pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own
    assert made.spec
    made.spec.containers[0].name = "other"
    assert deep != made


def test_a_dataclass_can_derive_from_them() -> None:
    """A subclass adds fields in the usual way."""

    @dataclasses.dataclass(kw_only=True)
    class Named(ContainerPort):
        url: str
        path: str = "/"

    named = Named(container_port=80, url="web")
    assert (named.container_port, named.path, named.protocol) == (80, "/", None)
    assert named == Named(container_port=80, url="web")
    assert "__kubernetes_type__" not in vars(Named)


def test_type_hints_are_types() -> None:
    """Typing resolves the hints, other modules' classes included."""
    hints = typing.get_type_hints(StatefulSetSpec)
    assert hints["selector"] is LabelSelector
    assert hints["template"] is PodTemplateSpec
    assert hints["replicas"] == int | None


def test_json_names_that_are_no_camel_case() -> None:
    """Keywords and initialisms have Python names, and their own in JSON."""
    peer = NetworkPolicyPeer(ip_block=IPBlock(cidr="10.0.0.0/8", except_=["10.1.0.0/16"]))
    service = ServiceSpec(cluster_ip="None", external_ips=["192.0.2.1"])

    assert codec.to_mapping(NetworkPolicyIngressRule(from_=[peer])) == {
        "from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]
    }
    assert codec.to_mapping(service) == {"clusterIP": "None", "externalIPs": ["192.0.2.1"]}


def test_kinds_are_objects() -> None:
    """A kind has its group, version, kind and scope, a metadata of its own, and is written with its head."""
    service = Service(metadata=ObjectMeta(name="web"), spec=ServiceSpec(type="ClusterIP"))

    assert StatefulSet.gvk.group_resource == "statefulsets.apps"
    assert (Pod.api_version, Pod.kind, Pod.gvk.namespaced) == ("v1", "Pod", True)
    assert not ClusterRole.gvk.namespaced
    assert Service().metadata is not Service().metadata
    assert codec.to_mapping(service) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"type": "ClusterIP"},
    }


def test_controllers_take_kinds() -> None:
    """A reconciler can own and watch them; they are none of the project's own resources."""
    from tests.cluster.widgets import Widget  # noqa: PLC0415 - registers a kind

    @controller(Widget, owns=[StatefulSet, Service], watches=[Watch(kind=Pod, map=lambda _: [])])
    class Reconciler:
        async def reconcile(self) -> None: ...

    declared = controller_of(Reconciler)
    assert declared
    assert declared.owns == (StatefulSet, Service)
    assert declaration_of(StatefulSet)
    assert StatefulSet not in declared_resources()


def test_scalars_have_their_python_types() -> None:
    """Bytes, times, quantities and ports are read as what they are, and written back."""
    secret = codec.decode(Secret, {"data": {"key": "YWJj"}, "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"}})
    assert secret.data == {"key": b"abc"}
    assert secret.metadata.creation_timestamp == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    spec = {"containers": [{"name": "a", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}]}
    read = codec.decode(PodSpec, spec)
    assert read.containers[0].resources
    assert read.containers[0].resources.limits == {"cpu": "1", "memory": "1Gi"}


def test_values_newer_than_the_types_are_read() -> None:
    """A word that only a newer server knows does not keep an operator from reading the object."""
    read = codec.decode(PodSpec, {"containers": [], "restartPolicy": "Sometimes"})
    assert str(read.restart_policy) == "Sometimes"


def test_unknown_names_are_import_errors() -> None:
    """A module says that it has no such type, and lists those that it has."""
    with pytest.raises(ImportError, match="PodTemplate_"):
        from pyopscaffold.k8s.core.v1 import PodTemplate_  # type: ignore[attr-defined]  # noqa: F401, PLC0415
    assert {"Pod", "PodSpec", "Volume"} <= set(dir(import_module("pyopscaffold.k8s.core.v1")))


def test_all_of_a_module_can_be_imported() -> None:
    """A star brings the types of a module, those too that are written by hand, and nothing else."""
    names: dict[str, object] = {}
    exec("from pyopscaffold.k8s.meta.v1 import *", names)  # noqa: S102 - a star is for modules only
    assert set(names) - {"__builtins__"} == set(dir(import_module("pyopscaffold.k8s.meta.v1")))
    assert names["ObjectMeta"] is ObjectMeta


@pytest.mark.parametrize("module", MODULES)
def test_classes_are_as_the_stub_shows(module: str) -> None:
    """Each class has the fields, defaults and base of its stub, and each module the names."""
    stub = STUBS[MODULES.index(module)]
    shown = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ClassDef)]

    loaded = import_module(module)
    basic = {"Condition", "ObjectMeta", "OwnerReference"} if module.endswith("meta.v1") else set()
    assert {node.name for node in shown} | basic == {name for name in dir(loaded) if not name.startswith("_")}
    for node in shown:
        cls = getattr(loaded, node.name)
        fields = [statement for statement in node.body if isinstance(statement, ast.AnnAssign)]
        own = [info for info in fields_of(cls) if not (info.name == "metadata" and issubclass(cls, Object))]
        assert [(ast.unparse(field.target), field.value is None) for field in fields] == [
            (info.name, info.required) for info in own
        ]
        assert bool(node.bases) == issubclass(cls, Object)


def fresh(code: str) -> str:
    """Run code in a new interpreter, and return what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_only_what_is_used_is_made() -> None:
    """A label selector costs no pod template, and neither the codec nor the schemas are loaded."""
    code = (
        "import sys; from pyopscaffold.k8s.core.v1 import Affinity; from pyopscaffold.k8s.core import v1;"
        "print('PodSpec' in vars(v1), 'msgspec' in sys.modules, 'pyopscaffold.model' in sys.modules)"
    )
    assert fresh(code) == "False False False"
