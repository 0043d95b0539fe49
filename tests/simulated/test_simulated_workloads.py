"""The built-in kinds run on a simulated cluster as on a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import eventually
from tests.cluster.envtest_helpers import WIDGET_CRD, WIDGETS, config_map, exists, owned_by
from tests.simulated.workloads import condition, deployment, job, pod, stateful_set

if TYPE_CHECKING:
    from tests.simulated.workloads import Namespace


def test_a_stateful_set_runs_and_goes(here: Namespace) -> None:
    """A StatefulSet of three is ready within seconds; after its deletion its pods go too."""
    here.client.apply(here.path("statefulsets", "app"), stateful_set(3))
    eventually(lambda: here.ready("statefulsets") == 3)
    assert sorted(one["metadata"]["name"] for one in here.items("pods")) == ["app-0", "app-1", "app-2"]
    here.client.delete(here.path("statefulsets", "app"))
    eventually(lambda: not here.items("pods"))


def test_a_new_template_rolls_out_by_revisions(here: Namespace) -> None:
    """A changed template replaces the pods of a StatefulSet, until both revisions are the new one."""
    path = here.path("statefulsets", "app")
    here.client.apply(path, stateful_set(2))
    eventually(lambda: here.ready("statefulsets") == 2)
    before = here.status("statefulsets", "app")["currentRevision"]
    here.client.apply(path, stateful_set(2, pod(image="example.com/app:2")))

    def rolled_out() -> bool:
        status = here.status("statefulsets", "app")
        revisions = {status["currentRevision"], status["updateRevision"]}
        return len(revisions) == 1 and before not in revisions and here.ready("statefulsets") == 2

    eventually(rolled_out)
    assert {one["spec"]["containers"][0]["image"] for one in here.items("pods")} == {"example.com/app:2"}


def test_a_deployment_becomes_available(here: Namespace) -> None:
    """A Deployment's pods get addresses, nodes and a ServiceAccount, and it says that it is available."""
    here.client.apply(here.path("deployments", "app"), deployment(3))
    eventually(lambda: condition(here.status("deployments", "app"), "Available") == "True")
    eventually(lambda: here.ready("deployments") == 3)
    pods = here.items("pods")
    assert len({one["status"]["podIP"] for one in pods}) == 3
    assert all(one["spec"]["nodeName"].startswith("node-") for one in pods)
    assert {one["spec"]["serviceAccountName"] for one in pods} == {"default"}


@pytest.mark.parametrize(("code", "end"), [("0", "Complete"), ("3", "Failed")])
def test_a_job_ends(here: Namespace, code: str, end: str) -> None:
    """A Job's pod runs and ends, with the exit code that its annotation asks for."""
    template = pod(annotations={"simulated/exit-code": code}, restartPolicy="Never")
    here.client.apply(here.path("jobs", "app"), job(template, backoffLimit=0))
    eventually(lambda: condition(here.status("jobs", "app"), end) == "True")
    (ended,) = here.items("pods")
    assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == int(code)


def test_claims_are_bound_and_their_volumes_go(here: Namespace) -> None:
    """Each pod of a StatefulSet gets a volume of the wanted size, which outlives the pod and goes with its claim."""
    here.client.apply(here.path("statefulsets", "app"), stateful_set(2, storage="1Gi"))
    eventually(lambda: here.ready("statefulsets") == 2)
    claims = here.items("persistentvolumeclaims")
    assert [(one["status"]["phase"], one["status"]["capacity"]) for one in claims] == [
        ("Bound", {"storage": "1Gi"})
    ] * 2
    volumes = [f"/api/v1/persistentvolumes/{one['spec']['volumeName']}" for one in claims]
    here.client.delete(here.path("statefulsets", "app"))
    eventually(lambda: not here.items("pods"))
    assert len(here.items("persistentvolumeclaims")) == 2
    for claim in claims:
        here.client.delete(here.path("persistentvolumeclaims", claim["metadata"]["name"]))
    eventually(lambda: not any(exists(here.client, volume) for volume in volumes))


def test_children_go_with_their_owner(here: Namespace) -> None:
    """Garbage collection takes the child of a deleted owner, and a foreground deletion takes it first."""
    maps = here.path("configmaps")
    owner = here.client.create(maps, config_map("owner"))
    here.client.create(maps, config_map("child", ownerReferences=owned_by(owner), finalizers=["example.com/hold"]))
    here.client.delete(f"{maps}/owner", policy="Foreground")
    eventually(lambda: "deletionTimestamp" in here.client.get(f"{maps}/child")["metadata"])
    assert exists(here.client, f"{maps}/owner")
    here.client.merge(f"{maps}/child", {"metadata": {"finalizers": None}})
    eventually(lambda: not exists(here.client, f"{maps}/child") and not exists(here.client, f"{maps}/owner"))


