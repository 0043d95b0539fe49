"""``pyopscaffold lint-crd``."""

from __future__ import annotations

import enum
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.cli.fixing import Mending
from pyopscaffold.cli.reports import deliver, parse_outputs, write_file
from pyopscaffold.errors import DocumentError, PyopscaffoldError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.document.reader import Unreadable
    from pyopscaffold.lint.config import Config
    from pyopscaffold.lint.evolution import Before
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.registry import Registry
    from pyopscaffold.lint.ruleset import Ruleset
    from pyopscaffold.lint.workers import Item


class ProfileName(enum.StrEnum):
    """Names of :class:`pyopscaffold.lint.rule.Profile` on the command line."""

    APISERVER = "apiserver"
    CHECKLIST = "checklist"
    STRICT = "strict"


class Threshold(enum.StrEnum):
    """Names of :class:`pyopscaffold.lint.finding.FailOn`, which takes time to import."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"
    NEVER = "never"


def _show_schema(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        from pyopscaffold.lint.configfile import json_schema  # noqa: PLC0415
        from pyopscaffold.lint.registry import builtin  # noqa: PLC0415

        console.say(json.dumps(json_schema(builtin()), indent=2))
        raise typer.Exit


Texts = list[str] | None
Paths = Annotated[Texts, typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")]
ProfileOption = Annotated[
    ProfileName | None,
    typer.Option(
        help="apiserver: what a server refuses; checklist (the default): design too; strict: all but the opt-in rules.",
        show_default=False,
    ),
]
Select = Annotated[
    Texts, typer.Option(metavar="RULES", help="Only these rules: ids, prefixes or names, comma-separated.")
]
Ignore = Annotated[
    Texts, typer.Option(metavar="RULES", help="Not these rules: ids, prefixes or names, comma-separated.")
]
ExtendSelect = Annotated[Texts, typer.Option(metavar="RULES", help="These rules too: ids, prefixes or names.")]
FailOnOption = Annotated[
    Threshold | None,
    typer.Option(help="The least severity that makes the exit code 1 (warn if not given); never: it stays 0."),
]
BaselineFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The findings that are put up with; they may only get fewer.")
]
WriteBaseline = Annotated[
    bool, typer.Option("--write-baseline", help="Make the baseline of what is found, or shrink the one there is.")
]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="REVISION|PATH",
        help="The CRDs as they were, by a git revision or another path: what changed since is judged too (VE).",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The configuration; else .lint-crd.toml or pyproject.toml, here or in the nearest folder above.",
    ),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Take no configuration.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Processes to check by; 0: as many as there is work for.")
]
ConfigSchema = Annotated[
    bool,
    typer.Option(
        "--config-schema", is_eager=True, callback=_show_schema, help="Print a JSON schema of the configuration."
    ),
]
Output = Annotated[
    Texts,
    typer.Option(
        "--output",
        "-o",
        "--format",
        "-f",
        metavar="FORM[:FILE]",
        help="text, json, sarif, github, gitlab or junit, into a file if one is named; may be given several times.",
    ),
]
Statistics = Annotated[
    bool, typer.Option("--statistics", help="Count the findings of each rule instead of showing them (text).")
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Do not fail where there is no CRD, as among the files of a commit.")
]
FixFiles = Annotated[
    bool, typer.Option("--fix", help="Mend what can be, in the files themselves; standard input goes to output.")
]
ShowDiff = Annotated[
    bool, typer.Option("--diff", help="Show what --fix would change, and change nothing; exits 1 if there is some.")
]
UnsafeFixes = Annotated[
    bool,
    typer.Option("--unsafe-fixes", help="Make fixes too by which objects that were valid may become invalid."),
]
Since = Annotated[
    str | None,
    typer.Option(metavar="REVISION", help="Only findings at lines that changed since a git revision."),
]
Cluster = Annotated[bool, typer.Option("--cluster", help="Check the CRDs of the kubeconfig's cluster too, or alone.")]
Context = Annotated[str, typer.Option(metavar="NAME", help="The kubeconfig's context to use; with --cluster.")]
ListRules = Annotated[bool, typer.Option("--list-rules", help="List the rules that would check, and check nothing.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lint-crd")(lint_crd)


def lint_crd(
    paths: Paths = None,
    *,
    profile: ProfileOption = None,
    select: Select = None,
    ignore: Ignore = None,
    extend_select: ExtendSelect = None,
    fail_on: FailOnOption = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = False,
    against: Against = None,
    since: Since = None,
    config: ConfigFile = None,
    isolated: Isolated = False,
    jobs: Jobs = 0,
    config_schema: ConfigSchema = False,  # noqa: ARG001 - its callback does all
    output: Output = None,
    statistics: Statistics = False,
    allow_empty: AllowEmpty = False,
    fix: FixFiles = False,
    diff: ShowDiff = False,
    unsafe_fixes: UnsafeFixes = False,
    list_rules: ListRules = False,
    cluster: Cluster = False,
    context: Context = "",
) -> None:
    """Check the design of CRDs and of the RBAC beside them.

    Exits 0 if nothing is found that fails, 1 if something is (see --fail-on), 2 if it could not check, which is also
    when there is no CRD.
    """
    outputs, mending = parse_outputs(output or ()), Mending(write=fix, show=diff, unsafe=unsafe_fixes)
    from pyopscaffold.lint.finding import FailOn  # noqa: PLC0415 - heavy imports belong to the command
    from pyopscaffold.lint.library import rules, settings  # noqa: PLC0415

    if isolated and config:
        raise UsageError("--isolated takes no configuration, and --config names one", hint="leave one of them out")
    known = rules()
    chosen = settings(known, file=config, isolated=isolated).overlaid(
        profile=profile.value if profile else None,
        select=_split("--select", select),
        extend_select=_split("--extend-select", extend_select),
        ignore=_split("--ignore", ignore),
        fail_on=FailOn(fail_on) if fail_on else None,
        baseline=baseline,
    )
    ruleset = _ruleset(chosen, known, against, paths or [])
    if list_rules:
        _list(ruleset)
        return
    if against is None and not any(map(ruleset.can_find, ruleset.rules)):
        raise UsageError("the rules that are on judge changes alone", hint="say since when: --against REVISION")
    paths = [*(paths or ()), *_cluster(context, asked=cluster)]
    report = _judged(paths, ruleset, mending, write=write_baseline, jobs=jobs, allow_empty=allow_empty, since=since)
    with mending.aside(paths):
        deliver(report, ruleset, outputs, statistics=statistics)
    if report.failures:
        raise _broken_rules(report, known)
    if report.fails(chosen.fail_on):
        raise typer.Exit(1)


def _list(ruleset: Ruleset) -> None:
    from pyopscaffold.lint.report.text import rule_table  # noqa: PLC0415

    console.say(rule_table(ruleset).removesuffix("\n"))


def _judged(
    paths: list[str] | None,
    ruleset: Ruleset,
    mending: Mending,
    *,
    write: bool,
    jobs: int,
    allow_empty: bool,
    since: str | None,
) -> Report:
    """Check, mend if asked to, and leave out what stands at unchanged lines, and what the baseline lists."""
    from pyopscaffold.lint.inputs import gather  # noqa: PLC0415
    from pyopscaffold.loader.manifests import STDIN, read  # noqa: PLC0415

    if not paths:
        raise UsageError("there is nothing to check", hint="name files or folders: pyopscaffold lint-crd config/")
    items: Iterable[Item] = gather(paths, excluded=ruleset.config.excludes)
    checked = partial(_checked, paths, ruleset=ruleset, jobs=jobs, allow_empty=allow_empty)
    if since is not None and (mending.wanted or write):
        raise UsageError("--since shows a part of the findings", hint="fix, or write a baseline, without it")
    if since is not None:
        from pyopscaffold.lint.evolution import only_changed  # noqa: PLC0415
        from pyopscaffold.loader.revision import changed_lines  # noqa: PLC0415

        lines = changed_lines(since)
        return only_changed(_less_baseline(checked(items), ruleset, write=False), ruleset, lines)
    if not mending.wanted:
        return _less_baseline(checked(items), ruleset, write=write)
    if write:
        raise UsageError("a baseline is not written while fixes are made", hint="do --fix first")
    items = [read(item) if item == STDIN else item for item in items]
    whole = checked(items)
    less = _less_baseline(whole, ruleset, write=False)
    return mending.carry_out(
        items, (whole, less), ruleset, lambda mended: _less_baseline(checked(mended), ruleset, write=False), jobs=jobs
    )


def _cluster(context: str, *, asked: bool) -> list[str]:
    """Return how the cluster is named among the paths."""
    if context and not asked:
        raise UsageError("--context names a cluster", hint="add --cluster")
    return [f"cluster:{context}"] if asked else []


def _checked(paths: list[str], items: Iterable[Item], *, ruleset: Ruleset, jobs: int, allow_empty: bool) -> Report:
    """Run the rules, and show how far they are."""
    from pyopscaffold.lint.evolution import with_gone  # noqa: PLC0415
    from pyopscaffold.lint.workers import run  # noqa: PLC0415

    with console.Progress("files checked") as progress:
        report = run(items, ruleset, jobs=jobs, tell=progress.tell)
    if not report.crds and not report.findings and not allow_empty:
        raise _nothing_found(paths, report)
    return with_gone(report, ruleset)


def _ruleset(chosen: Config, known: Registry, against: str | None, paths: list[str]) -> Ruleset:
    from pyopscaffold.lint.ruleset import Ruleset  # noqa: PLC0415

    _require_rules(chosen, known)
    ruleset = Ruleset(known, chosen, before=_earlier(against, paths))
    if not ruleset.rules:
        raise UsageError("no rule is left to check by", hint="ignore fewer, or select more")
    return ruleset


def _require_rules(config: Config, known: Registry) -> None:
    from pyopscaffold.lint.selection import mistake  # noqa: PLC0415

    for selector in config.selection.selectors:
        if wrong := mistake(selector, known):
            raise UsageError(wrong[0], hint=wrong[1])


def _earlier(against: str | None, paths: list[str]) -> Before:
    if against is None:
        return {}
    from pyopscaffold.lint.evolution import read_before  # noqa: PLC0415
    from pyopscaffold.loader.revision import load_before  # noqa: PLC0415

    broken: list[Unreadable] = []
    before = read_before(load_before(against, paths), broken)
    unread = [part for part in broken if not part.template]
    for part in unread:
        console.warn(f"{part.source.file}:{part.position.line}: {part.problem}: CRDs in it are taken for new")
    if not before and not unread:
        console.warn(f"no CRD found in {against}: all are taken for new; if they were elsewhere: REVISION:PATH")
    return before


def _less_baseline(report: Report, ruleset: Ruleset, *, write: bool) -> Report:
    """Take out what the baseline lists; make or shrink it first, if asked to."""
    file = ruleset.config.baseline_file
    if file is None:
        if write:
            raise UsageError("--write-baseline has nowhere to write", hint="name the file: --baseline FILE")
        return report
    from pyopscaffold.document.reader import Source  # noqa: PLC0415
    from pyopscaffold.lint.baseline import parse, render  # noqa: PLC0415

    there = file.exists()
    if not there and not write:
        raise UsageError(f"there is no baseline {file}", hint="--write-baseline makes it")
    known = parse(Source(str(file), file.read_text("utf-8", "replace") if there else render({})))
    if write:
        text = known.shrunk(report, ruleset) if there else known.of(report)
        write_file(file, text)
        known = parse(Source(str(file), text))
    return known.compare(report, ruleset)


def _broken_rules(report: Report, known: Registry) -> PyopscaffoldError:
    first, *others = report.failures
    origin = f" of {known.origins[first.rule]}" if first.rule in known.origins else ""
    more = f", {len(others)} more times" if others else ""
    return PyopscaffoldError(f"{first.file}:{first.line}: rule {first.rule}{origin} broke down{more}: {first.error}")


def _split(option: str, values: list[str] | None) -> list[str]:
    parts = [part.strip() for value in values or () for part in value.split(",") if part.strip()]
    if values and not parts:
        raise UsageError(f"{option} names no rule", hint="leave it out; is a variable of your shell unset?")
    return parts


def _nothing_found(paths: list[str], report: Report) -> DocumentError:
    where = ", ".join(paths)
    if not report.skipped:
        return DocumentError(
            f"no CRD found in {where}",
            hint="name files or folders with CustomResourceDefinitions; where there need be none, add --allow-empty",
        )
    first, more = report.skipped[0], len(report.skipped) - 1
    which = f"and {more} more are no whole ones" if more else "is no whole one"
    return DocumentError(
        f"no CRD found in {where}: {first.file}:{first.line} {which} ({first.reason})",
        hint="with helm or kubectl, name the folder of the chart or kustomization; or helm template … | … lint-crd -",
    )
