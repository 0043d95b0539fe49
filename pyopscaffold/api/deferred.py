"""Names of type hints that only type checkers import: those under ``if TYPE_CHECKING:``.

A module does not define them when it runs, and may not be able to: two modules whose types refer to each other can't
both import the other first. Once all are imported there is nothing in the way. Only loaded where such a name is met.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import threading
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from pyopscaffold.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import FrameType, ModuleType

T = TypeVar("T")
_Import: TypeAlias = "ast.Import | ast.ImportFrom"
_Place: TypeAlias = tuple[str, str]
"""The name of a module, and what it is to know for a moment: a name, or the dotted one of a submodule."""

WITHOUT_SOURCE = "import it outside of TYPE_CHECKING: there is no source to look for it there"

_CONDITION = "TYPE_CHECKING"
_IMPORTING = ("__name__", "__package__", "__path__", "__spec__")
"""What an import statement asks the module for that it stands in."""

_lock = threading.RLock()


class _Hidden(NamedTuple):
    """What type checkers alone see of a module: imports, each of one name, and the lines of other definitions."""

    imports: tuple[_Import, ...] = ()
    lines: Mapping[str, int] = {}


def evaluated(evaluate: Callable[[], T], failure: NameError | AttributeError) -> T:
    """Evaluate again after ``failure``, in modules that know the names that it lacks, but no longer than it takes.

    Raises:
        NameError, AttributeError: as ``evaluate`` does, where no import under ``TYPE_CHECKING`` gives what it lacks.
        DeclarationError: such an import fails, with its place; the cause is what it raised.

    """
    known: dict[_Place, Any] = {}
    while True:
        module, wanted = _module_of(failure), _wanted(failure)
        if module is None or not wanted or (module.__name__, wanted) in known:
            raise failure
        known[module.__name__, wanted] = _imported(module, wanted, failure)
        try:
            with _defined(known):
                return evaluate()
        except (NameError, AttributeError) as error:
            failure = error


def advice(name: str, namespace: Mapping[str, Any]) -> str:
    """Return what to do about a name that a running module lacks, "" where type checkers don't have it either."""
    hidden = _hidden_in(namespace)
    if hidden is None:
        return ""
    if any(name == _bound(item.names[0]) for item in hidden.imports):
        return f'only type checkers import it: write "{name}" in quotes, or from __future__ import annotations'
    if name in hidden.lines:
        return f"only type checkers see line {hidden.lines[name]}, which defines it: do so outside of TYPE_CHECKING"
    return ""


def has_source(namespace: Mapping[str, Any]) -> bool:
    """Whether the source of a module is there to be asked; a zip file has it, a lone .pyc file has not."""
    return _hidden_in(namespace) is not None


def _module_of(failure: NameError | AttributeError) -> ModuleType | None:
    """Return the module that says what failed: hints are evaluated with its names as locals or as globals."""
    trace = failure.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    frame: FrameType | None = trace.tb_frame if trace else None
    name = (frame.f_locals.get("__name__") or frame.f_globals.get("__name__")) if frame else None
    return sys.modules.get(name) if isinstance(name, str) else None


def _wanted(failure: NameError | AttributeError) -> str:
    if isinstance(failure, AttributeError):
        return f"{getattr(failure.obj, '__name__', '')}.{failure.name}"
    return failure.name or ""


def _imported(module: ModuleType, wanted: str, failure: NameError | AttributeError) -> Any:
    """Import what is lacking, and return it; None for a submodule, which its package has from then on."""
    namespace = vars(module)
    hidden = _hidden_in(namespace)
    imports = hidden.imports if hidden else ()
    if isinstance(failure, AttributeError):
        fitting = [item for item in imports if f"{_dotted(item)}.".startswith(f"{wanted}.")]
    else:
        fitting = [item for item in imports if _bound(item.names[0]) == wanted]
        fitting = fitting or [item for item in imports if _bound(item.names[0]) == "*"]
    way = advice(wanted, namespace) if hidden else WITHOUT_SOURCE
    if not fitting and isinstance(failure, NameError) and way:
        raise NameError(f"{namespace.get('__file__')}: {failure}; {way}", name=wanted) from failure
    return _first(fitting, wanted, namespace, failure)


