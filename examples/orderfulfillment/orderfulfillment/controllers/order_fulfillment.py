"""Reconciles OrderFulfillment: a packing slip, a Job that picks the goods, and the state that follows from it.

Three pieces: the entry (OrderFulfillmentReconciler), the desired state (pure functions from the object to its
children) and the status (what was observed, as state and conditions).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP, JOB
from pyopscaffold.runtime import Context, Reconciler, Result, TerminalError, conditions

from orderfulfillment.api.v1.order_fulfillment import OrderFulfillment, State

DELIVERED = "orders.example.com/delivered"
"""Annotation that the carrier sets to "true"."""

IMAGE = "busybox:1.37"
SLIP = "slip.txt"

Manifest = dict[str, Any]


# --- entry: have the goods picked, then follow the order ---


@controller(OrderFulfillment, owns=[CONFIG_MAP, JOB], timeout=5.0)
class OrderFulfillmentReconciler(Reconciler[OrderFulfillment]):
    """Brings each order from PENDING to DELIVERED."""

    async def reconcile(self, ctx: Context, order: OrderFulfillment) -> Result:
        """Have the goods of a pending order picked, and report how far the order is."""
        job = await pick(ctx, order) if order.status.state is State.PENDING else {}
        state = next_state(order, job)
        if state is not order.status.state:
            ctx.event("Normal", state.capitalize(), f"Order {order.spec.order_id} is {state.lower()}")
        order.status.state = state
        report(order)
        return Result()


async def pick(ctx: Context, order: OrderFulfillment) -> Manifest:
    """Apply slip and Job, remove those of earlier items, and give the Job as it stands.

    Raises:
        TerminalError: the Job failed; to try again, delete it.
    """
    slip = await ctx.apply(packing_slip(order))
    job = await ctx.apply(picking_job(order))
    await ctx.prune(kept=[slip, job])
    if has_ended(job, "Failed"):
        raise TerminalError(f"Job {job['metadata']['name']} failed; delete it to try again", reason="PickingFailed")
    return job


# --- desired state: pure functions from the object to its children ---


def labels(order: OrderFulfillment) -> dict[str, str]:
    """Labels that all children carry."""
    return {
        "app.kubernetes.io/name": "orderfulfillment",
        "app.kubernetes.io/instance": order.metadata.name,
        "orders.example.com/warehouse": order.spec.warehouse_id,
    }


def slip_text(order: OrderFulfillment) -> str:
    """Write what is packed, articles in alphabetical order."""
    items = sorted(order.spec.items, key=lambda item: item.sku)
    lines = "".join(f"{item.quantity:5}  {item.sku}\n" for item in items)
    return f"Order      {order.spec.order_id}\nWarehouse  {order.spec.warehouse_id}\n\n{lines}"


def child_name(order: OrderFulfillment, purpose: str) -> str:
    """Name a child after the order and its items: a Job's pods can't change, so other items make other children."""
    items = sha256(slip_text(order).encode()).hexdigest()[:8]
    return f"{order.spec.order_id.lower()}-{purpose}-{items}"


def packing_slip(order: OrderFulfillment) -> Manifest:
    """Build the ConfigMap that holds the packing slip."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": child_name(order, "slip"), "labels": labels(order)},
        "data": {SLIP: slip_text(order)},
    }


def picking_job(order: OrderFulfillment) -> Manifest:
    """Build the Job that picks the goods."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": child_name(order, "pick"), "labels": labels(order)},
        "spec": {"backoffLimit": 2, "template": {"metadata": {"labels": labels(order)}, "spec": pod(order)}},
    }


def pod(order: OrderFulfillment) -> Manifest:
    """Build the pod's spec; it passes the restricted profile."""
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "pick",
                "image": IMAGE,
                "command": ["cat", f"/slip/{SLIP}"],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "slip", "mountPath": "/slip", "readOnly": True}],
            }
        ],
        "volumes": [{"name": "slip", "configMap": {"name": packing_slip(order)["metadata"]["name"]}}],
    }


# --- status: what was observed ---


def has_ended(job: Manifest, kind: str) -> bool:
    """Tell whether the Job has ended as Complete or as Failed."""
    found = job.get("status", {}).get("conditions", [])
    return any(condition["type"] == kind and condition["status"] == "True" for condition in found)


def next_state(order: OrderFulfillment, job: Manifest) -> State:
    """Give the state that follows from what was observed, at most one step on."""
    match order.status.state:
        case State.PENDING if has_ended(job, "Complete"):
            return State.SHIPPED
        case State.SHIPPED if order.metadata.annotations.get(DELIVERED) == "true":
            return State.DELIVERED
        case state:
            return state


def report(order: OrderFulfillment) -> None:
    """Set the conditions by the state: Ready once the order has left the warehouse."""
    state = order.status.state
    if state is not State.PENDING:
        conditions.set(order, "Ready", "True", reason=state.capitalize(), message=f"the order is {state.lower()}")
        return
    pieces = sum(item.quantity for item in order.spec.items)
    message = f"{pieces} pieces are being picked in {order.spec.warehouse_id}"
    conditions.set(order, "Ready", "False", reason="Picking", message=message)
    conditions.set(order, "Reconciling", "True", reason="Picking", message=message)
