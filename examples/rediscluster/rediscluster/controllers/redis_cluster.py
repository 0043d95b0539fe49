"""Reconciles RedisCluster: a Deployment of caches, a Service in front of them, and a Secret with their password.

Three pieces: the entry (RedisClusterReconciler), the desired state (pure functions from the object to its children)
and the status (what was observed, as conditions).
"""

from __future__ import annotations

from secrets import token_urlsafe
from typing import Any

from pyopscaffold.api import controller, rbac
from pyopscaffold.errors import AlreadyExists
from pyopscaffold.kube.builtin import DEPLOYMENT, SERVICE
from pyopscaffold.runtime import Context, Reconciler, Result, conditions

from rediscluster.api.v1alpha1.redis_cluster import RedisCluster

PORT = 6379
PASSWORD = "password"
"""Key of the Secret."""

Manifest = dict[str, Any]


# --- entry: bring the children in line, report ---


# The operator may make Secrets and can read none, its own included: that is all that a password that stays takes.
@rbac(groups=[""], resources=["secrets"], verbs=["create"])
@controller(RedisCluster, owns=[DEPLOYMENT, SERVICE], timeout=5.0)
class RedisClusterReconciler(Reconciler[RedisCluster]):
    """Brings the children of a RedisCluster in line with its spec."""

    async def reconcile(self, ctx: Context, cluster: RedisCluster) -> Result:
        """Have a password, apply the children, and report what is observed."""
        await ensure_password(ctx, cluster)
        await ctx.apply(service(cluster))
        applied = await ctx.apply(deployment(cluster))
        was_ready = is_ready(cluster)
        report(cluster, applied)
        if is_ready(cluster) != was_ready:
            ctx.log.info("ready" if is_ready(cluster) else "not ready", extra={"replicas": cluster.status.replicas})
        # Secrets are not watched: while pods may be waiting for one, look again.
        return Result(requeue_after=None if is_ready(cluster) else 15)


async def ensure_password(ctx: Context, cluster: RedisCluster) -> None:
    """Make the Secret where there is none yet; one that is there stays as it is, whoever made it."""
    try:
        await ctx.client.create(secret(cluster, token_urlsafe(24)), field_manager="rediscluster")
    except AlreadyExists:
        return
    ctx.event("Normal", "PasswordGenerated", f"Secret {secret_name(cluster)} holds the password")
    ctx.log.info("password generated", extra={"secret": secret_name(cluster)})


# --- desired state: pure functions from the object to its children ---


def labels(cluster: RedisCluster) -> dict[str, str]:
    """Labels that all children and pods carry, and that select the pods."""
    return {"app.kubernetes.io/name": "rediscluster", "app.kubernetes.io/instance": cluster.metadata.name}


def secret_name(cluster: RedisCluster) -> str:
    """Name the Secret with the password."""
    return f"{cluster.metadata.name}-redis"


def secret(cluster: RedisCluster, password: str) -> Manifest:
    """Build the Secret; it goes with the cluster, and nobody can change it."""
    owner = {
        "apiVersion": cluster.api_version,
        "kind": cluster.kind,
        "name": cluster.metadata.name,
        "uid": cluster.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": secret_name(cluster),
            "namespace": cluster.metadata.namespace,
            "labels": labels(cluster),
            "ownerReferences": [owner],
        },
        "immutable": True,
        "stringData": {PASSWORD: password},
    }


def service(cluster: RedisCluster) -> Manifest:
    """Build the Service in front of the caches."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": cluster.metadata.name, "labels": labels(cluster)},
        "spec": {
            "selector": labels(cluster),
            "ports": [{"name": "redis", "port": PORT, "targetPort": "redis"}],
        },
    }


def deployment(cluster: RedisCluster) -> Manifest:
    """Build the Deployment: caches that are replaced one by one, a new one first."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": cluster.metadata.name, "labels": labels(cluster)},
        "spec": {
            "replicas": cluster.spec.replicas,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "selector": {"matchLabels": labels(cluster)},
            "template": {"metadata": {"labels": labels(cluster)}, "spec": pod(cluster)},
        },
    }


def pod(cluster: RedisCluster) -> Manifest:
    """Build the pod's spec; it passes the restricted profile, and keeps nothing on disk."""
    password = {"secretKeyRef": {"name": secret_name(cluster), "key": PASSWORD}}
    probe = {"exec": {"command": ["redis-cli", "ping"]}}
    return {
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 999, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "redis",
                "image": f"redis:{cluster.spec.version}",
                "command": ["redis-server", "--save", "", "--requirepass", "$(REDISCLI_AUTH)"],
                "env": [{"name": "REDISCLI_AUTH", "valueFrom": password}],
                "ports": [{"name": "redis", "containerPort": PORT}],
                "readinessProbe": {**probe, "periodSeconds": 5},
                "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 6},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
            }
        ],
    }


# --- status: what was observed ---


def is_ready(cluster: RedisCluster) -> bool:
    """Tell whether the status says that all caches serve."""
    found = conditions.get(cluster, "Ready")
    return found is not None and found.status == "True"


def report(cluster: RedisCluster, child: Manifest) -> None:
    """Set the status from the Deployment: Ready once every pod serves the version asked for."""
    observed = child.get("status", {})
    cluster.status.replicas = observed.get("replicas", 0)
    cluster.status.ready_replicas = observed.get("readyReplicas", 0)
    cluster.status.selector = ",".join(f"{key}={value}" for key, value in labels(cluster).items())
    cluster.status.secret = secret_name(cluster)
    wanted = cluster.spec.replicas
    seen = observed.get("observedGeneration", 0) >= child["metadata"]["generation"]
    counts = [observed.get(count, 0) for count in ("replicas", "readyReplicas", "updatedReplicas")]
    progress = f"{cluster.status.ready_replicas} of {wanted} pods ready"
    if seen and counts == [wanted] * 3:
        conditions.set(cluster, "Ready", "True", reason="AllPodsReady", message=progress)
        return
    conditions.set(cluster, "Ready", "False", reason="RollingOut", message=progress)
    conditions.set(cluster, "Reconciling", "True", reason="RollingOut", message=progress)
