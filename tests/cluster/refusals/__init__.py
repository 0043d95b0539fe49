"""Each class of what an API server refuses of a CRD, as a pair of CRDs: one that has it, and the same without.

Left out are what the types and costs of CEL tell, and what an update may not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.cluster.refusals.columns import COLUMNS
from tests.cluster.refusals.fields import FIELDS
from tests.cluster.refusals.objects import OBJECTS
from tests.cluster.refusals.schemas import SCHEMAS

if TYPE_CHECKING:
    from tests.cluster.refusals.made import Refusal

REFUSALS: Final[tuple[Refusal, ...]] = (*OBJECTS, *SCHEMAS, *FIELDS, *COLUMNS)
