"""Kubernetes' own types against a real API server: embedded in CRDs, read, applied and owned."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold import codec
from pyopscaffold.api import Object, ObjectMeta, Watch, controller
from pyopscaffold.generate.crd import crd_of
from pyopscaffold.k8s.apps.v1 import StatefulSet, StatefulSetSpec
from pyopscaffold.k8s.coordination.v1 import Lease, LeaseSpec
from pyopscaffold.k8s.core.v1 import (
    ConfigMap,
    Container,
    ContainerPort,
    EmptyDirVolumeSource,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
    VolumeMount,
    VolumeResourceRequirements,
)
from pyopscaffold.k8s.meta.v1 import LabelSelector
from pyopscaffold.k8s.networking.v1 import (
    IPBlock,
    NetworkPolicyIngressRule,
    NetworkPolicyPeer,
    NetworkPolicyPort,
    NetworkPolicySpec,
)
from pyopscaffold.loader import source
from pyopscaffold.model.known import schema_of
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.testing import eventually
from scripts.kubernetes_types.__main__ import ROOT, files
from scripts.kubernetes_types.openapi import PATHS, ask
from tests.cluster.widgets import Cluster, Widget, operating, soon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.model.kinds import KindModel
    from pyopscaffold.schema import Schema
    from pyopscaffold.testing import ApiServer, RestClient

pytestmark = pytest.mark.xdist_group("kubernetes-types")

MODULES = [*PATHS, "meta/v1"]
ALIKE = {"DaemonSet", "Deployment", "ReplicaSet", "Job", "PodTemplate", "ReplicationController"}
"""Kinds whose pod template is tested by another; more of them would keep the server busy."""
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HEAD = """\
from dataclasses import dataclass
from typing import Annotated
from pyopscaffold.api import KeepMetadata, ListMap, Object, resource
"""
KIND = """\
@resource(group="embedding.example.com", version="v1", scope="Cluster")
@dataclass(kw_only=True)
class {name}(Object):
    spec: Spec
"""
TRICKY = """\
from pyopscaffold.k8s.core.v1 import ContainerPort, PodTemplateSpec, ServiceSpec
from pyopscaffold.k8s.networking.v1 import NetworkPolicySpec

@dataclass(kw_only=True)
class Spec:
    template: Annotated[PodTemplateSpec, KeepMetadata()] | None = None
    policy: NetworkPolicySpec | None = None
    ports: Annotated[list[ContainerPort], ListMap("container_port", "protocol")] | None = None
    service: ServiceSpec | None = None
"""
PROBING = """\
from pyopscaffold.k8s.core.v1 import Probe

@dataclass(kw_only=True)
class Spec:
    probe: Probe
"""


def without_descriptions(schema: Any) -> Any:
    """Drop the descriptions from a schema in JSON form, which would make the CRDs too big for one request."""
    if isinstance(schema, list):
        return [without_descriptions(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_descriptions(value)
        for key, value in schema.items()
        if key != "description" or not isinstance(value, str)
    }


def modules() -> dict[str, str]:
    """Return the declarations of the kinds: one that embeds each module's types, and those below."""
    texts = {"tricky": TRICKY, "probing": PROBING}
    for module in MODULES:
        types = top_types(module)
        home, name = module.replace("/", "."), module.partition("/")[0]
        head = f"from pyopscaffold.k8s.{home} import {', '.join(types)}\n@dataclass(kw_only=True)\nclass Spec:\n"
        texts[name] = head + "".join(f"    t{number}: {kind} | None = None\n" for number, kind in enumerate(types))
    return {name: HEAD + text + KIND.format(name=name.title()) for name, text in texts.items()}


@pytest.fixture(scope="module")
def kinds(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KindModel]]:
    """Have the server serve all kinds, each accepted without a complaint; give them by kind."""
    root = tmp_path_factory.mktemp("project")
    package = root / "acme" / "api"
    package.mkdir(parents=True)
    for name, text in {"__init__": "", "../__init__": "", **modules()}.items():
        (package / f"{name}.py").write_text(text)
    found = {kind.gvk.kind: kind for kind in source.read(root, "acme", python=sys.executable).kinds}
    crds = [without_descriptions(crd_of([kind])) for kind in found.values()]
    with closing(api_server.client()) as client:
        for crd in crds:
            client.create(CRDS, crd)
        for crd in crds:
            status = eventually(partial(_status, client, crd["metadata"]["name"]))
            assert status == {"NamesAccepted": "True", "Established": "True"}
        for kind in found.values():
            eventually(partial(client.get, path_of(kind)))
        yield found
        for crd in crds:
            client.delete(f"{CRDS}/{crd['metadata']['name']}")


