"""Makes complete CRDs of the few lines that a rule's example is about."""

from __future__ import annotations

from textwrap import dedent, indent

_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names:
    kind: Widget
    plural: widgets
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
{extra}    schema:
      openAPIV3Schema:
        description: A widget.
        type: object
        properties:
"""


def crd(properties: str, *, extra: str = "subresources: {status: {}}") -> str:
    """Put ``properties``, the YAML of the root's properties, into a CRD; ``extra`` are further lines of the version."""
    lines = indent(dedent(extra).strip() + "\n", " " * 4) if extra else ""
    return _CRD.format(extra=lines) + indent(dedent(properties).strip() + "\n", " " * 10)


def spec(properties: str) -> str:
    """Put ``properties``, the YAML of the spec's properties, into a CRD."""
    return crd(
        "spec:\n  description: Desired state.\n  type: object\n  properties:\n"
        + indent(dedent(properties).strip() + "\n", " " * 4)
    )


def status(properties: str) -> str:
    """Put ``properties``, the YAML of the status's properties, into a CRD."""
    return crd(
        "status:\n  description: Observed state.\n  type: object\n  properties:\n"
        + indent(dedent(properties).strip() + "\n", " " * 4)
    )
