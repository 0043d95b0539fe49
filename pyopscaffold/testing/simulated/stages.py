"""What kwok, a simulated kubelet, is told to do with nodes, pods and volumes: its Stage objects.

One jq program for each kind names the next thing that happens to an object, so that no two stages can match at once;
a stage is that name, a delay, and what changes. Format: https://kwok.sigs.k8s.io/docs/user/stages-configuration/

The Go templates run on the object, written as JSON.
"""

from __future__ import annotations

import json
from typing import Any

PROVISIONER = "simulated/volumes"
"""The provisioner of StorageClasses whose claims get a volume that nobody could mount."""

VANISHED = "simulated/vanished"
"""Label of a node that sends no heartbeats: kwok looks after those without it."""

Json = dict[str, Any]

_POD_NEXT = r"""
(.metadata.annotations // {}) as $wish |
(.status.phase // "Pending") as $phase |
([.status.containerStatuses[]?.restartCount // 0] | max // 0) as $restarts |
([.status.containerStatuses[]?.state.waiting.reason] | any(. == "CrashLoopBackOff")) as $down |
([.status.conditions[]? | select(.type == "Ready") | .status] | first) as $ready |
($wish["simulated/crash-loop"] == "true"
  or any(.spec.containers[].image; test("(^|/)crash-loop/"))) as $crashing |
if .metadata.deletionTimestamp then "pod-delete"
elif $phase == "Succeeded" or $phase == "Failed" then "rest"
elif $crashing then (if $restarts == 0 or ($down | not) then "pod-crash" else "pod-crash-again" end)
elif $wish["simulated/ready"] == "false" then
  (if $phase == "Running" and $ready == "False" and ($down | not) then "rest" else "pod-run-unready" end)
elif $phase == "Pending" or $ready != "True" then "pod-run"
elif any(.metadata.ownerReferences[]?; .kind == "Job") then
  (if ($wish["simulated/exit-code"] // "0") == "0" then "pod-complete" else "pod-fail" end)
else "rest" end
"""

_NODE_NEXT = r"""
if any(.status.conditions[]?; .type == "Ready" and .status == "True") then "rest" else "node-ready" end
"""

_CLAIM_NEXT = rf"""
if .metadata.deletionTimestamp or .spec.volumeName then "rest"
elif .metadata.annotations["volume.kubernetes.io/storage-provisioner"] == "{PROVISIONER}" then "volume-create"
else "rest" end
"""

_VOLUME_NEXT = rf"""
if .metadata.deletionTimestamp then "rest"
elif .metadata.annotations["pv.kubernetes.io/provisioned-by"] == "{PROVISIONER}"
  and .spec.persistentVolumeReclaimPolicy == "Delete" and .status.phase == "Released" then "volume-delete"
else "rest" end
"""

_NODE_READY = r"""
conditions:
{{ range NodeConditions }}
- type: {{ .type }}
  status: {{ .status | Quote }}
  reason: {{ .reason }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
{{ end }}
"""

# A container that was up before keeps the count of its restarts.
_POD_BASE = r"""
{{ $now := Now }}
{{ $pod := . }}
{{ $annotations := or .metadata.annotations dict }}
{{ $restarts := dict }}
{{ range .status.containerStatuses }}{{ $_ := set $restarts .name .restartCount }}{{ end }}
startTime: {{ or .status.startTime $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
{{ $address := PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ or .status.podIP $address | Quote }}
podIPs:
- ip: {{ or .status.podIP $address | Quote }}
"""

_POD_INITIALIZED = r"""
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name }}
  image: {{ .image | Quote }}
  imageID: simulated
  restartCount: 0
  ready: true
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
"""


def _conditions(*, ready: bool, reason: str = "") -> str:
    """Write the pod's conditions; readiness gates count as open."""
    state = "True" if ready else "False"
    ended = f', reason: {reason}, message: "containers with unready status"' if reason else ""
    stamp = "lastTransitionTime: {{ $now | Quote }}"
    lines = [
        "conditions:",
        f'- {{type: PodReadyToStartContainers, status: "True", {stamp}}}',
        f'- {{type: Initialized, status: "True", {stamp}}}',
        f'- {{type: ContainersReady, status: "{state}", {stamp}{ended}}}',
        f'- {{type: Ready, status: "{state}", {stamp}{ended}}}',
        "{{ range .spec.readinessGates }}",
        f'- {{type: {{{{ .conditionType | Quote }}}}, status: "True", {stamp}}}',
        "{{ end }}",
    ]
    return "\n".join(lines) + "\n"


def _container(state: str, *, ready: bool, restarts: str = "{{ $count }}", last: str = "{}") -> str:
    """Write the status of the container at hand."""
    return (
        "- name: {{ .name }}\n"
        "  image: {{ .image | Quote }}\n"
        "  imageID: simulated\n"
        f"  ready: {json.dumps(ready)}\n"
        f"  started: {json.dumps('running' in state)}\n"
        f"  restartCount: {restarts}\n"
        f"  state: {state}\n"
        f"  lastState: {last}\n"
    )


def _containers(each: str) -> str:
    """Write the statuses of all containers, each by the same template."""
    count = "{{ $count := or (get $restarts .name) 0 }}\n"
    return f"containerStatuses:\n{{{{ range .spec.containers }}}}\n{count}{each}{{{{ end }}}}\n"


