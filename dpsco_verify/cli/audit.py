"""``dpsco-verify audit``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsco_verify.choices import ExecutorKind, Profile
from dpsco_verify.cli.completion import claim_ids, paper_ids
from dpsco_verify.cli.options import (
    EXIT_CODES,
    ChoiceOf,
    chosen_executor,
    chosen_formats,
    default_store,
    executor_options,
    format_option,
)
from dpsco_verify.cli.progress import NO_REPORT, is_quiet, progress, quiet_option
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.exit_code import ExitCode

if TYPE_CHECKING:
    from dpsco_verify.evidence import AuditRecord
    from dpsco_verify.ledger.expectations import Expectation
    from dpsco_verify.ledger.ledger import Ledger


_WORTH_A_POOL = 48
"""So many figures take so much longer to draw than processes take to start that these are worth their own time."""


@click.command(epilog=EXIT_CODES)
@click.option(
    "--profile",
    type=ChoiceOf(Profile),
    default=Profile.STANDARD.value,
    show_default=True,
    help="How much work to do.",
)
@click.option(
    "--paper",
    multiple=True,
    metavar="ID",
    shell_complete=paper_ids,
    help="Verify this paper (`dpsco-verify papers` lists them); repeatable.  [default: all, and the sections beside "
    "them]",
)
@click.option(
    "--select",
    multiple=True,
    metavar="ID",
    shell_complete=claim_ids,
    help="Verify only this claim (id or id/reading); repeatable.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="ID",
    shell_complete=claim_ids,
    help="Leave this claim out; repeatable.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The root seed of the run."
)
@executor_options
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Keep what is finished in this file, and go on from there after a kill.  [default: OUT.store.sqlite3]",
)
@click.option("--no-store", is_flag=True, help="Keep nothing: a run that is killed begins anew.")
@click.option(
    "--accumulate",
    is_flag=True,
    help="Multiply the evidence with that of the earlier runs in the store, of other seeds and the same code.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/latest"),
    show_default=True,
    help="The folder for the reports; replaced as a whole, or not at all.",
)
@format_option
@quiet_option(NO_REPORT)
@click.option(
    "--expectations",
    type=click.Path(path_type=Path, exists=False),
    default=None,
    help="The expected verdicts.  [default: each paper's own]",
)
@click.option(
    "--update-expectations",
    is_flag=True,
    help="Write the verdicts found to --expectations instead of gating on them; refused where CI=true.",
)
def audit(
    profile: Profile,
    paper: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    seed: int,
    jobs: int,
    executor: ExecutorKind | None,
    scheduler: str | None,
    store: Path | None,
    no_store: bool,  # noqa: FBT001  click passes options by name
    accumulate: bool,  # noqa: FBT001  click passes options by name
    out: Path,
    formats: tuple[str, ...],
    expectations: Path | None,
    update_expectations: bool,  # noqa: FBT001  click passes options by name
) -> None:
    """Verify the papers that are installed, write the reports, and gate on the verdicts."""
    from rich.console import Console

    from dpsco_verify.ledger.installed import installed_ledger
    from dpsco_verify.ledger.run import run_audit
    from dpsco_verify.reporting import check_writable, print_report, write_reports
    from dpsco_verify.store import EvidenceStore

    if no_store and store is not None:
        raise click.UsageError("--no-store cannot be combined with --store")
    if no_store and accumulate:
        raise InputError(
            "accumulate=True cannot be combined with no_store=True, because the store holds the earlier runs; "
            "leave one out"
        )
    if update_expectations and os.environ.get("CI", "").lower() in {"true", "1"}:
        raise InputError(
            f"update_expectations=True is refused where CI={os.environ['CI']}: a gate does not choose what it expects; "
            "run it on your own machine and commit the file"
        )
    if update_expectations and expectations is None:
        raise InputError("update_expectations=True needs a file to write; give --expectations FILE")
    ledger = installed_ledger().only(paper)
    claims = ledger.select(select, ignore)
    expected = _expected(ledger, expectations, complete=not update_expectations)
    choice = chosen_executor(jobs, executor, scheduler)
    written = chosen_formats(formats)
    target = check_writable(out)
    kept = None if no_store else store or default_store(target)
    if kept is not None and target in Path(os.path.realpath(kept)).parents:
        raise InputError(
            f"store={str(kept)!r} is in out={str(out)!r}, which is replaced as a whole; give another place"
        )
    with progress() as report, nullcontext() if kept is None else EvidenceStore(kept) as evidence:
        result = run_audit(
            ledger,
            claims,
            profile=profile,
            seed=seed,
            executor=choice,
            store=evidence,
            accumulate=accumulate,
            expectations=expected,
            # The sections look at the checks and the systems as a whole; who selects claims wants these alone.
            sections=() if select or ignore or paper else ledger.sections,
            options=[f"--paper {id_}" for id_ in paper],
            progress=report,
        )
    if jobs > 1 and {"html", "figures"} & {one.name for one in written}:
        _draw_ahead(result.record, jobs)
    write_reports(result.record, out, written, extra_files=dict(result.certificates))
    if not is_quiet():
        print_report(result.record, Console())
        click.echo(f"Reports: {out}")
        if kept is not None and result.recalled:
            click.echo(
                f"Store: {kept}; {result.recalled} of {result.units} units of work were finished before"
            )
    if update_expectations and expectations is not None:
        _update(ledger, result.record, expected, expectations)
        sys.exit(int(ExitCode.AS_EXPECTED))
    sys.exit(result.record.exit_code)


def _draw_ahead(record: AuditRecord, jobs: int) -> None:
    """Draw the figures in as many processes as the audit had on this machine."""
    from dpsco_verify.execution import WorkUnit, execute, make_executor
    from dpsco_verify.reporting.drawing import draw, remember

    compared = record.comparison.plots if record.comparison is not None else ()
    plots = list(dict.fromkeys([*(plot for finding in record.claims for plot in finding.plots), *compared]))
    if len(plots) < _WORTH_A_POOL:
        return
    units = [
        WorkUnit(name=f"figure/{i}", function=draw, arguments={"plot": plot}) for i, plot in enumerate(plots)
    ]
    with make_executor(jobs) as workers:
        outcomes = execute(units, workers)
    remember({plot: outcomes[unit.name].value for plot, unit in zip(plots, units, strict=True)})


def _expected(ledger: Ledger, path: Path | None, *, complete: bool) -> Mapping[str, Expectation]:
    """Return what is expected: by the papers' own files, or by the file at `path`."""
    from dpsco_verify.ledger.expectations import load_expectations, require_complete

    if path is None:
        return ledger.expectations
    if not complete:
        return load_expectations(path) if path.exists() else {}
    return require_complete(load_expectations(path), [claim.key for claim in ledger.claims], where=str(path))


def _update(ledger: Ledger, record: AuditRecord, expected: Mapping[str, Expectation], path: Path) -> None:
    from dpsco_verify.ledger.expectations import save_expectations, updated

    new = updated(expected, record.claims, [claim.key for claim in ledger.claims])
    save_expectations(new, path)
    if is_quiet():
        return
    for key in [*new, *(key for key in expected if key not in new)]:
        before, after = expected.get(key), new.get(key)
        if before != after:
            words = [entry.expected.value if entry else "(no entry)" for entry in (before, after)]
            click.echo(f"{key}: {words[0]} -> {words[1]}", err=True)
    click.echo(f"Expectations: {path}")