def test_children_of_a_new_kind_go_at_once(here: Namespace) -> None:
    """The garbage collector knows an object whose CRD was installed a moment ago, where others take half a minute."""
    here.client.apply(WIDGETS, WIDGET_CRD)
    widgets = f"/apis/envtest.example.com/v1/namespaces/{here.name}/widgets"
    body = {"apiVersion": "envtest.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    owner = eventually(lambda: here.client.create(widgets, body))
    child = here.path("configmaps", "child")
    here.client.apply(child, config_map("child", ownerReferences=owned_by(owner)))
    here.client.delete(f"{widgets}/w")
    eventually(lambda: not exists(here.client, child))


def test_a_deleted_namespace_ends(here: Namespace) -> None:
    """A namespace with running pods is emptied and goes."""
    here.client.create("/api/v1/namespaces", {"metadata": {"name": f"{here.name}-other"}})
    other = type(here)(here.client, f"{here.name}-other")
    eventually(lambda: exists(here.client, other.path("serviceaccounts", "default")))
    # The controller looks again only after half of the pods' grace.
    here.client.apply(other.path("deployments", "app"), deployment(1, pod(terminationGracePeriodSeconds=1)))
    eventually(lambda: other.ready("deployments") == 1)
    here.client.delete(f"/api/v1/namespaces/{other.name}")
    eventually(lambda: not exists(here.client, f"/api/v1/namespaces/{other.name}"))


def crashing(pods: list[dict[str, Any]]) -> bool:
    """Tell whether there are pods, all of which say that they are in a crash loop, and none is ready."""
    return bool(pods) and all(
        one["status"].get("containerStatuses", [{}])[0].get("state", {}).get("waiting", {}).get("reason")
        == "CrashLoopBackOff"
        and condition(one["status"], "Ready") == "False"
        for one in pods
    )


def test_an_image_that_crashes_never_becomes_ready(here: Namespace) -> None:
    """A container of a crash-loop image is restarted over and over, and its owner does not count it."""
    here.client.apply(here.path("deployments", "app"), deployment(2, pod(image="crash-loop/app:1")))
    eventually(lambda: crashing(here.items("pods")) and len(here.items("pods")) == 2)
    assert here.ready("deployments") == 0
    again = here.items("pods")[0]["status"]["containerStatuses"][0]
    assert again["restartCount"] >= 1
    assert again["lastState"]["terminated"]["exitCode"] == 1
    here.client.apply(here.path("deployments", "app"), deployment(2))
    eventually(lambda: here.ready("deployments") == 2)


def test_a_crashing_container_leaves_its_neighbour_alone(here: Namespace) -> None:
    """Of two containers only the one with the crash-loop image crashes; the pod is not ready."""
    template = pod()
    template["spec"]["containers"].append({"name": "beside", "image": "crash-loop/beside:1"})
    here.client.apply(here.path("statefulsets", "app"), stateful_set(1, template))

    def seen() -> list[tuple[str, bool, bool]]:
        statuses = here.status("pods", "app-0")["containerStatuses"]
        return [(one["name"], one["ready"], one["restartCount"] > 0) for one in statuses]

    eventually(lambda: here.status("pods", "app-0").get("containerStatuses"))
    assert seen() == [("main", True, False), ("beside", False, True)]
    assert condition(here.status("pods", "app-0"), "Ready") == "False"


def test_a_running_pod_can_be_made_to_crash_and_to_recover(here: Namespace) -> None:
    """The crash-loop annotation on a running pod takes it down; without it the pod is ready again."""
    here.client.apply(here.path("statefulsets", "app"), stateful_set(1))
    eventually(lambda: here.ready("statefulsets") == 1)
    path = here.path("pods", "app-0")
    here.client.merge(path, {"metadata": {"annotations": {"simulated/crash-loop": "true"}}})
    eventually(lambda: crashing(here.items("pods")))
    eventually(lambda: here.ready("statefulsets") == 0)
    here.client.merge(path, {"metadata": {"annotations": {"simulated/crash-loop": None}}})
    eventually(lambda: here.ready("statefulsets") == 1)
    assert here.client.get(path)["status"]["containerStatuses"][0]["restartCount"] == 1


def test_a_pod_can_run_without_being_ready(here: Namespace) -> None:
    """A pod that is annotated as not ready runs, and is ready once the annotation is gone."""
    template = pod(annotations={"simulated/ready": "false"})
    here.client.apply(here.path("statefulsets", "app"), stateful_set(2, template))
    eventually(lambda: [one["status"]["phase"] for one in here.items("pods")] == ["Running"])
    assert here.ready("statefulsets") == 0
    here.client.merge(here.path("pods", "app-0"), {"metadata": {"annotations": {"simulated/ready": None}}})
    eventually(lambda: here.ready("statefulsets") == 1)


def test_pods_start_and_stop_as_late_as_asked(here: Namespace) -> None:
    """A pod is not ready before the time that its annotation gives, and lingers as long when it is deleted."""
    template = pod(annotations={"simulated/ready-after": "1h", "simulated/stops-after": "1h"})
    here.client.apply(here.path("deployments", "app"), deployment(1, template))
    eventually(lambda: [one for one in here.items("pods") if one["spec"].get("nodeName")])
    (waiting,) = here.items("pods")
    assert waiting["status"]["phase"] == "Pending"
    path = here.path("pods", waiting["metadata"]["name"])
    here.client.merge(path, {"metadata": {"annotations": {"simulated/ready-after": "10ms"}}})
    eventually(lambda: here.ready("deployments") == 1)
    here.client.delete(path)
    eventually(lambda: here.ready("deployments") == 0)
    assert "deletionTimestamp" in here.client.get(path)["metadata"]
    here.client.merge(path, {"metadata": {"annotations": {"simulated/stops-after": "10ms"}}})
    eventually(lambda: not exists(here.client, path))
