"""The command line: ``dpsco-verify audit | claims | explain | replay | run``.

Results go to stdout or to files, progress and errors to stderr. Bad input is one line on stderr and exit code 2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsco_verify.errors import InputError
from dpsco_verify.ledger.gate import ExitCode
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.reporting.formats import FORMAT_NAMES

if TYPE_CHECKING:
    from dpsco_verify.evidence import AuditRecord
    from dpsco_verify.ledger.baseline import Expectation

_LOSSES = ("linear", "absolute", "quantile", "huber", "hinge", "logistic")
_STOPPING = ("loop", "text", "all-points")
_AVERAGING = ("fresh-times", "data-indices")
_NOISE = ("covariance-sigma-squared", "covariance-sigma")

_EXIT_CODES = """\b
Exit codes: 0 every verdict as expected; 1 at least one is not; 2 wrong usage or
bad input; 3 undecided (a check that had to decide could not within its budget).
"""


class _Group(click.Group):
    """A group whose commands turn :class:`InputError` into one line on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            click.echo(f"dpsco-verify: {error}", err=True)
            ctx.exit(int(ExitCode.BAD_INPUT))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
@click.version_option(package_name="dpsco-verify")
def main() -> None:
    """Verify the claims of a paper on differentially private stochastic convex optimization."""


@main.command(epilog=_EXIT_CODES)
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
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
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
    type=click.Choice(FORMAT_NAMES),
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
    out: Path,
    formats: tuple[str, ...],
    baseline: Path | None,
    update_baseline: bool,  # noqa: FBT001  click passes options by name
) -> None:
    """Run the ledger, write the reports, and gate on the verdicts."""
    from rich.console import Console

    from dpsco_verify.ledger.audit import run_audit
    from dpsco_verify.ledger.baseline import load_baseline
    from dpsco_verify.ledger.registry import select_claims
    from dpsco_verify.reporting import check_writable, print_report, write_reports

    if update_baseline and os.environ.get("CI", "").lower() in {"true", "1"}:
        raise InputError(
            f"update_baseline=True is refused where CI={os.environ['CI']}: a gate does not choose what it expects; "
            "run it on your own machine and commit the file"
        )
    claims = select_claims(select, ignore)
    expectations = (
        {} if update_baseline and baseline is not None and not baseline.exists() else load_baseline(baseline)
    )
    check_writable(out)
    with _progress() as progress:
        result = run_audit(
            claims,
            profile=Profile(profile),
            seed=seed,
            jobs=jobs,
            baseline=expectations,
            progress=progress,
        )
    write_reports(result.record, out, formats or FORMAT_NAMES, extra_files=dict(result.certificates))
    print_report(result.record, Console())
    click.echo(f"Reports: {out}")
    if update_baseline:
        _update_baseline(result.record, expectations, baseline)
        sys.exit(int(ExitCode.AS_EXPECTED))
    sys.exit(result.record.exit_code)


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


@main.command()
def claims() -> None:
    """List every claim and reading with its expected verdict."""
    from dpsco_verify.ledger.baseline import load_baseline
    from dpsco_verify.ledger.registry import all_claims

    expectations = load_baseline()
    for claim in all_claims():
        expected = expectations.get(claim.key)
        word = expected.expected.value if expected else "(no expectation)"
        click.echo(f"{claim.key:42} {word:15} {claim.statement.reference:14} {claim.statement.title}")


@main.command()
@click.argument("name", metavar="ID")
def explain(name: str) -> None:
    """Print the statement ID, its readings, and how each is decided."""
    from dpsco_verify.ledger.explain import explanation

    click.echo(explanation(name))


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--loss", type=click.Choice(_LOSSES), required=True, help="The loss f(w, z).")
@click.option(
    "--radius", type=float, required=True, help="W is the l2 ball of this radius about 0; D is twice that."
)
@click.option("--lipschitz", type=float, required=True, help="L, the largest norm of a subgradient.")
@click.option("--sigma", type=float, help="The noise; or else --epsilon and --delta.")
@click.option("--epsilon", type=float, help="The epsilon of Theorem 5.3, whose schedule is then used.")
@click.option("--delta", type=float, help="The delta (and delta') of Theorem 5.3.")
@click.option("--level", type=float, default=0.5, show_default=True, help="The level of the quantile loss.")
@click.option(
    "--threshold", type=float, default=1.0, show_default=True, help="The threshold of the Huber loss."
)
@click.option(
    "--initial-point",
    metavar="W,W,...",
    help="The first iterate.  [default: the minimiser of the norm over W]",
)
@click.option("--batch-size", type=int, default=1, show_default=True, help="The m of Section 5.")
@click.option(
    "--stopping", type=click.Choice(_STOPPING), default="loop", show_default=True, help="When to stop."
)
@click.option(
    "--averaging",
    type=click.Choice(_AVERAGING),
    default="fresh-times",
    show_default=True,
    help="What to average.",
)
@click.option(
    "--noise", type=click.Choice(_NOISE), default=_NOISE[0], show_default=True, help="The noise's covariance."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the run.")
@click.option("--outside-regime", type=click.Choice(["error", "allow"]), default="error", show_default=True)
def run(
    data: Path,
    initial_point: str | None,
    batch_size: int,
    stopping: str,
    averaging: str,
    noise: str,
    **settings: Any,
) -> None:
    """Run Algorithm 1 once on DATA, comma-separated numbers, one point a line; print JSON.

    A point is z for the linear loss, and features followed by a target (or a label of -1 or 1) for the others.
    """
    import json

    from dpsco_verify.algorithm.on_file import Request, run_on_file
    from dpsco_verify.algorithm.options import Averaging, NoiseConvention, Options, StoppingRule

    start = None
    if initial_point is not None:
        try:
            start = tuple(float(part) for part in initial_point.split(","))
        except ValueError:
            raise InputError(
                f"initial_point={initial_point!r} is no list of numbers; give w1,w2,..."
            ) from None
    options = Options(
        stopping=StoppingRule(stopping),
        averaging=Averaging(averaging),
        noise=NoiseConvention(noise),
        batch_size=batch_size,
    )
    result = run_on_file(data, Request(initial_point=start, options=options, **settings))
    click.echo(json.dumps(result, indent=2, allow_nan=False))


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERTIFICATE...")
def replay(files: tuple[Path, ...]) -> None:
    """Check certificates with the independent checker.

    Exit codes: 0 all accepted; 1 at least one rejected; 2 a file cannot be read.
    """
    from dpsco_verify.evidence import checker

    worst = 0
    for file in files:
        try:
            proven = checker.check(checker.decode(file.read_bytes()))
        except (OSError, checker.Unreadable) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            click.echo(
                f"dpsco-verify: certificate={str(file)!r} cannot be read ({reason}); give a JSON file",
                err=True,
            )
            worst = int(ExitCode.BAD_INPUT)
        except checker.Rejected as reason:
            click.echo(f"rejected  {file}: {reason}")
            worst = max(worst, int(ExitCode.NOT_AS_EXPECTED))
        else:
            click.echo(f"accepted  {file}: {proven}")
    sys.exit(worst)


class _progress:  # noqa: N801  used like a function
    """A progress bar on stderr while the block runs; nothing when stderr is no terminal."""

    def __enter__(self) -> Callable[[int, int, str], None] | None:
        self._bar: Any = None
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("verifying"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        bar = self._bar
        task = bar.add_task("", total=None)
        bar.start()

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=name)

        return report

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