def path_of(kind: KindModel) -> str:
    """Return the path of a kind's objects."""
    return f"/apis/embedding.example.com/v1/{kind.gvk.plural}"


def stored(client: RestClient, kind: KindModel, spec: dict[str, Any]) -> Any:
    """Create an object, and return the spec that the server keeps."""
    body = {"apiVersion": "embedding.example.com/v1", "kind": kind.gvk.kind, "metadata": {"name": "one"}, "spec": spec}
    return client.create(path_of(kind), body)["spec"]


def _status(client: RestClient, name: str) -> dict[str, str]:
    """Return the conditions of a CRD once the server has judged it, nothing before."""
    conditions = client.get(f"{CRDS}/{name}")["status"]["conditions"]
    found = {item["type"]: item["status"] for item in conditions or ()}
    return found if found.get("Established") == "True" or "NonStructuralSchema" in found else {}


def filled(schema: Schema, *, port: int | str = 8080) -> Any:  # noqa: PLR0911 - one case a type
    """Return a value that has every field of a schema; int-or-strings are ``port``."""
    if schema.enum:
        return schema.enum[-1]
    if schema.int_or_string:
        return "10Gi" if schema.pattern else port
    match schema.type:
        case "object" if schema.preserve_unknown_fields:
            return {"any": ["thing", 1]}
        case "object" if schema.additional_properties is not None:
            return {"key": filled(schema.additional_properties, port=port)}
        case "object":
            return {name: filled(child, port=port) for name, child in schema.properties.items()}
        case "array":
            assert schema.items is not None
            return [filled(schema.items, port=port)]
        case "string":
            return {"date-time": "2026-01-02T03:04:05Z", "byte": "YWJj"}.get(schema.format, "text")
        case kind:
            return {"integer": 1, "boolean": True}[kind]


def top_types(module: str) -> list[str]:
    """Return the types of a module that no other of its types holds, less those alike."""
    schemas = json.loads((ROOT / "pyopscaffold/model/kubernetes" / f"{module.replace('/', '.')}.json").read_text())
    text = json.dumps([*schemas.values()])
    return [name for name in schemas if f'.{name}"' not in text and name not in ALIKE]


@pytest.mark.parametrize("module", MODULES)
def test_every_type_can_be_embedded(module: str, admin: RestClient, kinds: dict[str, KindModel]) -> None:
    """A CRD with every type of a module is structural, and stores an object that uses every field as it is."""
    kind = kinds[module.partition("/")[0].title()]
    spec = filled(kind_schema(kind).properties["spec"])
    assert len(spec) == len(top_types(module))
    assert stored(admin, kind, spec) == spec


def test_what_is_easy_to_get_wrong(admin: RestClient, kinds: dict[str, KindModel]) -> None:
    """Peers, volumes, ports by name and number, and lists by two keys, written by Python, are stored unchanged."""
    peer = NetworkPolicyPeer(ip_block=IPBlock(cidr="10.0.0.0/8", except_=["10.1.0.0/16"]))
    allowed = [NetworkPolicyPort(port=80), NetworkPolicyPort(port="http", end_port=81)]
    policy = NetworkPolicySpec(
        pod_selector=LabelSelector(match_labels={"app": "web"}),
        ingress=[NetworkPolicyIngressRule(from_=[peer], ports=allowed)],
    )
    dns = [ContainerPort(container_port=53, protocol=name) for name in ("TCP", "UDP")]
    mounts = [VolumeMount(name="data", mount_path="/data")]
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels={"app": "web"}, annotations={"a": "b"}),
        spec=PodSpec(
            containers=[Container(name="web", image="nginx", ports=dns, volume_mounts=mounts)],
            volumes=[Volume(name="data", empty_dir=EmptyDirVolumeSource(size_limit="1Gi"))],
        ),
    )
    service = ServiceSpec(
        cluster_ip="None",
        ports=[
            ServicePort(port=53, protocol="TCP", target_port="dns"),
            ServicePort(port=53, protocol="UDP", target_port=53),
        ],
    )
    spec: dict[str, Any] = {
        "template": codec.to_mapping(template),
        "policy": codec.to_mapping(policy),
        "ports": [codec.to_mapping(port) for port in dns],
        "service": codec.to_mapping(service),
    }
    assert stored(admin, kinds["Tricky"], spec) == spec
    assert "from" in spec["policy"]["ingress"][0]


