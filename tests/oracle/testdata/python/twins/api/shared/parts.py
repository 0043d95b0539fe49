"""Types that several kinds share, and no kind of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pyopscaffold.api import Doc, Interval, Len, MaxLen, int32

Name = Annotated[str, Len(1, 63), Doc("A name with bounds.")]
Names = Annotated[dict[str, Name], MaxLen(9), Doc("Names by role.")]


@dataclass(kw_only=True)
class Window:
    """When something is done."""

    hour: Annotated[int32, Interval(ge=0, le=23)]
    since: datetime | None = None


@dataclass(kw_only=True)
class Common:
    """Common to all."""

    owner: Name
    """Who cares for it."""

    names: Names | None = None