def _ended(code: str, reason: str) -> str:
    times = "startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}"
    return f"{{terminated: {{exitCode: {code}, reason: {reason}, {times}}}}}"


_RUNNING = "{running: {startedAt: {{ $now | Quote }}}}"
_BACKING_OFF = '{waiting: {reason: CrashLoopBackOff, message: "back-off restarting failed container"}}'
_CODE = '{{ index $annotations "simulated/exit-code" }}'

_UP = _container(_RUNNING, ready=True)
_DOWN = _container(_BACKING_OFF, ready=False, restarts="{{ add $count 1 }}", last=_ended("1", "Error"))
_IS_DOWN = r'or (eq (or (index $annotations "simulated/crash-loop") "") "true") (regexMatch "(^|/)crash-loop/" .image)'

_RUN = _POD_BASE + "phase: Running\n" + _conditions(ready=True) + _POD_INITIALIZED + _containers(_UP)
_RUN_UNREADY = (
    _POD_BASE
    + "phase: Running\n"
    + _conditions(ready=False, reason="ContainersNotReady")
    + _POD_INITIALIZED
    + _containers(_container(_RUNNING, ready=False))
)
_CRASH = (
    _POD_BASE
    + "phase: Running\n"
    + _conditions(ready=False, reason="ContainersNotReady")
    + _POD_INITIALIZED
    + _containers(f"{{{{ if {_IS_DOWN} }}}}\n{_DOWN}{{{{ else }}}}\n{_UP}{{{{ end }}}}\n")
)
_COMPLETE = (
    _POD_BASE
    + "phase: Succeeded\n"
    + _conditions(ready=False, reason="PodCompleted")
    + _containers(_container(_ended("0", "Completed"), ready=False))
)
_FAIL = (
    _POD_BASE
    + "phase: Failed\n"
    + _conditions(ready=False, reason="PodFailed")
    + _containers(_container(_ended(_CODE, "Error"), ready=False))
)

_VOLUME = rf"""
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pvc-{{{{ .metadata.uid }}}}
  annotations:
    pv.kubernetes.io/provisioned-by: {PROVISIONER}
spec:
  accessModes: {{{{ .spec.accessModes | toJson }}}}
  capacity: {{{{ .spec.resources.requests | toJson }}}}
  persistentVolumeReclaimPolicy: Delete
  storageClassName: {{{{ .spec.storageClassName | Quote }}}}
  volumeMode: {{{{ or .spec.volumeMode "Filesystem" }}}}
  nfs:
    server: simulated
    path: /pvc-{{{{ .metadata.uid }}}}
  claimRef:
    apiVersion: v1
    kind: PersistentVolumeClaim
    namespace: {{{{ .metadata.namespace }}}}
    name: {{{{ .metadata.name | Quote }}}}
    uid: {{{{ .metadata.uid }}}}
"""


def configuration(*, back_off_seconds: float) -> str:
    """Give kwok's configuration file: YAML documents, each written as JSON."""
    back_off = {"durationMilliseconds": round(back_off_seconds * 1000)}
    stages = (
        _stage("node-ready", "Node", _NODE_NEXT, _status(_NODE_READY)),
        _stage("pod-run", "Pod", _POD_NEXT, _status(_RUN), delay=_wish("ready-after")),
        _stage("pod-run-unready", "Pod", _POD_NEXT, _status(_RUN_UNREADY)),
        _stage("pod-crash", "Pod", _POD_NEXT, _status(_CRASH), _event("BackOff", "Back-off restarting container")),
        _stage(
            "pod-crash-again",
            "Pod",
            _POD_NEXT,
            _status(_CRASH),
            delay=back_off,
        ),
        _stage("pod-complete", "Pod", _POD_NEXT, _status(_COMPLETE), delay=_wish("runs-for")),
        _stage("pod-fail", "Pod", _POD_NEXT, _status(_FAIL), delay=_wish("runs-for")),
        # kwok deletes by name. What it learns of a deletion late would hit the next pod of that name, and the end of
        # that one the next again; while it waits, it forgets the deletion as soon as the pod is gone.
        _stage("pod-delete", "Pod", _POD_NEXT, {"delete": True}, delay=_wish("stops-after", otherwise=300)),
        _stage("volume-create", "PersistentVolumeClaim", _CLAIM_NEXT, {"apply": {"template": _VOLUME}}),
        _stage("volume-delete", "PersistentVolume", _VOLUME_NEXT, {"delete": True}),
    )
    return "".join(f"---\n{json.dumps(stage)}\n" for stage in stages)


def _stage(name: str, kind: str, program: str, *steps: Json, delay: Json | None = None) -> Json:
    spec: Json = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": [{"key": program, "operator": "In", "values": [name]}]},
        "steps": list(steps),
    }
    if delay is not None:
        spec["delay"] = delay
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _status(template: str) -> Json:
    return {"patch": {"subresource": "status", "root": "status", "template": template}}


def _event(reason: str, message: str) -> Json:
    return {"event": {"type": "Warning", "reason": reason, "message": message}}


def _wish(name: str, *, otherwise: int = 0) -> Json:
    """Delay by what the object's annotation says, such as ``2s``; without it by so many milliseconds."""
    return {
        "durationMilliseconds": otherwise,
        "durationFrom": {"expressionFrom": f'.metadata.annotations["simulated/{name}"]'},
    }
