"""Permissions that we refuse."""

from pyopscaffold.api import controller, rbac
from pyopscaffold.runtime import Context, Reconciler, Result
from refused.api.kinds import Unique


@rbac(groups=["apps"], resources=["*"], verbs=["*"])
@rbac(groups=[""], resources=["configmaps"], resource_names=["one"], verbs=["create"])
@controller(Unique)
class UniqueReconciler(Reconciler[Unique]):
    """Does nothing."""

    async def reconcile(self, ctx: Context, obj: Unique) -> Result:
        """Be content."""
        ctx.log.info(obj.spec.names)
        return Result()
