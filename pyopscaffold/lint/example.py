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


def role(*rules: str) -> str:
    """Write a ClusterRole with these rules."""
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: manager}\nrules:\n"
    return head + "".join(f"- {rule}\n" for rule in rules)


_WIDGET = '''\
@dataclass(kw_only=True)
class WidgetSpec:
    """Desired state of a widget."""

{spec}

{status}@resource({arguments})
@dataclass(kw_only=True)
class Widget(Object):
    """A widget."""

    spec: WidgetSpec
{field}'''
_WIDGET_STATUS = '''\
@dataclass(kw_only=True)
class WidgetStatus:
    """Observed state of a widget."""

{fields}

'''
_STATUS = '''\
observed_generation: int64 | None = None
"""Generation of the spec that this status is about."""

conditions: Conditions = field(default_factory=list)
"""Ready."""
'''


def widget(spec: str = "", status: str = _STATUS, *, before: str = "", options: str = "") -> str:
    """Write a module with a ``Widget``: the fields of its spec and status, what stands before, options of @resource.

    Without fields of the status there is none.
    """
    made = _WIDGET.format(
        spec=_fields(spec or 'size: int32 = 0\n"""Number of parts."""\n'),
        status=_WIDGET_STATUS.format(fields=_fields(status)) if status else "",
        field="    status: WidgetStatus = field(default_factory=WidgetStatus)\n" if status else "",
        arguments=", ".join(filter(None, ('group="example.com"', 'version="v1"', options))),
    )
    return f"{dedent(before).strip()}\n\n\n{made}" if before else made


def struct(name: str, *fields: str) -> str:
    """Write a dataclass for ``before``."""
    lines = "".join(f'\n    {field}\n    """One."""\n' for field in fields)
    return f'@dataclass(kw_only=True)\nclass {name}:\n    """A {name.lower()}."""\n{lines}'


def _fields(text: str) -> str:
    return indent(dedent(text).strip() + "\n", " " * 4)


def change(old: str, new: str) -> str:
    """Put two states of a CRD into one text, the earlier one first."""
    return f"# before\n{old}---\n# now\n{new}"


def without_frame(text: str) -> str:
    """Leave out of an example what all CRDs here share, so that what it is about stands alone."""
    frame = crd("")[:-1]
    first, *rest = text.split(frame)
    return first + "".join(f"# in openAPIV3Schema.properties of a CRD\n{_outdented(part)}" for part in rest)


def _outdented(part: str) -> str:
    lines = part.splitlines(keepends=True)
    return "".join(line.removeprefix(" " * 10) for line in lines)
