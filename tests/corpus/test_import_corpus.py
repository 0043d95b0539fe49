from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.generate.crd import crd_of
from pyopscaffold.loader import source
from pyopscaffold.scaffold.importer.crd import Imported, modules
from pyopscaffold.scaffold.importer.inputs import in_sources
from pyopscaffold.schema import from_mapping, to_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyopscaffold.document.reader import Source
    from pyopscaffold.scaffold.importer.crd import Note

pytestmark = pytest.mark.xdist_group("corpus")

Json = dict[str, Any]

_NOT_SHIPPED = ("testdata/", "patch.json", "README.md", "templates/", "crd.template.header.yaml")
_TYPE_META = ("apiVersion", "kind", "metadata")
_BY_TOOLS = ("controller-gen.kubebuilder.io/", "helm.sh/")
DOCS = Path(__file__).parents[2] / "docs" / "import.md"


@dataclass(frozen=True)
class Case:
    """A CRD and the modules of its versions."""

    crd: Json
    modules: tuple[Imported, ...]

    @property
    def name(self) -> str:
        """The CRD's name."""
        return str(self.crd["metadata"]["name"])


@pytest.fixture(scope="session")
def cases(corpus: tuple[Source, ...]) -> list[Case]:
    """Give every shipped CRD, each form of it once; all of them are accepted by API servers."""
    found: dict[str, Json] = {}
    for file in {file.text: file for file in corpus if "kind: CustomResourceDefinition" in file.text}.values():
        if not any(part in file.file for part in _NOT_SHIPPED):
            found |= {json.dumps(crd["spec"], sort_keys=True): crd for crd in in_sources([file]).crds}
    assert len(found) > 60
    return [Case(crd, tuple(modules(crd, own=True))) for crd in map(_one_served, found.values())]


def test_every_crd_comes_back(cases: list[Case], tmp_path: Path) -> None:
    """What is generated from the imported classes is the CRD that was read: schema, descriptions, names, columns."""
    wrong = [
        f"{case.name}{path}: {before!r} became {after!r}"
        for number, batch in enumerate(_batches(cases))
        for case, generated in _round_trip(batch, tmp_path, f"batch{number}")
        for path, before, after in _differences(_bare(case.crd), _bare(generated), "")
    ]
    assert wrong == []


def test_what_is_left_out_is_counted(cases: list[Case]) -> None:
    """The docs name every reason for a note, with the number of places where the corpus has it."""
    rows = re.findall(r"^\| `(.+?)` \|.*\| (\d+) \|$", DOCS.read_text(), re.MULTILINE)
    found = Counter(_reason(note) for case in cases for item in case.modules for note in item.notes)
    assert {words: int(count) for words, count in rows if int(count)} == found


def _reason(note: Note) -> str:
    return re.split(r"[:;]", note.message)[0]


def _batches(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """Yield the CRDs so that no kind is twice in a batch, as it can't be in a project."""
    left = list(cases)
    while left:
        batch = {case.name: case for case in reversed(left)}
        yield list(batch.values())
        left = [case for case in left if batch[case.name] is not case]


def _round_trip(batch: Sequence[Case], root: Path, package: str) -> Iterator[tuple[Case, Json]]:
    """Yield each CRD with what is generated for it."""
    for number, case in enumerate(batch):
        for item in case.modules:
            path = root / package / "api" / f"crd{number}" / item.version / "kind.py"
            path.parent.mkdir(parents=True)
            path.write_text(item.text)
    for folder in (root / package, *(path for path in (root / package).rglob("*") if path.is_dir())):
        (folder / "__init__.py").touch()
    kinds = source.read(root, package, python=sys.executable).kinds
    for case in batch:
        yield case, crd_of([kind for kind in kinds if kind.gvk.group_resource == case.name])


def _one_served(crd: Json) -> Json:
    """Let one version be served: several that differ need a conversion, which does not exist yet."""
    versions = [{**version, "served": index == 0} for index, version in enumerate(crd["spec"]["versions"])]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def _bare(crd: Json) -> Json:
    """Return what two CRDs are compared by; schemas in one of the spellings that mean the same."""
    spec = {key: value for key, value in crd["spec"].items() if key not in ("conversion", "preserveUnknownFields")}
    metadata = crd["metadata"]
    annotations, kind = metadata.get("annotations") or {}, spec["names"]["kind"]
    return {
        **spec,
        "name": metadata["name"],
        "labels": metadata.get("labels") or {},
        "annotations": {key: annotations[key] for key in annotations if not key.startswith(_BY_TOOLS)},
        "names": {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]},
        "versions": {version["name"]: _version(version) for version in spec["versions"]},
    }


def _version(version: Json) -> Json:
    schema = to_mapping(from_mapping(version["schema"]["openAPIV3Schema"]))
    # Every object has these, whatever a CRD says of them.
    schema["properties"] = {name: item for name, item in schema.get("properties", {}).items() if name not in _TYPE_META}
    schema["required"] = [name for name in schema.get("required", ()) if name not in _TYPE_META]
    columns = [{"priority": 0, **column} for column in version.get("additionalPrinterColumns", ())]
    return {
        "deprecated": False,
        "subresources": {},
        **version,
        "schema": _in_order(schema),
        "additionalPrinterColumns": columns,
    }


def _in_order(value: Any) -> Any:
    """Return a schema with its lists of names sorted, which are sets."""
    if isinstance(value, dict):
        return {
            key: sorted(item) if key == "required" and isinstance(item, list) else _in_order(item)
            for key, item in value.items()
        }
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _differences(before.get(key), after.get(key), f"{path}.{key}")
    elif before != after or type(before) is not type(after):
        yield path, before, after
