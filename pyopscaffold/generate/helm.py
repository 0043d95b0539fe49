"""The parts of the Helm chart that follow from the model: CRDs and roles, as templates in ``charts/<name>``.

Everything else of the chart is the user's, scaffolded once; its values and helpers are what these templates call.
A chart that is not there, because the user has deleted it, is not made again.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import GENERATED
from pyopscaffold.generate.crd import crd_of, kinds_by_versions
from pyopscaffold.generate.manifest import dump
from pyopscaffold.generate.rbac import kind_roles, manager_rules, named_rules, namespace_rules, normalise, shard_rules
from pyopscaffold.kube.builtin import EVENT, NAMESPACE, NODE, PERSISTENT_VOLUME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyopscaffold.generate.rbac import KindRole, PolicyRule
    from pyopscaffold.model.kinds import KindModel, ProjectModel
    from pyopscaffold.model.project import Project

_HEADER = f"{{{{- /* {GENERATED} */ -}}}}\n"

_CRD = """\
{{- if .Values.crds.enabled }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: <name>
  labels:
    {{- include "<chart>.labels" . | nindent 4 }}
  {{- $annotations := dict<annotations> }}
  {{- if .Values.crds.keep }}
  {{- $_ := set $annotations "helm.sh/resource-policy" "keep" }}
  {{- end }}
  {{- with merge $annotations .Values.crds.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
<spec>{{- end }}
"""

_DEFINE = """\
{{- define "<chart>.<name>" -}}
<rules>{{- end }}

"""

_SHARDED = """\
{{- if (($.Values.sharding).enabled) }}
<rules>{{- end }}
"""

_MANAGER = """\
{{- if .Values.rbac.create }}
{{- $namespaces := include "<chart>.watchNamespace" . }}
{{- if $namespaces }}
{{- range splitList "," $namespaces }}
<local>{{- end }}
<cluster>{{- else }}
<everywhere>{{- end }}
<fixed>{{- end }}
"""

_ROLE = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: <scope>Role
metadata:
  name: {{ <name> | quote }}<namespace>
  labels:
    {{- include "<chart>.labels" $ | nindent 4 }}
<rules>"""

_BINDING = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: <scope>RoleBinding
metadata:
  name: {{ <name> | quote }}<namespace>
  labels:
    {{- include "<chart>.labels" $ | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: <scope>Role
  name: {{ <name> | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "<chart>.serviceAccountName" $ | quote }}
    namespace: {{ $.Release.Namespace | quote }}
"""

_KIND_ROLE = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "<chart>.fullname" . }}-<name>
  labels:
    {{- include "<chart>.labels" . | nindent 4 }}
    {{- if .Values.rbac.kindRoles.aggregate }}
    rbac.authorization.k8s.io/aggregate-to-<aggregate>: "true"
    {{- end }}
<rules>"""


def artefacts(model: ProjectModel, project: Project, present: Mapping[str, str]) -> tuple[Artefact, ...]:
    """Return the chart's templates for ``model``; none where ``present`` (path → text) has no ``Chart.yaml``."""
    folder = f"charts/{project.name}"
    if f"{folder}/Chart.yaml" not in present:
        return ()
    texts = {"rbac/role.yaml": _manager(model, project)}
    for versions in kinds_by_versions(model):
        file = f"{versions[0].gvk.group}_{versions[0].gvk.plural}.yaml"
        texts[f"crds/{file}"] = _crd(versions, project)
        texts[f"rbac/{file}"] = _users(versions[0], project)
    return tuple(
        Artefact(f"{folder}/templates/{name}", _HEADER + text, owner=Owner.TOOL) for name, text in sorted(texts.items())
    )


def escape(text: str) -> str:
    """Make text come out of Helm's template engine as it went in.

    Outside of an action only ``{{`` means something to the engine. Closing braces must stay as they are: escaped, they
    would turn the harmless ``{}}`` into ``{{{ "}}" }}``, which opens an action one character too early.
    """
    return text.replace("{{", '{{ "{{" }}')


def _crd(versions: Sequence[KindModel], project: Project) -> str:
    manifest = crd_of(versions, project.max_description)
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations", {})
    quoted = (json.dumps(text, ensure_ascii=False) for item in sorted(annotations.items()) for text in item)
    return _fill(
        _CRD,
        chart=project.name,
        name=manifest["metadata"]["name"],
        annotations="".join(f" {text}" for text in quoted),
        spec=_body(spec=manifest["spec"]),
    )


def _manager(model: ProjectModel, project: Project) -> str:
    """Give the operator's own role: a ClusterRole, or a Role in every namespace that the values say to watch."""
    chart, rules = project.name, manager_rules(model)
    cluster, local = _by_scope(rules, model)
    sharded = shard_rules(model)
    sharded_cluster, sharded_local = _by_scope(sharded, model)
    blocks = {"rules": _rules(rules) + _sharded(sharded)}
    if cluster:
        blocks["localRules"] = _rules(local) + _sharded(sharded_local)
    defined = (_fill(_DEFINE, chart=chart, name=name, rules=block) for name, block in blocks.items())
    fixed = [
        _bound_role(chart, suffix=f"-{namespace}", namespace=f'"{namespace}"', rules=_rules(granted))
        for namespace, granted in namespace_rules(model).items()
    ]
    fixed += [
        _role(_ROLE, chart, suffix=f"-{name}", namespace=_own_or(namespace, project), rules=_rules(granted))
        for (namespace, name), granted in named_rules(model).items()
    ]
    return "".join(defined) + _fill(
        _MANAGER,
        chart=chart,
        local=_bound_role(chart, namespace="{{ . | quote }}", rules=_include(chart, [*blocks][-1])),
        cluster=_bound_role(chart, rules=_rules(cluster) + _sharded(sharded_cluster)) if cluster else "",
        everywhere=_bound_role(chart, rules=_include(chart, "rules")),
        fixed="".join(fixed),
    )


def _by_scope(
    rules: Iterable[PolicyRule], model: ProjectModel
) -> tuple[tuple[PolicyRule, ...], tuple[PolicyRule, ...]]:
    """Tell the rules that no Role can grant, because what they are about is in no namespace, from the others."""
    kinds = {gvk for item in model.controllers for gvk in (item.resource, *item.owns, *item.watches)}
    kinds |= {NAMESPACE, NODE, PERSISTENT_VOLUME}  # of others @rbac does not tell
    unbound = {(gvk.group, gvk.plural) for gvk in kinds if not gvk.namespaced}
    if any(not item.resource.namespaced for item in model.controllers):
        unbound.add((EVENT.group, EVENT.plural))  # events about cluster-scoped objects go to the default namespace
    cluster: list[PolicyRule] = []
    local: list[PolicyRule] = []
    for rule in rules:
        if rule.urls:
            cluster.append(rule)
        for group in rule.groups:
            for resource in rule.resources:
                side = cluster if (group, resource.partition("/")[0]) in unbound else local
                side.append(replace(rule, groups=(group,), resources=(resource,), urls=()))
    return normalise(cluster), normalise(local)


def _users(kind: KindModel, project: Project) -> str:
    def role(found: KindRole) -> str:
        rules = _rules(found.rules)
        return _fill(_KIND_ROLE, chart=project.name, name=found.name, aggregate=found.aggregate_to, rules=rules)

    roles = "".join(map(role, kind_roles(kind, project)))
    return f"{{{{- if and .Values.rbac.create .Values.rbac.kindRoles.create }}}}\n{roles}{{{{- end }}}}\n"


def _bound_role(chart: str, *, suffix: str = "", namespace: str = "", rules: str) -> str:
    """Give a Role, or without a namespace a ClusterRole, and what binds it to the operator."""
    return _role(_ROLE + _BINDING, chart, suffix=suffix, namespace=namespace, rules=rules)


def _role(template: str, chart: str, *, suffix: str, namespace: str, rules: str) -> str:
    return _fill(
        template,
        chart=chart,
        scope="" if namespace else "Cluster",
        name=f'print (include "{chart}.fullname" $) "{suffix}"' if suffix else f'include "{chart}.fullname" $',
        namespace=f"\n  namespace: {namespace}" if namespace else "",
        rules=rules,
    )


def _own_or(namespace: str, project: Project) -> str:
    own = "{{ $.Release.Namespace | quote }}" if project.namespaced else ""
    return f'"{namespace}"' if namespace else own


def _include(chart: str, name: str) -> str:
    return f'{{{{ include "{chart}.{name}" $ }}}}\n'


def _rules(rules: Iterable[PolicyRule]) -> str:
    return _body(rules=[rule.to_mapping() for rule in rules])


def _sharded(rules: Iterable[PolicyRule]) -> str:
    """Give further items of a list of rules, for when the values turn sharding on."""
    items = _body(rules=[rule.to_mapping() for rule in rules]).partition("\n")[2] if rules else ""
    return _fill(_SHARDED, rules=items) if items else ""


def _body(**manifest: Any) -> str:
    return escape(dump(manifest))


def _fill(template: str, **values: str) -> str:
    """Put values in the place of ``<name>``, once: what is put in is not searched again."""
    return re.sub(r"<(\w+)>", lambda match: values[match[1]], template)
