"""Reconciles MyDatabase: a headless Service and a StatefulSet of PostgreSQL pods.

Three pieces: the entry (MyDatabaseReconciler), the desired state (pure functions from the object to its children) and
the status (what was observed, as conditions).
"""

from __future__ import annotations

from typing import Any

from pyopscaffold.api import Watch, controller
from pyopscaffold.kube.builtin import POD, SERVICE, STATEFUL_SET
from pyopscaffold.kube.quantity import parse as quantity
from pyopscaffold.runtime import Context, Reconciler, Result, TerminalError, conditions

from mydatabase.api.v1.my_database import MyDatabase

PORT = 5432
OLDEST_MAJOR = 13
DEFAULT_STORAGE = "1Gi"
CONTAINER = "postgres"
CLAIM = "data"
POSTGRES_USER = {"runAsUser": 999, "fsGroup": 999}
PODS = "app.kubernetes.io/name=mydatabase"
STARTING = ("ContainerCreating", "PodInitializing")

Manifest = dict[str, Any]


# --- entry: check the spec, bring the children in line, report ---


def owner(pod: Manifest) -> list[tuple[str, str]]:
    """Name the database of a pod: the one that its StatefulSet is called after."""
    owners = pod["metadata"].get("ownerReferences", [])
    return [(pod["metadata"]["namespace"], found["name"]) for found in owners if found["kind"] == "StatefulSet"]


@controller(MyDatabase, owns=[STATEFUL_SET, SERVICE], watches=[Watch(kind=POD, map=owner, labels=PODS)], timeout=5.0)
class MyDatabaseReconciler(Reconciler[MyDatabase]):
    """Brings the children of a MyDatabase in line with its spec."""

    async def reconcile(self, ctx: Context, db: MyDatabase) -> Result:
        """Check the spec, apply the children, and report what is observed."""
        current = await current_stateful_set(ctx, db)
        validate(db, current)
        await ctx.apply(service(db))
        for reason, message in changes(db, current):
            ctx.event("Normal", reason, message)
        applied = await ctx.apply(stateful_set(db, replicas=db.spec.replicas))
        pods = await ctx.cache.list(POD, namespace=db.metadata.namespace, labels=PODS)
        report(db, applied, [pod for pod in pods if owner(pod) == [(db.metadata.namespace, db.metadata.name)]])
        return Result()

    async def finalize(self, ctx: Context, db: MyDatabase) -> Result:
        """Stop all pods, last one first, before the object and its children go."""
        current = await current_stateful_set(ctx, db)
        if current is not None:
            stopping = await ctx.apply(stateful_set(db, replicas=0, storage=claimed_storage(current)))
            if observed(stopping, "replicas"):
                return Result(requeue_after=5)
            ctx.event("Normal", "Stopped", "All pods are stopped; the database goes")
        return Result()


async def current_stateful_set(ctx: Context, db: MyDatabase) -> Manifest | None:
    """Find the StatefulSet of this database, where it has one."""
    owned = await ctx.owned(STATEFUL_SET)
    return next((child for child in owned if child["metadata"]["name"] == db.metadata.name), None)


def validate(db: MyDatabase, current: Manifest | None) -> None:
    """Check what the CRD's schema can't: the version's age, and that the storage stays.

    Raises:
        TerminalError: the spec can't be carried out until somebody changes it.
    """
    if int(db.spec.version.split(".")[0]) < OLDEST_MAJOR:
        refuse(db, "UnsupportedVersion", f"version {db.spec.version} is older than {OLDEST_MAJOR}")
    wanted = db.spec.storage or DEFAULT_STORAGE
    claimed = claimed_storage(current) if current else wanted
    if quantity(wanted) != quantity(claimed):
        refuse(db, "ImmutableStorage", f"storage can't change from {claimed} to {wanted}; set it back")
    conditions.set(db, "Validated", "True", reason="SpecValid", message="the spec can be carried out")


def refuse(db: MyDatabase, reason: str, message: str) -> None:
    """Report a spec that can't be carried out, and stop until it changes."""
    conditions.set(db, "Validated", "False", reason=reason, message=message)
    raise TerminalError(message, reason=reason)


# --- desired state: pure functions from the object to its children ---


def labels(db: MyDatabase) -> dict[str, str]:
    """Labels that all children and pods carry, and that select the pods."""
    return {"app.kubernetes.io/name": "mydatabase", "app.kubernetes.io/instance": db.metadata.name}


