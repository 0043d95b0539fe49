"""OrderFulfillment: the desired state and the status by themselves, and all of it on a real API server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pyopscaffold.api import ObjectMeta
from pyopscaffold.errors import Invalid
from pyopscaffold.runtime import conditions
from pyopscaffold.testing import RestClient, eventually

from orderfulfillment.api.v1.order_fulfillment import Item, OrderFulfillment, OrderFulfillmentSpec, State
from orderfulfillment.controllers.order_fulfillment import (
    DELIVERED,
    next_state,
    packing_slip,
    picking_job,
    report,
    slip_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer

TEA, JAM = {"sku": "TEA-0042", "quantity": 2}, {"sku": "JAM-0007", "quantity": 12}
COMPLETE = {"type": "Complete", "status": "True"}


def order_fulfillment(*items: dict[str, Any], state: State = State.PENDING) -> OrderFulfillment:
    """Make an order as a user would write it, that has come so far."""
    lines = [Item(**item) for item in items or (TEA, JAM)]
    order = OrderFulfillment(
        metadata=ObjectMeta(name="sample", namespace="default", generation=1),
        spec=OrderFulfillmentSpec(order_id="ORD-000123", warehouse_id="WH-BER-01", items=lines),
    )
    order.status.state = state
    return order


def state(order: OrderFulfillment, kind: str) -> tuple[str, str]:
    """Give a condition's status and reason; empty where it is not there."""
    found = conditions.get(order, kind)
    return (found.status, found.reason) if found else ("", "")


def slip_of(job: dict[str, Any]) -> str:
    """Name the ConfigMap that a Job reads."""
    (volume,) = job["spec"]["template"]["spec"]["volumes"]
    return str(volume["configMap"]["name"])


def test_the_slip_lists_what_is_packed() -> None:
    """One line for each article, in alphabetical order."""
    assert slip_text(order_fulfillment(TEA, JAM)).splitlines() == [
        "Order      ORD-000123",
        "Warehouse  WH-BER-01",
        "",
        "   12  JAM-0007",
        "    2  TEA-0042",
    ]


def test_the_job_reads_the_slip() -> None:
    """It mounts the ConfigMap of its order, and other items make another Job."""
    order = order_fulfillment()
    job = picking_job(order)
    assert slip_of(job) == packing_slip(order)["metadata"]["name"]
    assert picking_job(order_fulfillment(TEA))["metadata"]["name"] != job["metadata"]["name"]
    assert picking_job(order_fulfillment(JAM, TEA)) == job


@pytest.mark.parametrize(
    ("before", "ended", "annotations", "after"),
    [
        (State.PENDING, [], {}, State.PENDING),
        (State.PENDING, [COMPLETE], {}, State.SHIPPED),
        (State.PENDING, [], {DELIVERED: "true"}, State.PENDING),
        (State.PENDING, [COMPLETE], {DELIVERED: "true"}, State.SHIPPED),
        (State.SHIPPED, [], {}, State.SHIPPED),
        (State.SHIPPED, [], {DELIVERED: "true"}, State.DELIVERED),
        (State.DELIVERED, [], {}, State.DELIVERED),
    ],
)
def test_states_follow_one_by_one(
    before: State, ended: list[dict[str, Any]], annotations: dict[str, str], after: State
) -> None:
    """The Job's end ships an order and the carrier's annotation delivers it; none is skipped, none comes back."""
    order = order_fulfillment(state=before)
    order.metadata.annotations = annotations
    assert next_state(order, {"status": {"conditions": ended}}) is after


@pytest.mark.parametrize(
    ("reached", "ready", "reconciling"),
    [
        (State.PENDING, ("False", "Picking"), ("True", "Picking")),
        (State.SHIPPED, ("True", "Shipped"), ("", "")),
        (State.DELIVERED, ("True", "Delivered"), ("", "")),
    ],
)
def test_it_is_ready_once_it_is_shipped(reached: State, ready: tuple[str, str], reconciling: tuple[str, str]) -> None:
    """Until the goods have left the warehouse the order reconciles."""
    order = order_fulfillment(state=reached)
    report(order)
    assert state(order, "Ready") == ready
    assert state(order, "Reconciling") == reconciling


# On a real API server: orders, and who moves them.


