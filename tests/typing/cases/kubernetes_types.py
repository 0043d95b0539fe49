"""Type checkers take Kubernetes' own types for plain dataclasses. Checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Annotated, Any, Literal, assert_type

from pyopscaffold.api import KeepMetadata, ListMap, Object, ObjectMeta, Watch, controller, resource
from pyopscaffold.codec import decode
from pyopscaffold.k8s.apps.v1 import StatefulSet, StatefulSetSpec
from pyopscaffold.k8s.batch.v1 import CronJobSpec
from pyopscaffold.k8s.coordination.v1 import LeaseSpec
from pyopscaffold.k8s.core.v1 import Container, ContainerPort, Pod, PodSpec, PodTemplateSpec, Service, ServicePort
from pyopscaffold.k8s.meta.v1 import Condition, LabelSelector
from pyopscaffold.k8s.networking.v1 import NetworkPolicyIngressRule, NetworkPolicyPeer
from pyopscaffold.runtime import Context, Reconciler, Result


@dataclass(kw_only=True)
class ThingSpec:
    template: Annotated[PodTemplateSpec, KeepMetadata()]
    ports: Annotated[list[ContainerPort], ListMap("container_port", "protocol")] = field(default_factory=list)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec


port = ContainerPort(container_port=80, protocol="TCP")
assert_type(port.container_port, int)
assert_type(port.protocol, Literal["SCTP", "TCP", "UDP"] | None)
assert_type(ServicePort(port=80, target_port="http").target_port, int | str | None)

template = PodTemplateSpec(spec=PodSpec(containers=[Container(name="main", ports=[port])]))
assert_type(template.metadata, ObjectMeta | None)
assert_type(template.spec, PodSpec | None)
assert_type(replace(template, spec=None), PodTemplateSpec)
assert fields(template)

thing = Thing(spec=ThingSpec(template=template))
assert_type(thing.spec.template, PodTemplateSpec)
assert_type(thing.spec.ports[0].name, str | None)

spec = StatefulSetSpec(selector=LabelSelector(match_labels={"app": "web"}), template=template)
stateful_set = StatefulSet(metadata=ObjectMeta(name="web"), spec=spec)
assert_type(stateful_set.spec.volume_claim_templates is None, bool)
assert_type(decode(StatefulSet, b"{}"), StatefulSet)
assert_type(LeaseSpec().renew_time, datetime | None)
assert_type(NetworkPolicyIngressRule().from_, list[NetworkPolicyPeer] | None)
assert_type(CronJobSpec.__name__, str)
assert_type(Condition(type="Ready", status="True", reason="Up").message, str)


def of_pod(pod: Pod) -> list[tuple[str, str]]:
    """Map a typed event."""
    assert_type(pod.metadata.labels, dict[str, str])
    return [(pod.metadata.namespace, pod.metadata.name)]


@controller(Thing, owns=[StatefulSet, Service], watches=[Watch(kind=Pod, map=of_pod)])
class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, ctx: Context, obj: Thing) -> Result:
        """Apply, find and list typed objects."""
        assert_type(await ctx.apply(stateful_set), StatefulSet)
        assert_type(await ctx.owned(Service), list[Service])
        assert_type(await ctx.client.list(Pod, namespace="a"), list[Pod])
        assert_type((await ctx.client.get_scale(StatefulSet, "web", namespace="a")).wanted, int)
        async for event, found in ctx.client.follow(Pod, namespace="a"):
            assert_type(event, Literal["ADDED", "MODIFIED", "DELETED"])
            assert_type(found, Pod)
        untyped: Any = await ctx.client.get(Pod.gvk, "a", namespace="a")
        return Result() if untyped else Result(requeue_after=1.0)
