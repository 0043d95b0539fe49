"""CRDs of classes under ``@resource``, read in this very process."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.api import Object

Json = dict[str, Any]


def crd_of(classes: Iterable[type[Object]]) -> Json:
    """Return the CRD that ``pyopscaffold generate`` makes of a kind; ``classes`` are its versions.

    Raises:
        DeclarationError: the declarations are wrong.

    """
    return _made_of(tuple(classes))


@cache
def _made_of(classes: tuple[Any, ...]) -> Json:
    # the generator is the tool's, and takes a while to import: a test of plain ConfigMaps does without
    from pyopscaffold import __version__  # noqa: PLC0415
    from pyopscaffold.generate import crd  # noqa: PLC0415
    from pyopscaffold.loader import source  # noqa: PLC0415
    from pyopscaffold.loader.probe import declared, reader  # noqa: PLC0415

    found = reader.Reader()
    resources = [declared.resource(found, cls) for cls in classes]
    if found.failures:  # of an import under TYPE_CHECKING
        raise found.failures[0]
    # whatever else a probe may tell is an empty list
    answer: Json = defaultdict(list)
    answer.update(
        package=classes[0].__module__.partition(".")[0],
        resources=resources,
        structs=found.structs,
        problems=found.problems,
        version=__version__,
    )
    return crd.crd_of(source.model_of(Path("/"), answer).kinds)