def test_named_ports(admin: RestClient, kinds: dict[str, KindModel]) -> None:
    """A named port passes wherever a number does."""
    probe = filled(schema_of("io.k8s.api.core.v1.Probe"), port="http")
    assert probe["httpGet"]["port"] == "http"
    assert stored(admin, kinds["Probing"], {"probe": probe}) == {"probe": probe}


@pytest.mark.usefixtures("newest_kubernetes")
def test_data_is_what_the_server_publishes(admin: RestClient) -> None:
    """The types in the repository are those that `make kubernetes-types` makes from the pinned server."""
    made = files(ask(admin))
    assert len(made) > 50
    assert {path for path, text in made.items() if (ROOT / path).read_text(encoding="utf-8") != text} == set()
    stubs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pyopscaffold/k8s").rglob("*.pyi")}
    assert stubs == {path for path in made if path.endswith(".pyi")}


POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "web",
                "image": "nginx",
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"port": "http", "path": "/"}},
                "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
            }
        ],
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        "volumes": [{"name": "a", "projected": {"sources": [{"downwardAPI": {"items": []}}]}}],
    },
}


def lost(before: Any, after: Any, path: str = "") -> list[str]:
    """Return the paths of what ``before`` has and ``after`` has not, nulls aside."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            item
            for key, value in before.items()
            if value is not None
            for item in lost(value, after.get(key), f"{path}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [item for one, other in zip(before, after, strict=True) for item in lost(one, other, f"{path}[]")]
    return [] if before == after else [path]


def test_nothing_is_lost_on_the_way(admin: RestClient, namespace: str) -> None:
    """A Pod and a StatefulSet as the server returns them are read and written with every field."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    admin.apply(f"/api/v1/namespaces/{namespace}/serviceaccounts/default", account)
    pod = admin.create(f"/api/v1/namespaces/{namespace}/pods", POD)
    claim: dict[str, Any] = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    spec = {
        "selector": {"matchLabels": {"app": "web"}},
        "serviceName": "web",
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]},
        "volumeClaimTemplates": [claim],
    }
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": spec}
    stateful_set = admin.create(f"/apis/apps/v1/namespaces/{namespace}/statefulsets", body)

    for cls, raw in ((Pod, pod), (StatefulSet, stateful_set)):
        del raw["metadata"]["managedFields"]
        assert lost(raw, codec.to_mapping(codec.decode(cls, raw))) == []
    assert {field.name for field in fields(Pod)} == {"metadata", "spec", "status"}


def listed_kinds() -> list[type[Object]]:
    """Return the kinds that the server lists."""
    unlisted = {"Binding", "Eviction"}
    modules = [import_module(f"pyopscaffold.k8s.{module.replace('/', '.')}") for module in MODULES]
    classes = [getattr(module, name) for module in modules for name in dir(module)]
    return [cls for cls in classes if issubclass(cls, Object) and cls.kind not in unlisted]


def test_everything_in_a_cluster_is_read(admin: RestClient, namespace: str) -> None:
    """Each object of each kind, as the server makes them, is read and written without loss; null limits too."""
    empty = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "empty"}, "spec": {"limits": []}}
    assert admin.create(f"/api/v1/namespaces/{namespace}/limitranges", empty)["spec"] == {"limits": None}
    counts = Counter[str]()
    for cls in listed_kinds():
        prefix = f"/apis/{cls.api_version}" if cls.gvk.group else "/api/v1"
        for raw in admin.get(f"{prefix}/{cls.gvk.plural}")["items"]:
            raw["metadata"].pop("managedFields", None)
            assert lost(raw, codec.to_mapping(codec.decode(cls, raw))) == [], raw
            counts[cls.kind] += 1
    assert counts["ClusterRole"] > 50
    assert len(counts) >= 10, counts


