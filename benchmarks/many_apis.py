"""``generate`` against controller-gen: on the twins of tests/oracle, and on 50 APIs of 60 fields, written for it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cli import CONTROLLER_GEN, ENVIRONMENT, GO_PROJECT, ROOT, TOOL
from benchmarks.paired import Result, paired, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.paired import Timing

TWINS = ROOT / "tests" / "oracle" / "testdata"
APIS = 50
FIELDS = 60

_PROJECT = """\
domain: example.com
layout:
- python.pyopscaffold.dev/v1
plugins:
  python.pyopscaffold.dev/v1:
    image: many
    package: many
projectName: many
version: "3"
"""
_PYTHON = '''\
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pyopscaffold.api import (
    Age,
    Column,
    Conditions,
    Ge,
    Le,
    ListMap,
    ListSet,
    MaxLen,
    MinLen,
    Object,
    Pattern,
    Quantity,
    int32,
    resource,
)


@dataclass(kw_only=True)
class Kind{api}Port:
    """A port of a Kind{api}."""

    name: Annotated[str, MaxLen(63)]
    """Name of the port, unique in the list."""
    number: Annotated[int32, Ge(1), Le(65535)]
    """Number of the port."""


@dataclass(kw_only=True)
class Kind{api}Spec:
    """Desired state of a Kind{api}."""

{fields}

@dataclass(kw_only=True)
class Kind{api}Status:
    """Observed state of a Kind{api}."""

    conditions: Conditions = field(default_factory=list)


@resource(group="example.com", version="v1", columns=[Column("First", path="spec.field0"), Age()])
@dataclass(kw_only=True)
class Kind{api}(Object):
    """One of many kinds, number {api}."""

    spec: Kind{api}Spec
    status: Kind{api}Status | None = None
'''
_GO = """\
package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A port of a Kind{api}.
type Kind{api}Port struct {{
	// Name of the port, unique in the list.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Number of the port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Number int32 `json:"number"`
}}

// Desired state of a Kind{api}.
type Kind{api}Spec struct {{
{fields}}}

