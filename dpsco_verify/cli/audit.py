"""``dpsco-verify audit``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsco_verify.cli.options import EXIT_CODES, FORMATS, chosen_executor, default_store, executor_options
from dpsco_verify.cli.progress import progress
from dpsco_verify.errors import InputError
from dpsco_verify.ledger.gate import ExitCode
from dpsco_verify.ledger.profile import Profile

if TYPE_CHECKING:
    from dpsco_verify.evidence import AuditRecord
    from dpsco_verify.ledger.baseline import Expectation


_WORTH_A_POOL = 16
"""So many figures take longer to draw than processes to start."""


@click.command(epilog=EXIT_CODES)
@click.option(
    "--profile",
    type=click.Choice([profile.value for profile in Profile]),
    default=Profile.STANDARD.value,
    show_default=True,
    help="How much work to do.",
)
@click.option(
    "--select", multiple=True, metavar="ID", help="Verify only this claim (id or id/reading); repeatable."
)
@click.option("--ignore", multiple=True, metavar="ID", help="Leave this claim out; repeatable.")
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
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(FORMATS),
    help="Write only this format; repeatable.  [default: all]",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, exists=False),
    default=None,
    help="The expected verdicts.  [default: the package's claims.toml]",
)
@click.option(
    "--update-baseline",
    is_flag=True,
    help="Write the verdicts found to the baseline instead of gating on it; refused where CI=true.",
)
def audit(
    profile: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    seed: int,
    jobs: int,
    executor: str | None,
    scheduler: str | None,
    store: Path | None,
    no_store: bool,  # noqa: FBT001  click passes options by name
    accumulate: bool,  # noqa: FBT001  click passes options by name
    out: Path,
    formats: tuple[str, ...],
    baseline: Path | None,
    update_baseline: bool,  # noqa: FBT001  click passes options by name
) -> None:
    """Run the ledger, write the reports, and gate on the verdicts."""
    from rich.console import Console

    from dpsco_verify.comparison import plan_for
    from dpsco_verify.faults import EXHIBITS, quick_exhibits
    from dpsco_verify.ledger.audit import run_audit
    from dpsco_verify.ledger.baseline import load_baseline
    from dpsco_verify.ledger.registry import select_claims
    from dpsco_verify.reporting import check_writable, print_report, write_reports
    from dpsco_verify.store import EvidenceStore

    if no_store and store is not None:
        raise click.UsageError("--no-store stands beside --store")
    if no_store and accumulate:
        raise InputError(
            "accumulate=True stands beside no_store=True, and the earlier runs are in the store; leave one out"
        )
    if update_baseline and os.environ.get("CI", "").lower() in {"true", "1"}:
        raise InputError(
            f"update_baseline=True is refused where CI={os.environ['CI']}: a gate does not choose what it expects; "
            "run it on your own machine and commit the file"
        )
    claims = select_claims(select, ignore)
    expectations = (
        {} if update_baseline and baseline is not None and not baseline.exists() else load_baseline(baseline)
    )
    choice = chosen_executor(jobs, executor, scheduler)
    target = check_writable(out)
    kept = None if no_store else store or default_store(target)
    if kept is not None and target in Path(os.path.realpath(kept)).parents:
        raise InputError(
            f"store={str(kept)!r} is in out={str(out)!r}, which is replaced as a whole; give another place"
        )
    with progress() as report, nullcontext() if kept is None else EvidenceStore(kept) as evidence:
        result = run_audit(
            claims,
            profile=Profile(profile),
            seed=seed,
            executor=choice,
            store=evidence,
            accumulate=accumulate,
            baseline=expectations,
            # The museum audits the checks as a whole; who selects claims wants these alone.
            exhibits=() if select or ignore else quick_exhibits() if profile == Profile.QUICK else EXHIBITS,
            comparison=None if select or ignore else plan_for(profile),
            progress=report,
        )
    if jobs > 1 and {"html", "figures"} & set(formats or FORMATS):
        _draw_ahead(result.record, jobs)
    write_reports(result.record, out, formats or FORMATS, extra_files=dict(result.certificates))
    print_report(result.record, Console())
    click.echo(f"Reports: {out}")
    if kept is not None and result.recalled:
        click.echo(f"Store: {kept}; {result.recalled} of {result.units} units of work were finished before")
    if update_baseline:
        _update_baseline(result.record, expectations, baseline)
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


def _update_baseline(record: AuditRecord, expectations: Mapping[str, Expectation], path: Path | None) -> None:
    from dpsco_verify.ledger.baseline import package_baseline, save_baseline, updated
    from dpsco_verify.ledger.registry import all_claims

    target = path if path is not None else package_baseline()
    new = updated(expectations, record.claims, [claim.key for claim in all_claims()])
    save_baseline(new, target)
    for key in [*new, *(key for key in expectations if key not in new)]:
        before, after = expectations.get(key), new.get(key)
        if before != after:
            words = [entry.expected.value if entry else "(no entry)" for entry in (before, after)]
            click.echo(f"{key}: {words[0]} -> {words[1]}", err=True)
    click.echo(f"Baseline: {target}")