def service(db: MyDatabase) -> Manifest:
    """Build the headless Service that gives each pod its DNS name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": db.metadata.name, "labels": labels(db)},
        "spec": {
            "clusterIP": "None",
            "selector": labels(db),
            "ports": [{"name": "postgres", "port": PORT, "targetPort": "postgres"}],
        },
    }


def stateful_set(db: MyDatabase, *, replicas: int, storage: str = "") -> Manifest:
    """Build the StatefulSet: pods with a volume each, replaced one by one."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": db.metadata.name, "labels": labels(db)},
        "spec": {
            "replicas": replicas,
            "serviceName": db.metadata.name,
            "podManagementPolicy": "OrderedReady",
            "revisionHistoryLimit": 5,
            "updateStrategy": {"type": "RollingUpdate"},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": db.spec.retention, "whenScaled": "Retain"},
            "selector": {"matchLabels": labels(db)},
            "template": {"metadata": {"labels": labels(db)}, "spec": pod(db)},
            "volumeClaimTemplates": [claim(storage or db.spec.storage or DEFAULT_STORAGE)],
        },
    }


def pod(db: MyDatabase) -> Manifest:
    """Build the pod's spec; it passes the restricted profile. The password's Secret is made by the database's user."""
    secret = f"{db.metadata.name}-credentials"
    probe = {"exec": {"command": ["pg_isready", "--username=postgres"]}}
    return {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, **POSTGRES_USER},
        "containers": [
            {
                "name": CONTAINER,
                "image": image(db),
                "ports": [{"name": "postgres", "containerPort": PORT}],
                "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
                "env": [
                    {"name": "POSTGRES_PASSWORD", "valueFrom": {"secretKeyRef": {"name": secret, "key": "password"}}},
                    {"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"},
                ],
                "readinessProbe": {**probe, "periodSeconds": 5},
                "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 6},
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": CLAIM, "mountPath": "/var/lib/postgresql/data"}],
            }
        ],
    }


def image(db: MyDatabase) -> str:
    """Name the container image of the version asked for."""
    return f"postgres:{db.spec.version}"


def claim(storage: str) -> Manifest:
    """Build the template of each pod's volume claim."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}},
    }


# --- status: what was observed ---


def observed(child: Manifest, field: str) -> int:
    """Read a number from the StatefulSet's status; 0 where it is not there yet."""
    return int(child.get("status", {}).get(field) or 0)


def claimed_storage(child: Manifest) -> str:
    """Read the size of the volumes that the StatefulSet claims."""
    template = child["spec"]["volumeClaimTemplates"][0]
    return str(template["spec"]["resources"]["requests"]["storage"])


def changes(db: MyDatabase, current: Manifest | None) -> list[tuple[str, str]]:
    """List what the next apply changes, as reasons and messages of events."""
    if current is None:
        return [("Created", f"StatefulSet {db.metadata.name} with {db.spec.replicas} pods")]
    found = []
    running = current["spec"]["template"]["spec"]["containers"][0]["image"]
    if running != image(db):
        found.append(("VersionChanged", f"From {running} to {image(db)}, pod by pod"))
    if current["spec"]["replicas"] != db.spec.replicas:
        found.append(("Scaled", f"From {current['spec']['replicas']} to {db.spec.replicas} pods"))
    return found


def rolled_out(child: Manifest) -> bool:
    """Tell whether all pods are of the newest revision, by a status that is about the newest spec."""
    status = child.get("status", {})
    seen = observed(child, "observedGeneration") >= child["metadata"]["generation"]
    return bool(seen and status.get("updateRevision") == status.get("currentRevision"))


def trouble(pods: list[Manifest]) -> dict[str, str]:
    """Say why the first of the pods that can't start doesn't, with the kubelet's reason; empty where all can."""
    for found in sorted(pods, key=lambda pod: str(pod["metadata"]["name"])):
        for container in found.get("status", {}).get("containerStatuses", []):
            waiting = container.get("state", {}).get("waiting", {})
            if (reason := waiting.get("reason", STARTING[0])) not in STARTING:
                return {"reason": reason, "message": f"pod {found['metadata']['name']}: {waiting.get('message', '')}"}
    return {}


def report(db: MyDatabase, child: Manifest, pods: list[Manifest]) -> None:
    """Set the status from the StatefulSet and its pods: Ready once every pod serves what the spec asks for."""
    db.status.replicas = observed(child, "replicas")
    db.status.ready_replicas = observed(child, "readyReplicas")
    db.status.updated_replicas = observed(child, "updatedReplicas")
    db.status.selector = ",".join(f"{key}={value}" for key, value in labels(db).items())
    wanted, rolling = db.spec.replicas, not rolled_out(child)
    progress = f"{db.status.ready_replicas} of {wanted} pods ready"
    if db.status.ready_replicas == db.status.replicas == wanted and not rolling:
        conditions.set(db, "Ready", "True", reason="AllPodsReady", message=progress)
        return
    reason = "RollingOut" if rolling else "WaitingForPods"
    progress += f", {db.status.updated_replicas} of the newest revision" if rolling else ""
    conditions.set(db, "Reconciling", "True", reason=reason, message=progress)
    conditions.set(db, "Ready", "False", **{"reason": reason, "message": progress, **trouble(pods)})
