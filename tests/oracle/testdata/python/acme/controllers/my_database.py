"""A reconciler that owns, watches, finalizes and asks for more."""

from acme.api.v1.gadget import Gadget
from acme.api.v1.my_database import MyDatabase
from pyopscaffold.api import Watch, controller, rbac
from pyopscaffold.kube.builtin import CONFIG_MAP, SERVICE, STATEFUL_SET
from pyopscaffold.runtime import Context, Reconciler, Result


@rbac(groups=[""], resources=["pods", "persistentvolumeclaims"], verbs=["get", "list"])
@rbac(groups=[""], resources=["secrets"], resource_names=["licence"], verbs=["get"], namespace="default")
@controller(
    MyDatabase,
    owns=[STATEFUL_SET, SERVICE],
    watches=[Watch(kind=CONFIG_MAP, map=lambda config: [(config["metadata"]["namespace"], "main")])],
    timeout=5.0,
)
class MyDatabaseReconciler(Reconciler[MyDatabase]):
    """Does nothing."""

    async def reconcile(self, ctx: Context, obj: MyDatabase) -> Result:
        """Be content."""
        ctx.log.info(obj.spec.version)
        return Result()

    async def finalize(self, ctx: Context, obj: MyDatabase) -> None:
        """Be done."""
        ctx.log.info(obj.spec.version)


@controller(Gadget)
class GadgetReconciler(Reconciler[Gadget]):
    """Does nothing either."""

    async def reconcile(self, ctx: Context, obj: Gadget) -> Result:
        """Be content."""
        ctx.log.info(obj.spec.size)
        return Result()