// Observed state of a Kind{api}.
type Kind{api}Status struct {{
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=First,type=string,JSONPath=`.spec.field0`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// One of many kinds, number {api}.
type Kind{api} struct {{
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Kind{api}Spec `json:"spec"`
	// +optional
	Status *Kind{api}Status `json:"status,omitempty"`
}}
"""
_FIELDS = (
    (
        "{name}: Annotated[str, MinLen(1), MaxLen(63), Pattern('^[a-z]+$')]",
        ("validation:MinLength=1", "validation:MaxLength=63", "validation:Pattern=`^[a-z]+$`"),
        'string `json:"{json}"`',
    ),
    (
        "{name}: Annotated[int32, Ge(1), Le(10)] = 1",
        ("default=1", "validation:Minimum=1", "validation:Maximum=10"),
        'int32 `json:"{json},omitempty"`',
    ),
    ("{name}: Quantity | None = None", ("validation:Optional",), '*resource.Quantity `json:"{json},omitempty"`'),
    (
        '{name}: Literal["Fast", "Slow"] = "Fast"',
        ('default="Fast"', "validation:Enum=Fast;Slow"),
        'string `json:"{json},omitempty"`',
    ),
    (
        "{name}: Annotated[list[Kind{api}Port], ListMap('name'), MaxLen(16)] = field(default_factory=list)",
        ("validation:Optional", "validation:MaxItems=16", "listType=map", "listMapKey=name"),
        '[]Kind{api}Port `json:"{json},omitempty"`',
    ),
    (
        "{name}: Annotated[list[str], ListSet()] = field(default_factory=list)",
        ("validation:Optional", "listType=set"),
        '[]string `json:"{json},omitempty"`',
    ),
    ("{name}: bool = False", ("default=false",), 'bool `json:"{json},omitempty"`'),
    (
        "{name}: dict[str, str] = field(default_factory=dict)",
        ("validation:Optional",),
        'map[string]string `json:"{json},omitempty"`',
    ),
    ("{name}: Kind{api}Port | None = None", ("validation:Optional",), '*Kind{api}Port `json:"{json},omitempty"`'),
    ("{name}: float", ("validation:Required",), 'resource.Quantity `json:"{json}"`'),
)


def write_python(root: Path) -> Path:
    """Write the project in Python."""
    modules = root / "many" / "api" / "v1"
    modules.mkdir(parents=True)
    (root / "PROJECT").write_text(_PROJECT)
    for folder in (modules, modules.parent, modules.parent.parent):
        (folder / "__init__.py").touch()
    for api in range(APIS):
        (modules / f"kind{api}.py").write_text(_PYTHON.format(api=api, fields="".join(_python_fields(api))))
    return root


def _python_fields(api: int) -> Iterator[str]:
    for number in range(FIELDS):
        text = _FIELDS[number % len(_FIELDS)][0].format(api=api, name=f"field{number}")
        yield f'    {text}\n    """Field {number} of Kind{api}; it says what it is for\n    in two lines.\n    """\n'


def write_go(root: Path) -> Path:
    """Write the project in Go, with the modules of the smaller one."""
    modules = root / "api" / "v1"
    modules.mkdir(parents=True)
    for name in ("go.mod", "go.sum"):
        shutil.copy(GO_PROJECT / name, root / name)
    shutil.copy(GO_PROJECT / "api" / "v1" / "groupversion_info.go", modules)
    for api in range(APIS):
        (modules / f"kind{api}_types.go").write_text(_GO.format(api=api, fields="".join(_go_fields(api))))
    return root


def _go_fields(api: int) -> Iterator[str]:
    for number in range(FIELDS):
        _, markers, type_ = _FIELDS[number % len(_FIELDS)]
        yield f"\t// Field {number} of Kind{api}; it says what it is for\n\t// in two lines.\n"
        for marker in markers:
            yield f"\t// +{marker if marker.startswith('list') else f'kubebuilder:{marker}'}\n"
        yield f"\tField{number} {type_.format(api=api, json=f'field{number}')}\n"


def write_twins(root: Path) -> Path:
    """Write a project of the twins in Python."""
    shutil.copytree(TWINS / "python" / "twins", root / "twins")
    (root / "PROJECT").write_text(_PROJECT.replace("package: many", "package: twins"))
    return root


def measure() -> tuple[Result, ...]:
    """All of this module, both tools warm."""
    with tempfile.TemporaryDirectory() as folder:
        python, go = write_python(Path(folder) / "python"), write_go(Path(folder) / "go")
        what = f"generate, {APIS} APIs of {FIELDS} fields"
        ours, theirs = _both(what, python, go, "./...")
        many = Result(what, "at most 2 s", f"{ours.median:.2f} s", ours.median <= 2, (ours, theirs))
        what = "generate, twins of Go types"
        ours, theirs = _both(what, write_twins(Path(folder) / "twins"), TWINS / "go", "./twins/...")
    ratio = ours.median / theirs.median
    return many, Result(what, "at most 1/3 of controller-gen", f"{ratio:.2f} of it", ratio <= 1 / 3, (ours, theirs))


def _both(what: str, python: Path, go: Path, paths: str) -> tuple[Timing, Timing]:
    with tempfile.TemporaryDirectory() as out:
        outputs = [f"output:{kind}:dir={out}" for kind in ("crd", "rbac", "webhook")]
        generators = ("rbac:roleName=manager-role", "crd:allowDangerousTypes=true", "webhook")
        process(TOOL, "generate", cwd=python, env=ENVIRONMENT)()
        ours, theirs = paired(
            (f"{what}: --check", process(TOOL, "generate", "--check", cwd=python, env=ENVIRONMENT)),
            (f"{what}: controller-gen", process(str(CONTROLLER_GEN), *generators, f"paths={paths}", *outputs, cwd=go)),
            runs=5,
        )
    return ours, theirs


if __name__ == "__main__":
    for result in measure():
        print(result)