def _first(fitting: Iterable[_Import], wanted: str, namespace: Mapping[str, Any], failure: Exception) -> Any:
    """Return what the first import gives that can be had; there may be another for another version of Python."""
    failures: list[DeclarationError] = []
    for statement in fitting:
        scope = {name: namespace[name] for name in _IMPORTING if name in namespace}
        file = str(namespace.get("__file__"))
        try:
            exec(compile(ast.Module([statement], []), file, "exec"), scope)  # noqa: S102 - the module's own line
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may raise anything
            failures.append(_failed(error, namespace, statement))
            continue
        if wanted in scope or isinstance(failure, AttributeError):
            return scope.get(wanted)
    raise failures[0] if failures else failure


def _failed(error: BaseException, namespace: Mapping[str, Any], statement: _Import) -> DeclarationError:
    from pyopscaffold.api.failures import explain  # noqa: PLC0415 - not cheap

    file, package = str(namespace.get("__file__")), str(namespace.get("__package__") or "")
    root = os.path.join(file, *[os.pardir] * (package.count(".") + 1))  # noqa: PTH118 - resolving would follow links
    known = explain(error, os.path.abspath(root), "")  # noqa: PTH100 - as above
    message = f"{known.message}; {known.advice or 'mend it: the type of a field is needed at run time too'}"
    place = (known.file, known.line) if known.file else (file, statement.lineno)
    found = DeclarationError([Problem(*place, known.type, message)])
    found.__cause__ = error
    return found


@contextmanager
def _defined(known: Mapping[_Place, Any]) -> Iterator[None]:
    """Let modules know names, and forget them: what they do when they run must not hang on who read their hints."""
    places = [(vars(sys.modules[module]), name, value) for (module, name), value in known.items() if "." not in name]
    with _lock:
        try:
            for namespace, name, value in places:
                namespace[name] = value
            yield
        finally:
            for namespace, name, _ in places:
                namespace.pop(name, None)


def _hidden_in(namespace: Mapping[str, Any]) -> _Hidden | None:
    """Return what type checkers alone see of a module, None where its source is not there."""
    # It asks the module's loader where there is no such file, as in a zip.
    source = "".join(linecache.getlines(str(namespace.get("__file__")), {**namespace}))
    try:
        return _parsed(source) if source else None
    except (SyntaxError, ValueError):
        return None


@lru_cache(maxsize=16)
def _parsed(source: str) -> _Hidden:
    tree = ast.parse(source)
    aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    flags = {_CONDITION, *(alias.asname for alias in aliases if alias.name == _CONDITION and alias.asname)}
    statements = list(_unseen(tree.body, flags, hidden=False))
    imports = [part for item in statements if isinstance(item, ast.Import | ast.ImportFrom) for part in _parts(item)]
    return _Hidden(tuple(imports), {name: item.lineno for item in statements for name in _names(item)})


def _unseen(body: Sequence[ast.AST], flags: set[str], *, hidden: bool) -> Iterator[ast.stmt]:
    """Yield the statements of a module that do not run, as the value of a flag decides it."""
    for node in body:
        if isinstance(node, ast.If):
            for_checkers = _asks(node.test, flags)
            yield from _unseen(node.body, flags, hidden=hidden or for_checkers is True)
            yield from _unseen(node.orelse, flags, hidden=hidden or for_checkers is False)
        elif isinstance(node, ast.Try | ast.TryStar | ast.With | ast.ExceptHandler):
            blocks = (getattr(node, name, ()) for name in ("body", "handlers", "orelse", "finalbody"))
            yield from _unseen([item for block in blocks for item in block], flags, hidden=hidden)
        elif isinstance(node, ast.stmt) and hidden:
            yield node


def _asks(test: ast.expr, flags: set[str]) -> bool | None:
    """Return whether a condition lets type checkers in, or keeps them out; None if it does not ask for them."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asks(test.operand, flags)
        return None if inner is None else not inner
    words = (getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(test))
    return True if any(word in flags for word in words) else None


def _parts(item: _Import) -> Iterator[_Import]:
    """Yield an import of each name alone, at its own line."""
    for alias in item.names:
        if isinstance(item, ast.Import):
            part: _Import = ast.Import([alias])
        else:
            part = ast.ImportFrom(item.module, [alias], item.level)
        yield ast.copy_location(part, alias)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _dotted(item: _Import) -> str:
    """Return the module that ``import a.b.c`` leaves below ``a``, "" for other forms."""
    return item.names[0].name if isinstance(item, ast.Import) and not item.names[0].asname else ""


def _names(item: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines otherwise than by an import."""
    if isinstance(item, ast.ClassDef | ast.FunctionDef):
        yield item.name
    targets = getattr(item, "targets", None) or [getattr(item, "target", getattr(item, "name", None))]
    yield from (target.id for target in targets if isinstance(target, ast.Name))