@dataclass
class Shop:
    """Orders in a namespace of the test's own, and the warehouse and carrier around them."""

    client: RestClient
    namespace: str

    def path(self, name: str = "sample") -> str:
        """Where an order lives."""
        return f"/apis/orders.example.com/v1/namespaces/{self.namespace}/orderfulfillments/{name}"

    def write(self, name: str = "sample", **spec: Any) -> dict[str, Any]:
        """Apply an order as its user; ``spec`` changes the usual one, None takes a field out."""
        whole = {"orderId": "ORD-000123", "warehouseId": "WH-BER-01", "items": [TEA, JAM], **spec}
        body = {
            "apiVersion": "orders.example.com/v1",
            "kind": "OrderFulfillment",
            "metadata": {"name": name},
            "spec": {field: value for field, value in whole.items() if value is not None},
        }
        return self.client.apply(self.path(name), body, manager="user")

    def reach(self, reached: str, name: str = "sample") -> None:
        """Write the state as an operator would."""
        self.client.merge(f"{self.path(name)}/status", {"status": {"state": reached}})

    def status(self) -> dict[str, Any]:
        """Read the status."""
        found: dict[str, Any] = self.client.get(self.path())["status"]
        return found

    def ready(self) -> tuple[str, str]:
        """Give status and reason of the condition Ready; empty where it is not there."""
        found = [item for item in self.status().get("conditions", []) if item["type"] == "Ready"]
        return (found[0]["status"], found[0]["reason"]) if found else ("", "")

    def jobs(self) -> list[dict[str, Any]]:
        """List the Jobs that are there to stay."""
        found = self.client.get(f"/apis/batch/v1/namespaces/{self.namespace}/jobs")["items"]
        return [job for job in found if "deletionTimestamp" not in job["metadata"]]

    def end(self, job: dict[str, Any], kind: str) -> None:
        """Report the end of a Job, as its controller does when the pods are through."""
        at = job["metadata"]["creationTimestamp"]
        cause = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[kind]
        ended = [{"type": one, "status": "True", "lastTransitionTime": at} for one in (cause, kind)]
        done = {"succeeded": 1, "completionTime": at} if kind == "Complete" else {"failed": 3}
        path = f"/apis/batch/v1/namespaces/{self.namespace}/jobs/{job['metadata']['name']}/status"
        self.client.merge(path, {"status": {"startTime": at, "conditions": ended, **done}})

    def events(self) -> list[str]:
        """List the reasons of the events on the order."""
        found = self.client.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        return [event["reason"] for event in found if event["regarding"]["name"] == "sample"]


@pytest.fixture
def shop(api_server: ApiServer, namespace: str, crds: None) -> Iterator[Shop]:
    """Give a shop without orders."""
    client = api_server.client()
    yield Shop(client, namespace)
    client.close()


def test_an_order_goes_its_way(shop: Shop, api_server: ApiServer, operator: None) -> None:
    """Picked, shipped, delivered; each step with its event, and nothing that the operator asks for is refused."""
    shop.write()
    (job,) = eventually(shop.jobs)
    slip = shop.client.get(f"/api/v1/namespaces/{shop.namespace}/configmaps/{slip_of(job)}")
    assert "    2  TEA-0042\n" in slip["data"]["slip.txt"]
    eventually(lambda: shop.ready() == ("False", "Picking"))
    assert shop.status()["state"] == "PENDING"

    shop.end(job, "Complete")
    eventually(lambda: shop.ready() == ("True", "Shipped"))
    assert shop.status()["state"] == "SHIPPED"

    shop.client.merge(shop.path(), {"metadata": {"annotations": {DELIVERED: "true"}}})
    eventually(lambda: shop.ready() == ("True", "Delivered"))
    assert shop.status()["state"] == "DELIVERED"
    eventually(lambda: sorted(shop.events()) == ["Delivered", "Shipped"])
    records = api_server.audit_log.records(user=f"system:serviceaccount:{shop.namespace}:operator")
    assert records
    assert [record for record in records if record.code in {401, 403}] == []


