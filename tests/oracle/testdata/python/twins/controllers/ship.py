"""A reconciler that asks for much."""

from pyopscaffold.api import controller, rbac
from pyopscaffold.runtime import Context, Reconciler, Result
from twins.api.lifecycle import Ship


@rbac(groups=["apps"], resources=["deployments"], verbs=["get", "list"])
@rbac(groups=["apps"], resources=["deployments"], verbs=["list", "get", "get"])
@rbac(groups=["apps"], resources=["deployments"], verbs=["watch"])
@rbac(groups=["apps"], resources=["statefulsets", "daemonsets"], verbs=["get", "list", "watch"])
@rbac(groups=["batch"], resources=["jobs"], verbs=["get", "list"])
@rbac(groups=["cron.example.com"], resources=["jobs"], verbs=["list", "get"])
@rbac(groups=["a.example.com", "b.example.com"], resources=["things"], verbs=["delete"])
@rbac(groups=["b.example.com", "c.example.com"], resources=["things"], verbs=["delete"])
@rbac(groups=["a.example.com", "b.example.com"], resources=["things", "others"], verbs=["get"])
@rbac(groups=["core"], resources=["pods"], verbs=["get"])
@rbac(groups=[""], resources=["pods", "pods/log"], verbs=["list"])
@rbac(groups=[""], resources=["nodes"], verbs=["get"])
@rbac(groups=[""], resources=["configmaps"], verbs=["get"])
@rbac(groups=[""], resources=["configmaps"], resource_names=["one"], verbs=["update"])
@rbac(groups=[""], resources=["configmaps"], resource_names=["two", "one"], verbs=["update"])
@rbac(groups=[""], resources=["configmaps"], resource_names=["one", "two"], verbs=["patch"])
@rbac(groups=[""], resources=["endpoints"], resource_names=["one"], verbs=["update"])
@rbac(urls=["/metrics"], verbs=["get"])
@rbac(urls=["/healthz", "/metrics"], verbs=["get"])
@rbac(urls=["/readyz"], verbs=["post"])
@rbac(groups=[""], namespace="infra", resources=["leases"], verbs=["get", "update"])
@rbac(groups=[""], namespace="infra", resources=["leases"], verbs=["create"])
@rbac(groups=["apps"], namespace="infra", resources=["deployments"], verbs=["get"])
@rbac(groups=[""], namespace="apps", resources=["leases"], verbs=["get"])
@rbac(groups=[""], role_name="reader", resources=["events"], verbs=["get", "list"])
@rbac(groups=[""], role_name="reader", resources=["events"], verbs=["watch"])
@rbac(groups=[""], role_name="reader", namespace="infra", resources=["events"], verbs=["get"])
@rbac(groups=[""], role_name="writer", namespace="infra", resources=["events"], verbs=["create"])
@rbac(groups=[""], role_name="manager-role", resources=["nodes"], verbs=["list"])
@controller(Ship)
class ShipReconciler(Reconciler[Ship]):
    """Does nothing."""

    async def reconcile(self, ctx: Context, obj: Ship) -> Result:
        """Be content."""
        ctx.log.info(obj.spec.port)
        return Result()
