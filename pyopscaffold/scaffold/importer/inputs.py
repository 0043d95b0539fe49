"""The CRDs in files, and those of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyopscaffold.document.reader import Document, scan
from pyopscaffold.errors import DocumentError, NotFound, Problem, UsageError
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION
from pyopscaffold.kube.names import is_dns1035_label, is_dns1123_subdomain, is_kind, nearest
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.subject import CRD_API_VERSION, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyopscaffold.document.reader import Source
    from pyopscaffold.runtime.client.config import ClusterConfig

Json: TypeAlias = dict[str, Any]

_RENDER = "render it first, by helm template or kubectl kustomize, and pipe that into pyopscaffold import crd -"


@dataclass
class Found:
    """CRDs by name, in the order of the input, and what was left out of it.

    ``skipped`` are what is no whole CRD, as ``file:line: reason``, ``refused`` those that can't be imported. ``places``
    are files and lines of the CRDs by name; those of a cluster have none.
    """

    by_name: dict[str, Json] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    refused: list[Problem] = field(default_factory=list)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def crds(self) -> list[Json]:
        """The CRDs to import."""
        return [*self.by_name.values()]

    def refuse(self, name: str, message: str) -> None:
        """Leave a CRD out; with its place, where it has one."""
        self.by_name.pop(name, None)
        self.refused.append(Problem(*self.places.get(name, ("", 0)), name, message))


def in_sources(sources: Iterable[Source]) -> Found:
    """Return every CRD in the sources; other manifests are passed over.

    Refused are files that can't be read, CRDs that are no whole ones or of v1beta1, and all of one name that differ.

    Raises:
        DocumentError: there is none that can be imported; ``problems`` says why.

    """
    found, files = Found(), list[str]()
    for source in sources:
        files.append(source.file)
        for manifest in _manifests(source, found):
            line = manifest.document.position(manifest.base).line
            if manifest.is_template or manifest.is_fragment:
                kind = "template" if manifest.is_template else "kustomize patch"
                found.skipped.append(f"{source.file}:{line}: a {kind}")
            elif problem := _problem(manifest):
                found.refused.append(Problem(source.file, line, manifest.name or "CRD", problem))
            else:
                _add(manifest.data, (source.file, line), found)
    check(found, files)
    return found


def check(found: Found, files: Sequence[str] = ()) -> None:
    """Raise DocumentError where nothing is left to import."""
    if found.by_name:
        return
    if found.refused:
        error = DocumentError("\n".join(map(str, found.refused)))
        error.problems = tuple(sorted(found.refused))
        raise error
    raise _none(files, found.skipped)


def _manifests(source: Source, found: Found) -> Iterator[Manifest]:
    for part in scan(source):
        if isinstance(part, Document):
            yield from (item for item in _objects(part) if item.is_crd)
        elif part.template:
            found.skipped.append(f"{part.source.file}:{part.position.line}: a template")
        else:
            message = f"{part.problem}; mend the file, or name others"
            found.refused.append(Problem(part.source.file, part.position.line, "YAML", message))


def _objects(document: Document) -> Iterator[Manifest]:
    """Yield the objects of a document: the items of a list, as ``kubectl get -o yaml`` prints it."""
    data = mapping(document.data)
    items = listing(data.get("items")) if text(data.get("kind")).endswith("List") else []
    if not items:
        yield Manifest(document, (), data)
    for index, item in enumerate(items):
        yield Manifest(document, ("items", index), mapping(item))


def _none(files: Sequence[str], skipped: Sequence[str]) -> DocumentError:
    where = f"{files[0]} and {len(files) - 1} more files" if len(files) > 1 else "".join(files) or "the folder"
    if skipped:
        return DocumentError(f"there is no whole CRD in {where}: {skipped[0]}", hint=_RENDER)
    return DocumentError(f"there is no CRD in {where}", hint="name files or folders with CustomResourceDefinitions")


def _problem(manifest: Manifest) -> str:
    """Return why a CRD can't be imported, and the way out; "" where it can."""
    if manifest.api_version != CRD_API_VERSION:
        return (
            f"it is of {manifest.api_version}, which API servers no longer take; migrate it to"
            " apiextensions.k8s.io/v1, where each version has a schema of its own"
        )
    spec = mapping(manifest.data.get("spec"))
    names, versions = mapping(spec.get("names")), listing(spec.get("versions"))
    missing = [
        *(["spec.group"] if not text(spec.get("group")) else []),
        *(f"spec.names.{name}" for name in ("kind", "plural") if not text(names.get(name))),
        *(["spec.versions"] if not versions else []),
        *(f"spec.versions[{index}].{what}" for index, item in enumerate(versions) for what in _missing(mapping(item))),
    ]
    if missing:
        return f"it has no {', '.join(missing)}, and no server takes it; mend it, or name other files"
    # They become names of classes and files.
    wrong = [
        *([] if is_dns1123_subdomain(spec["group"]) else [f"spec.group {spec['group']!r}"]),
        *([] if is_kind(names["kind"].capitalize()) else [f"spec.names.kind {names['kind']!r}"]),
        *([] if is_dns1035_label(names["plural"]) else [f"spec.names.plural {names['plural']!r}"]),
        *(f"the version {item['name']!r}" for item in versions if not is_dns1035_label(item["name"])),
    ]
    return f"{', '.join(wrong)} is no name that a server takes; mend it" if wrong else ""


def _missing(version: Json) -> Iterator[str]:
    if not text(version.get("name")):
        yield "name"
    if not isinstance(mapping(version.get("schema")).get("openAPIV3Schema"), dict):
        yield "schema.openAPIV3Schema"


def _add(crd: Json, place: tuple[str, int], found: Found) -> None:
    name = name_of(crd)
    if name not in found.places:
        found.places[name] = place
        found.by_name[name] = crd
    elif found.by_name.get(name, {}).get("spec") != crd["spec"]:
        file, line = found.places[name]
        found.by_name.pop(name, None)  # none of them is the right one for certain
        message = f"it is in {file}:{line} too, and they differ; name only one of the two files"
        found.refused.append(Problem(*place, name, message))


def name_of(crd: Json) -> str:
    """Return the name that a CRD has to have."""
    return f"{crd['spec']['names']['plural']}.{crd['spec']['group']}"


async def of_cluster(config: ClusterConfig, names: Sequence[str]) -> Found:
    """Return the CRDs of a cluster: those named (``certificates.cert-manager.io``), or all.

    Raises:
        ClientError: the server can't be reached, or refuses.
        UsageError: it has no CRD of that name.

    """
    from pyopscaffold.runtime.client.http import HttpClient  # noqa: PLC0415 - files need none

    client = HttpClient(config)
    try:
        if not names:
            return Found({name_of(crd): dict(crd) for crd in await client.list(CUSTOM_RESOURCE_DEFINITION)})
        try:
            return Found({name: dict(await client.get(CUSTOM_RESOURCE_DEFINITION, name)) for name in names})
        except NotFound as error:
            known = [crd["metadata"]["name"] for crd in await client.list(CUSTOM_RESOURCE_DEFINITION)]
            missing = next(name for name in names if name not in known)
            near = nearest(missing, known)
            hint = f"did you mean {near}?" if near else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"the cluster has no CRD {missing}", hint=hint) from error
    finally:
        await client.close()
