"""What a refused change of an object's finalizers means; the races are played on a real API server."""

from __future__ import annotations

from typing import Any

import pytest

from pyopscaffold.errors import Conflict, Invalid, StatusCause
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.meta import ObjectMeta
from pyopscaffold.runtime import finalizer

THING = GroupVersionKind("example.com", "v1", "Thing")
META = ObjectMeta(name="one", namespace="ns", uid="u1")


class Refusing:
    """Refuses every patch with this error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def patch(self, *_: Any, **__: Any) -> dict[str, Any]:
        """See Client."""
        raise self.error


async def test_an_object_that_is_refused_is_no_conflict() -> None:
    """A schema or a policy that refuses the object names a cause: trying again on a fresh read would not help."""
    client: Any = Refusing(Invalid("spec.size: required", causes=[StatusCause("FieldValueRequired", "", "spec.size")]))
    with pytest.raises(Invalid, match=r"spec\.size"):
        await finalizer.add(client, THING, META, "example.com/thing-finalizer")


async def test_a_failed_test_is_a_conflict() -> None:
    """The server gives no cause when the finalizers are not those that the change builds on."""
    client: Any = Refusing(Invalid("the server rejected our request due to an error in our request"))
    with pytest.raises(Conflict, match="changed meanwhile"):
        await finalizer.add(client, THING, META, "example.com/thing-finalizer")
