"""A CRD of somebody else's to import."""

from __future__ import annotations

from typing import Any

import yaml

WIDGETS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.foreign.io
  annotations:
    controller-gen.kubebuilder.io/version: v0.18.0
    foreign.io/channel: standard
spec:
  group: foreign.io
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget, shortNames: [wd]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Phase, type: string, jsonPath: .status.phase}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    selectableFields:
    - jsonPath: .spec.mode
    schema:
      openAPIV3Schema:
        type: object
        description: A widget.
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            description: What is wanted.
            required: [mode]
            properties:
              mode: {type: string, enum: [fast, slow], description: How to run.}
              replicas: {type: integer, format: int32, minimum: 1, default: 2}
              clusterIP: {type: string, pattern: '^\\d+$'}
              size: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              template: &template
                type: object
                required: [image]
                properties:
                  image: {type: string, minLength: 1}
                  ports:
                    type: array
                    x-kubernetes-list-type: map
                    x-kubernetes-list-map-keys: [containerPort]
                    items:
                      type: object
                      required: [containerPort]
                      properties:
                        containerPort: {type: integer, format: int32}
                        name: {type: string}
              fallback: *template
            x-kubernetes-validations:
            - {rule: "has(self.template) || has(self.fallback)", message: one is needed}
          status:
            type: object
            properties:
              observedGeneration: {type: integer, format: int64}
              phase: {type: string, default: New}
              replicas: {type: integer, format: int32}
"""


def crd(**changes: Any) -> str:
    """Give the CRD of Widgets, with changes in its spec."""
    data = yaml.safe_load(WIDGETS)
    data["spec"].update(changes)
    return yaml.safe_dump(data)


def versions(*names: str) -> list[dict[str, Any]]:
    """Give versions with the same schema, of which the last is stored."""
    (version,) = yaml.safe_load(WIDGETS)["spec"]["versions"]
    return [{**version, "name": name, "storage": name == names[-1]} for name in names]