def test_other_items_are_picked_anew(shop: Shop, operator: None) -> None:
    """While the order is pending its items may change: the old Job goes, another comes."""
    shop.write()
    (before,) = eventually(shop.jobs)
    shop.write(items=[TEA])
    (after,) = eventually(lambda: [job for job in shop.jobs() if job["metadata"]["uid"] != before["metadata"]["uid"]])
    eventually(lambda: len(shop.jobs()) == 1)
    shop.end(after, "Complete")
    eventually(lambda: shop.status()["state"] == "SHIPPED")


def test_a_failed_job_is_tried_again_once_it_is_deleted(shop: Shop, operator: None) -> None:
    """The order stalls, says why, and goes on when somebody has deleted the Job."""
    shop.write()
    (job,) = eventually(shop.jobs)
    shop.end(job, "Failed")
    eventually(lambda: shop.ready() == ("False", "PickingFailed"))
    shop.client.delete(f"/apis/batch/v1/namespaces/{shop.namespace}/jobs/{job['metadata']['name']}")
    eventually(lambda: shop.ready() == ("False", "Picking"))


@pytest.mark.parametrize(
    ("path", "after"),
    [(["DELIVERED"], ""), (["SHIPPED", "PENDING"], "SHIPPED"), (["SHIPPED", "DELIVERED", "SHIPPED"], "DELIVERED")],
)
def test_a_forbidden_transition_is_refused(shop: Shop, path: list[str], after: str) -> None:
    """The API server lets an order go PENDING, SHIPPED, DELIVERED only, whoever writes."""
    shop.write()
    for reached in path[:-1]:
        shop.reach(reached)
    with pytest.raises(Invalid) as caught:
        shop.reach(path[-1])
    (cause,) = caught.value.causes
    assert cause.field == "status.state"
    assert "an order goes from PENDING to SHIPPED to DELIVERED" in cause.message
    assert shop.status().get("state", "") == after


def test_a_state_stays_known(shop: Shop) -> None:
    """It can't be taken away, which would let the order start again; no other word is a state."""
    shop.write()
    shop.reach("SHIPPED")
    for value, field in ((None, "status"), ("LOST", "status.state")):
        with pytest.raises(Invalid) as caught:
            shop.client.merge(f"{shop.path()}/status", {"status": {"state": value}})
        assert field in {cause.field for cause in caught.value.causes}


def test_what_is_shipped_stays_as_it_is(shop: Shop) -> None:
    """Items may change until then; number and warehouse never do."""
    shop.write()
    shop.write(items=[JAM])
    shop.reach("SHIPPED")
    refused: dict[str, Any] = {"items": [TEA], "orderId": "ORD-000124", "warehouseId": "WH-BER-02"}
    for field, value in refused.items():
        with pytest.raises(Invalid) as caught:
            shop.write(**({"items": [JAM]} | {field: value}))
        assert {cause.field for cause in caught.value.causes} == {f"spec.{field}"}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"orderId": None}, "spec.orderId"),
        ({"orderId": "123"}, "spec.orderId"),
        ({"warehouseId": None}, "spec.warehouseId"),
        ({"warehouseId": "Berlin"}, "spec.warehouseId"),
        ({"items": None}, "spec.items"),
        ({"items": []}, "spec.items"),
        ({"items": [TEA, {**JAM, "quantity": 0}]}, "spec.items[1].quantity"),
        ({"items": [{**TEA, "quantity": 1001}]}, "spec.items[0].quantity"),
        ({"items": [TEA, {"sku": "JAM-0007"}]}, "spec.items[1].quantity"),
        ({"items": [{**TEA, "sku": "tea"}]}, "spec.items[0].sku"),
    ],
)
def test_orders_are_validated_to_the_leaves(shop: Shop, spec: dict[str, Any], field: str) -> None:
    """The API server names the very field that is wrong."""
    with pytest.raises(Invalid) as caught:
        shop.write(**spec)
    assert field in {cause.field for cause in caught.value.causes}


def test_an_article_stands_in_one_line(shop: Shop) -> None:
    """The lines are keyed by article, so two of one are refused."""
    path, body = shop.path().rpartition("/")[0], shop.write()
    twice = {**body, "metadata": {"name": "twice"}, "spec": {**body["spec"], "items": [TEA, {**TEA, "quantity": 3}]}}
    with pytest.raises(Invalid) as caught:
        shop.client.create(path, twice)
    assert {cause.field for cause in caught.value.causes} == {"spec.items[1]"}
