"""Why a project's module can't be imported: at which line of its own code, and what was meant there.

Only needed where an import has failed; what it costs to load does not matter.
"""

from __future__ import annotations

import builtins
import inspect
import os
import pkgutil
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyopscaffold.api import deferred
from pyopscaffold.kube.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import FrameType

_API = "pyopscaffold.api"
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_ARGUMENT = re.compile(r"((?:\w+\.)*?)(\w+?)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'")
_POSITIONAL = re.compile(r"(\w+?)(?:\.__init__)?\(\) takes \d+ positional arguments? but \d+ (?:was|were) given")
_NUL = "null bytes"
_ALIKE = 0.75


@dataclass(frozen=True)
class Failure:
    """One module that can't be imported.

    ``file`` and ``line`` are the innermost of the project's own code, "" and 0 where it has no part. ``missing`` is a
    module that is not there. ``advice`` says what was meant, where that can be guessed.
    """

    type: str
    message: str
    file: str
    line: int
    missing: str | None = None
    advice: str = ""


def explain(error: BaseException, root: str, package: str) -> Failure:
    """Return why importing ``package`` failed; ``root`` is the folder whose code is the project's own."""
    own = [(frame, line) for frame, line in _frames(error) if _is_own(frame.f_code.co_filename, root)]
    file, line = (os.path.abspath(own[-1][0].f_code.co_filename), own[-1][1]) if own else ("", 0)  # noqa: PTH100
    here = own[-1][0].f_globals if own else {}
    message, advice = str(error), ""
    if isinstance(error, SyntaxError):
        message = error.msg
        if error.filename:
            file, line = error.filename, error.lineno or 0
        elif _NUL in message:
            file, line = next(_places_of_nul(Path(root, *package.split("."))), (file, line))
            advice = "remove the byte; an editor that shows such bytes helps"
    elif isinstance(error, ImportError) and (found := _NO_NAME.match(message)):
        message, advice = found[0], _near(found[1], _names_of(sys.modules.get(found[2])))
    elif "partially initialized module" in message:
        advice = "the two modules import each other: move what both need into a third"
    elif isinstance(error, AttributeError):
        advice = _near(error.name or "", _names_of(error.obj))
    elif isinstance(error, NameError):
        advice = deferred.advice(error.name or "", here) or name_advice(error.name or "", here)
    elif isinstance(error, TypeError) and (found := _NO_ARGUMENT.search(message)):
        message, advice = found[0], _near(found[3], _arguments_of(found[2], here))
    elif isinstance(error, TypeError) and (found := _POSITIONAL.search(message)):
        advice = _by_name(found[1], _arguments_of(found[1], here))
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    top = sys.modules.get(missing.partition(".")[0]) if missing else None
    if missing and top and not _is_own(str(getattr(top, "__file__", "")), root):
        advice = _other_module(missing)
        missing = None
    return Failure(type(error).__name__, message or "it says no more", file, line, missing, advice)


def name_advice(name: str, known: Iterable[str]) -> str:
    """Return what was meant by a name that a module does not define, "" where that can't be guessed."""
    public = _names_of(sys.modules.get(_API))
    if name in public:
        return f"import it: from {_API} import {name}"
    # A class is no function that happens to look like it, but List may be list.
    alike = [item for item in dir(builtins) if item.lower() == name.lower() or item[:1].isupper() == name[:1].isupper()]
    return _near(name, [*known, *alike, *public])


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _is_own(file: str, root: str) -> bool:
    path = os.path.abspath(file)  # noqa: PTH100 - resolving would leave the project where it has links
    return path.startswith(root + os.sep) and f"{os.sep}site-packages{os.sep}" not in path


def _places_of_nul(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield where such a byte stands, which Python does not say."""
    for path in sorted(path for path in folder.rglob("*.py") if path.is_file()):
        before, found, _ = path.read_bytes().partition(b"\0")
        if found:
            yield str(path), before.count(b"\n") + 1


def _names_of(owner: Any) -> list[str]:
    """Return the public names of a module, a class or an object; the object itself, maybe the user's, is not asked."""
    owner = owner if isinstance(owner, ModuleType | type) else type(owner)
    return list(getattr(owner, "__all__", None) or (name for name in dir(owner) if not name.startswith("_")))


def _arguments_of(name: str, known: Mapping[str, Any]) -> list[str]:
    """Return the arguments of what a module, or the API, calls by this name; nothing for others."""
    called = known.get(name) or getattr(sys.modules.get(_API), name, None)
    fields = list(getattr(called, "__dataclass_fields__", ()))
    try:
        return fields or (list(inspect.signature(called).parameters) if callable(called) else [])
    except (TypeError, ValueError):  # what is written in C may not say
        return []


def _by_name(called: str, arguments: Sequence[str]) -> str:
    return f"write the arguments by name: {called}({arguments[0]}=...)" if arguments else ""


def _other_module(name: str) -> str:
    """Return what was meant by a module that an installed package does not have."""
    above, _, last = name.rpartition(".")
    beside = [item.name for item in pkgutil.iter_modules(getattr(sys.modules.get(above), "__path__", ()))]
    return _near(last, beside) or f"the {name.partition('.')[0]} that is installed has no such module"


def _near(name: str, names: Iterable[str]) -> str:
    near = nearest(name, sorted({*names} - {name}), cutoff=_ALIKE)
    return f"did you mean {near}?" if near else ""
