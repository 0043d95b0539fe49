"""A reconciler with rights in a single namespace."""

from differences.api.kinds import Start
from pyopscaffold.api import controller, rbac
from pyopscaffold.runtime import Context, Reconciler, Result


@rbac(groups=[""], namespace="infra", resources=["leases"], verbs=["get"])
@controller(Start)
class StartReconciler(Reconciler[Start]):
    """Does nothing."""

    async def reconcile(self, ctx: Context, obj: Start) -> Result:
        """Be content."""
        ctx.log.info(obj.spec.name)
        return Result()
