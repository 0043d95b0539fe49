"""The CRDs in files, and those of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyopscaffold.document.reader import Document, Unreadable, scan
from pyopscaffold.errors import DocumentError, NotFound, UsageError
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION
from pyopscaffold.kube.names import is_dns1035_label, is_dns1123_subdomain, is_kind, nearest
from pyopscaffold.lint.subject import CRD_API_VERSION, Manifest, listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyopscaffold.document.reader import Source
    from pyopscaffold.runtime.client.config import ClusterConfig

Json: TypeAlias = dict[str, Any]

_RENDER = "render it first, by helm template or kubectl kustomize, and pipe that into pyopscaffold import crd -"


@dataclass
class Found:
    """CRDs in the order of the input, and ``skipped``: what was no whole CRD, as ``file:line: reason``."""

    crds: list[Json] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def in_sources(sources: Iterable[Source]) -> Found:
    """Return every CRD in the sources; other manifests are passed over.

    Raises:
        DocumentError: a CRD is no whole one or of v1beta1, two of one name differ, or there is none at all.

    """
    found, places, files = Found(), dict[str, str](), list[str]()
    for source in sources:
        files.append(source.file)
        for manifest in _manifests(source, found.skipped):
            place = f"{source.file}:{manifest.document.position(manifest.base).line}"
            if manifest.is_template or manifest.is_fragment:
                found.skipped.append(f"{place}: a {'template' if manifest.is_template else 'kustomize patch'}")
                continue
            _check(manifest, place)
            _add(manifest.data, place, found, places)
    if not found.crds:
        raise _none(files, found.skipped)
    return found


def _manifests(source: Source, skipped: list[str]) -> Iterator[Manifest]:
    for part in scan(source):
        if isinstance(part, Document):
            yield from (item for item in _objects(part) if item.is_crd)
        else:
            _pass_over(part, skipped)


def _pass_over(part: Unreadable, skipped: list[str]) -> None:
    place = f"{part.source.file}:{part.position.line}"
    if not part.template:
        raise DocumentError(f"{place}: {part.problem}", hint="mend the file, or name others")
    skipped.append(f"{place}: a template")


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


def _check(manifest: Manifest, place: str) -> None:
    if manifest.api_version != CRD_API_VERSION:
        raise DocumentError(
            f"{place}: {manifest.name or 'the CRD'} is of {manifest.api_version}, which API servers no longer take",
            hint="migrate it to apiextensions.k8s.io/v1, where each version has a schema of its own",
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
        message = f"{place}: {manifest.name or 'the CRD'} has no {', '.join(missing)}"
        raise DocumentError(message, hint="no server takes it: mend it, or name other files")
    # They become names of classes and files.
    wrong = [
        *([] if is_dns1123_subdomain(spec["group"]) else [f"spec.group {spec['group']!r}"]),
        *([] if is_kind(names["kind"].capitalize()) else [f"spec.names.kind {names['kind']!r}"]),
        *([] if is_dns1035_label(names["plural"]) else [f"spec.names.plural {names['plural']!r}"]),
        *(f"the version {item['name']!r}" for item in versions if not is_dns1035_label(item["name"])),
    ]
    if wrong:
        raise DocumentError(f"{place}: {', '.join(wrong)} is no name that a server takes", hint="mend it")


def _missing(version: Json) -> Iterator[str]:
    if not text(version.get("name")):
        yield "name"
    if not isinstance(mapping(version.get("schema")).get("openAPIV3Schema"), dict):
        yield "schema.openAPIV3Schema"


def _add(crd: Json, place: str, found: Found, places: dict[str, str]) -> None:
    spec = crd["spec"]
    name = f"{spec['names']['plural']}.{spec['group']}"
    if (first := places.setdefault(name, place)) is place:
        found.crds.append(crd)
    elif all(other["spec"] != spec for other in found.crds):
        raise DocumentError(
            f"{place}: the CRD {name} is in {first} too, and they differ", hint="name only one of the two files"
        )


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
            return Found(crds=[dict(crd) for crd in await client.list(CUSTOM_RESOURCE_DEFINITION)])
        try:
            return Found(crds=[dict(await client.get(CUSTOM_RESOURCE_DEFINITION, name)) for name in names])
        except NotFound as error:
            known = [crd["metadata"]["name"] for crd in await client.list(CUSTOM_RESOURCE_DEFINITION)]
            missing = next(name for name in names if name not in known)
            near = nearest(missing, known)
            hint = f"did you mean {near}?" if near else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"the cluster has no CRD {missing}", hint=hint) from error
    finally:
        await client.close()
