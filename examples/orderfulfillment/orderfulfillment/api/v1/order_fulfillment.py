"""The OrderFulfillment API, version v1: what users write, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pyopscaffold.api import (
    CEL,
    Age,
    Column,
    Conditions,
    Example,
    Ge,
    Immutable,
    Le,
    Len,
    ListMap,
    MaxLen,
    Object,
    Pattern,
    cel,
    int32,
    int64,
    resource,
)


class State(StrEnum):
    """How far an order has come."""

    PENDING = "PENDING"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"


ONWARDS = CEL(
    "self == oldSelf.orValue('PENDING')"
    " || oldSelf.orValue('PENDING') == 'PENDING' && self == 'SHIPPED'"
    " || oldSelf.orValue('PENDING') == 'SHIPPED' && self == 'DELIVERED'",
    message="an order goes from PENDING to SHIPPED to DELIVERED",
    reason="FieldValueForbidden",
    optional_old_self=True,
)
"""The transitions that the API server lets pass, whoever writes; no state yet counts as PENDING."""


@dataclass(kw_only=True)
class Item:
    """One line of an order."""

    sku: Annotated[str, Pattern(r"^[A-Z]{3}-[0-9]{4}$"), MaxLen(8), Example("TEA-0042")]
    """Article number: three letters, a dash, four digits."""

    quantity: Annotated[int32, Ge(1), Le(1000)]
    """Number of pieces, 1 to 1000."""


@dataclass(kw_only=True)
class OrderFulfillmentSpec:
    """Desired state of an OrderFulfillment: what is to be sent, and from where."""

    order_id: Annotated[str, Pattern(r"^ORD-[0-9]{6,12}$"), MaxLen(16), Immutable(), Example("ORD-000123")]
    """Number of the order in the shop: ORD-, then 6 to 12 digits. It can't change."""

    warehouse_id: Annotated[str, Pattern(r"^WH-[A-Z]{3}-[0-9]{2}$"), MaxLen(9), Immutable(), Example("WH-BER-01")]
    """Warehouse that sends it, such as WH-BER-01. It can't change."""

    items: Annotated[list[Item], ListMap("sku"), Len(1, 100)]
    """What is ordered, 1 to 100 lines, one for each article. It can't change once the order is shipped."""


@cel("!has(oldSelf.state) || has(self.state)", message="the state of an order can't be taken away")
@dataclass(kw_only=True)
class OrderFulfillmentStatus:
    """Observed state of an OrderFulfillment."""

    observed_generation: int64 | None = None
    """Generation of the spec that this status is about."""

    state: Annotated[State, ONWARDS] = State.PENDING
    """How far the order has come: PENDING, SHIPPED, then DELIVERED."""

    conditions: Conditions = field(default_factory=list)
    """Ready, and while they hold Reconciling and Stalled."""


@resource(
    group="orders.example.com",
    version="v1",
    short_names=["of"],
    columns=[
        Column("Order", path="spec.order_id"),
        Column("Warehouse", path="spec.warehouse_id"),
        Column("State", path="status.state"),
        Column("Reason", condition="Ready", show="reason"),
        Age(),
    ],
)
@cel(
    "self.spec.items == oldSelf.spec.items || !has(oldSelf.status) || !has(oldSelf.status.state)"
    " || oldSelf.status.state == 'PENDING'",
    message="items can't change once the order is shipped",
    reason="FieldValueForbidden",
    field_path=".spec.items",
)
@dataclass(kw_only=True)
class OrderFulfillment(Object):
    """An order of a shop on its way from a warehouse to the customer."""

    spec: OrderFulfillmentSpec
    status: OrderFulfillmentStatus = field(default_factory=OrderFulfillmentStatus)
