"""The typer app, and ``main``: the one place that turns errors into messages and exit codes.

Exit codes: 0 fine, 1 findings or drift, 2 the command could not do its job, 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyopscaffold import __version__
from pyopscaffold.cli import console
from pyopscaffold.errors import PyopscaffoldError, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "pyopscaffold"
VERBS = (
    "init",
    "create",
    "import_",
    "generate",
    "dev",
    "lint_crd",
    "diff_crd",
    "explain",
    "rbac",
    "envtest",
    "completion",
    "version",
)

# What typer's parser raises has no public name before typer 0.28 (it was click's ClickException, then a copy of it).
_ParserError: type[Exception] = typer.BadParameter.__mro__[2]

_FAILED = 2
_INTERRUPTED = 130


def build_app(verbs: Sequence[str] = VERBS) -> typer.Typer:
    """Return the app with these verbs registered."""
    app = typer.Typer(
        name=PROGRAM,
        help="Scaffold, generate, lint and run Kubernetes operators in Python.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        *,
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
        ] = False,
    ) -> None: ...

    for verb in verbs:
        importlib.import_module(f"pyopscaffold.cli.{verb}").register(app)
    return app


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        console.say(f"{PROGRAM} {__version__}")
        raise typer.Exit


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit; never shows a traceback unless PYOPSCAFFOLD_TRACEBACK is set."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # a text may have letters of which the terminal has none
    command: Any = None
    try:
        command = typer.main.get_command(build_app(_needed(args)))
        code = command.main(args=list(args) or ["--help"], prog_name=PROGRAM, standalone_mode=False)
        if sys.stdout is not None:  # a shell can start us with it closed
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output went away: nothing to tell it, and the interpreter must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except _ParserError as error:
        message, hint = _usage_message(error, _addressed(command, args))
        console.fail(message, hint=hint)
        return _FAILED
    except Exception as error:  # noqa: BLE001 - the last line of defence, no traceback for users
        _report(error)
        return _FAILED
    if code == _INTERRUPTED:
        console.note("interrupted")
    return code if isinstance(code, int) else 0


def _needed(args: Sequence[str]) -> Sequence[str]:
    """Return the verb that is called, where the first argument names one: the others' options take time to build."""
    named = {verb.rstrip("_").replace("_", "-"): verb for verb in VERBS}
    return (named[args[0]],) if args and args[0] in named else VERBS


def _report(error: Exception) -> None:
    if os.environ.get("PYOPSCAFFOLD_TRACEBACK"):
        import traceback  # noqa: PLC0415 - seldom needed, and not cheap

        traceback.print_exception(error)
    match error:
        case UserError(problems=[_, *_] as problems):
            console.fail_for(problems, hint=error.hint)
        case UserError():
            console.fail(str(error), hint=error.hint)
        case PyopscaffoldError():
            console.fail(str(error))
        case OSError(filename=str(place), strerror=str(reason)):
            console.fail(f"{place}: {reason.lower()}")
        case FileNotFoundError(filename=None):
            console.fail("the current folder is gone", hint="change into a folder that is there")
        case OSError(filename=None, strerror=str(reason)):
            console.fail(f"the output can't be written: {reason.lower()}")
        case _:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            console.fail(
                f"unexpected {what}",
                hint="this is a bug; set PYOPSCAFFOLD_TRACEBACK=1, try again and report what it shows",
            )


def _addressed(command: Any, args: Sequence[str]) -> Any:
    """Return the command that the arguments are for."""
    for arg in args:
        command = getattr(command, "commands", {}).get(arg, command)
    return command


def _usage_message(error: Any, command: Any) -> tuple[str, str]:
    """Return message and hint for an error of typer's own parser (which has no public classes for them)."""
    option = getattr(error, "option_name", "")
    similar = [name for name in getattr(error, "possibilities", None) or () if name != option]
    if option and similar:
        return f"no such option: {option}", f"did you mean {' or '.join(similar)}?"
    if option and "does not take a value" in error.message:
        return f"{option} takes no value", f"write {' or '.join(_spellings(command, option))}, or leave it out"
    message = " ".join(error.format_message().replace("Value error, ", "").split())
    context = getattr(error, "ctx", None)
    path = context.command_path if context else PROGRAM
    return message[:1].lower() + message[1:].removesuffix("."), f"see {path} --help"


def _spellings(command: Any, option: str) -> list[str]:
    """``--resource`` and ``--no-resource`` for either of them; the option alone where it has no opposite."""
    for parameter in command.params:
        names: list[str] = [*parameter.opts, *parameter.secondary_opts]
        if option in names:
            return names
    return [option]