def of_same_name(item: ConfigMap) -> list[tuple[str, str]]:
    """Return the Widget to reconcile when a ConfigMap changes."""
    assert isinstance(item, ConfigMap)
    return [(item.metadata.namespace, item.metadata.name)]


@controller(Widget, owns=[StatefulSet, Service], watches=[Watch(kind=ConfigMap, map=of_same_name)], timeout=5.0)
class TypedReconciler(Reconciler[Widget]):
    """Keeps a StatefulSet and a Service, both typed, and counts them and the ConfigMaps."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply both."""
        name = obj.metadata.name
        claim = PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"], resources=VolumeResourceRequirements(requests={"storage": "1Gi"})
        )
        pods = PodSpec(containers=[Container(name="main", image="nginx")])
        await ctx.apply(
            StatefulSet(
                metadata=ObjectMeta(name=name),
                spec=StatefulSetSpec(
                    service_name=name,
                    selector=LabelSelector(match_labels={"app": name}),
                    template=PodTemplateSpec(metadata=ObjectMeta(labels={"app": name}), spec=pods),
                    volume_claim_templates=[PersistentVolumeClaim(metadata=ObjectMeta(name="data"), spec=claim)],
                ),
            )
        )
        service = await ctx.apply(
            Service(metadata=ObjectMeta(name=name), spec=ServiceSpec(ports=[ServicePort(port=80, target_port="http")]))
        )
        assert service.spec.cluster_ip
        owned = [*await ctx.owned(StatefulSet), *await ctx.owned(Service)]
        watched = [item for item in await ctx.client.list(ConfigMap, namespace=obj.metadata.namespace) if item.data]
        obj.status.calls = len(owned) + sum(item.metadata.name == name for item in watched)
        return Result()


async def test_typed_children(api_server: ApiServer, cluster: Cluster) -> None:
    """A reconciler owns, watches and applies typed objects; what others change of its children is undone."""
    async with operating(TypedReconciler(), api_server, cluster.namespace) as manager:
        cluster.apply("web")
        await soon(lambda: cluster.widget("web")["status"].get("calls") == 2)
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "b"}}
        cluster.client.apply(cluster.config_map_path("web"), config_map)
        await soon(lambda: cluster.widget("web")["status"].get("calls") == 3)
        path = f"/apis/apps/v1/namespaces/{cluster.namespace}/statefulsets/web"
        made = cluster.client.get(path)
        assert made["metadata"]["ownerReferences"][0]["kind"] == "Widget"
        assert made["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] == {"storage": "1Gi"}
        service = manager.cache.informer(Service).get(cluster.namespace, "web")
        assert codec.decode(Service, service.raw).spec.ports == [
            ServicePort(port=80, protocol="TCP", target_port="http")
        ]
        container = {"name": "main", "image": "other"}
        cluster.client.merge(path, {"spec": {"template": {"spec": {"containers": [container]}}}})
        image = ["nginx"]
        await soon(
            lambda: [c["image"] for c in cluster.client.get(path)["spec"]["template"]["spec"]["containers"]] == image
        )


async def test_typed_reads(kubeconfig: Path, namespace: str) -> None:
    """A client creates, patches, gets and lists typed objects, with times as the server wants them."""
    client = HttpClient(load(kubeconfig))
    try:
        new = ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace), data={"k": "v"})
        made = await client.create(new, field_manager="test")
        await client.patch(ConfigMap, "a", {"data": {"k": "w"}}, namespace=namespace)
        assert (await client.get(ConfigMap, "a", namespace=namespace)).data == {"k": "w"}
        listed = await client.list(ConfigMap, namespace=namespace)
        assert [item.data for item in listed if item.metadata.uid == made.metadata.uid] == [{"k": "w"}]
        renewed = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        lease = Lease(metadata=ObjectMeta(name="a", namespace=namespace), spec=LeaseSpec(renew_time=renewed))
        assert (await client.create(lease, field_manager="test")).spec == lease.spec
    finally:
        await client.close()
