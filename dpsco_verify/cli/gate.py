"""``dpsco-verify gate``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsco_verify.choices import (
    CANARY_ERROR,
    DEFAULT_PROFILE,
    ERROR_BUDGET,
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    PAIR_EXAMPLES,
    SAMPLES,
    Profile,
    Relation,
)
from dpsco_verify.cli.gate_entries import OF_A_VERDICT, OF_CANARIES, gate_from_file, gate_of_options
from dpsco_verify.cli.gate_optimiser import optimiser_options
from dpsco_verify.cli.gate_words import MORE, command_of, in_options, of_the_scores, option_name, with_options
from dpsco_verify.cli.options import ChoiceOf, ChoiceOrName, chosen_formats, format_option
from dpsco_verify.cli.progress import NO_REPORT, is_quiet, progress, quiet_option
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.exit_code import ExitCode

if TYPE_CHECKING:
    from dpsco_verify.auditing import EpsilonEstimate
    from dpsco_verify.evidence import AuditRecord
    from dpsco_verify.execution.own_process import Tell
    from dpsco_verify.gating.config import GateConfig


@click.command(epilog=MORE)
@click.argument("mechanism", metavar="[MODULE:MECHANISM]", required=False)
@click.option("--command", metavar="CMD", help="Audit this program instead; it answers requests (see below).")
@click.option(
    "--canaries",
    metavar="FILE",
    help="Audit a training run by the scores of its canaries instead (see below).",
)
@click.option(
    "--method",
    type=click.Choice(["one-run-f-dp", "one-run-dp", "clopper-pearson"]),
    help="How canaries' scores are judged; clopper-pearson is for many runs.  [default: one-run-f-dp]",
)
@click.option(
    "--family",
    type=click.Choice(["approximate", "gaussian"]),
    help="Among which mechanisms canaries bound epsilon.  [default: the claim's]",
)
@click.option(
    "--guesses", type=click.IntRange(min=1), help="How many canaries are guessed, if decided beforehand."
)
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="Run the audits of this TOML file."
)
@click.option(
    "--select", multiple=True, metavar="ID", help="Run only this audit of the configuration; repeatable."
)
@click.option("--pair", multiple=True, metavar="PAIR", help="A pair of neighbouring data sets; repeatable.")
@click.option("--epsilon", type=float, help="The claim: (epsilon, delta)-differential privacy.")
@click.option("--delta", type=float, help="Its delta.  [default: 0]")
@click.option("--rho", type=float, help="The claim: rho-zCDP.")
@click.option("--mu", type=float, help="The claim: mu-GDP.")
@click.option("--renyi-alpha", type=float, help="The claim: Renyi-DP of this order, with --renyi-epsilon.")
@click.option("--renyi-epsilon", type=float, help="Its epsilon.")
@click.option(
    "--relation",
    type=ChoiceOrName(Relation),
    help="Refuse pairs that are not neighbours in this sense; or MODULE:NAME of one of your own, or of a predicate.",
)
@click.option(
    "--profile",
    type=ChoiceOf(Profile),
    help="Outputs a data set, at most: "
    + ", ".join(f"{profile.value} {samples}" for profile, samples in SAMPLES.items())
    + f".  [default: {DEFAULT_PROFILE}]",
)
@click.option(
    "--samples", type=click.IntRange(min=FEWEST_SAMPLES), help="Outputs a data set, at most, instead."
)
@click.option(
    "--error-budget",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help=f"The probability, at most, that anything alarms falsely.  [default: {ERROR_BUDGET:g}; with "
    f"--canaries {CANARY_ERROR:g}]",
)
@click.option("--seed", type=click.IntRange(min=0), help="The root seed.  [default: 0]")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    help="Seconds that one call, or one answer of a program, may take.  [default: 60]",
)
@click.option(
    "--total-time-limit",
    type=click.FloatRange(0, min_open=True),
    help="Seconds that the whole audit may take; then it is undecided, or what it has found.  [default: none]",
)
@click.option(
    "--epsilon-of-interest",
    type=click.FloatRange(0, min_open=True),
    help="Undecided unless an epsilon of this size would have been found.",
)
@click.option(
    "--multiple-of-interest",
    type=click.FloatRange(1, min_open=True),
    help="Undecided unless a violation of so many times the claim would have been found; more lowers the bar.  "
    f"[default: {MULTIPLE_OF_INTEREST:g}]",
)
@click.option(
    "--pair-examples",
    type=click.IntRange(min=1),
    help=f"How many pairs of a strategy are tried.  [default: {PAIR_EXAMPLES}]",
)
@click.option(
    "--per-call", is_flag=True, help="The mechanism takes a data set (and rng) and returns one output."
)
@click.option("--floating-point", is_flag=True, help="Judge the last bits of doubles too.")
@click.option("--unseeded", is_flag=True, help="The program draws its own randomness.")
@click.option(
    "--expect",
    type=click.Choice(["not_violated", "violated"]),
    help="The verdict that is no surprise.  [default: not_violated]",
)
@click.option("--name", metavar="TEXT", help="What the report calls the mechanism.")
@optimiser_options
@click.option(
    "--estimate",
    is_flag=True,
    help="Print the largest epsilon at --delta that the outputs refute, whatever is claimed, and gate nothing.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/gate"),
    show_default=True,
    help="The folder for the reports; replaced as a whole, or not at all.",
)
@format_option
@quiet_option(NO_REPORT)
def gate(
    mechanism: str | None,
    config: Path | None,
    select: tuple[str, ...],
    out: Path,
    formats: tuple[str, ...],
    **settings: Any,
) -> None:
    """Audit mechanisms of your own against the privacy that they claim.

    Example: dpsco-verify gate mymodule:laplace --pair mymodule:pair --epsilon 1
    """
    if (
        sum(given is not None for given in (mechanism, settings["command"], settings["canaries"], config))
        != 1
    ):
        raise click.UsageError("give one of MODULE:MECHANISM, --command, --canaries and --config")
    if config is None and select:
        raise click.UsageError("--select chooses among the audits of a --config")
    with _named_as_options(config):
        if settings.pop("estimate"):
            _estimate(mechanism, config, settings)
        else:
            _gate(mechanism, config, select, out, formats, settings)


def _gate(
    mechanism: str | None,
    config: Path | None,
    select: tuple[str, ...],
    out: Path,
    formats: tuple[str, ...],
    settings: dict[str, Any],
) -> None:
    """Judge, write the reports, and exit."""
    from rich.console import Console

    from dpsco_verify.reporting import check_writable, print_report, write_reports

    chosen = gate_from_file(config, settings) if config is not None else gate_of_options(mechanism, settings)
    written = chosen_formats(formats)
    check_writable(out)
    profile = f"{settings['samples']} samples" if settings["samples"] is not None else None
    with _ended_in_order():
        record, certificates = _judged(partial(_judge, chosen, config, select, profile))
        record = record if config is not None else with_options(record)
        write_reports(record, out, written, extra_files=certificates)
    if not is_quiet():
        print_report(record, Console())
        for line in of_the_scores(record):
            click.echo(line)
        click.echo(f"Reports: {out}")
    sys.exit(record.exit_code)


def _estimate(mechanism: str | None, config: Path | None, settings: dict[str, Any]) -> None:
    """Print a lower bound on ε for each pair."""
    given = [option_name(name) for name in (*OF_A_VERDICT, "total_time_limit") if settings[name] is not None]
    given += ["--config"] if config is not None else []
    given += [f"--{name}" for name in OF_CANARIES if settings[name] is not None]
    given += ["--optimiser"] if settings["optimiser"] else []
    if given:
        raise click.UsageError(f"--estimate gates nothing and cannot be combined with {', '.join(given)}")
    chosen = gate_of_options(mechanism, settings)
    with _ended_in_order():
        found = _judged(partial(_bounds, chosen))
    for estimate in found:
        click.echo(estimate.summary)


def _bounds(chosen: GateConfig, tell: Tell) -> tuple[EpsilonEstimate, ...]:
    """Return the lower bounds, in a process whose mechanisms may do what they like to it."""
    from dpsco_verify.gating.load import make_importable
    from dpsco_verify.gating.run import run_estimates

    make_importable(Path.cwd())
    return run_estimates(chosen, progress=tell)


def _judge(
    chosen: GateConfig, config: Path | None, select: tuple[str, ...], profile: str | None, tell: Tell
) -> tuple[AuditRecord, dict[str, bytes]]:
    """Run the gate, whose mechanisms may do what they like to this process."""
    from dpsco_verify.gating.load import make_importable
    from dpsco_verify.gating.run import run_gate

    make_importable(Path.cwd())
    record, certificates = run_gate(
        chosen,
        select=select,
        profile=profile,
        reproduce=lambda one: command_of(one, chosen, config),
        progress=tell,
    )
    return record, dict(certificates)


def _judged(judge: Callable[[Tell], Any]) -> Any:
    """Return what `judge` returns in a process of its own; where that is ended, say so and exit."""
    from dpsco_verify.execution.own_process import OwnProcess, ProcessEndedError

    at = "loading the mechanisms"
    # The process first: the progress bar has a thread.
    with OwnProcess(judge) as process, progress("auditing") as report:

        def heard(done: int, total: int, key: str) -> None:
            nonlocal at
            at = f"auditing {key}"
            if report is not None:
                report(done, total, key)

        try:
            return process.answer(heard)
        except ProcessEndedError as error:
            ended = error
    click.echo(
        f"dpsco-verify: while {at} the judging process {ended}, so there is no verdict and nothing was written; a "
        "mechanism must return its outputs and must not end its process",
        err=True,
    )
    sys.exit(int(ExitCode.BROKE_OFF))


@contextmanager
def _named_as_options(config: Path | None) -> Iterator[None]:
    """Let messages name what was given as it was given: by the names of a file, or by options."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error) if config is not None else in_options(error)) from error


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Turn a request to end into an orderly exit, so that a program under audit is ended and no file is left behind."""

    def stop(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, stop) for number in _requests_to_end()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _requests_to_end() -> tuple[signal.Signals, ...]:
    import threading

    if threading.current_thread() is not threading.main_thread():
        return ()
    return tuple(
        number
        for name in ("SIGTERM", "SIGHUP")
        if (number := getattr(signal, name, None)) is not None
        # Whoever started this with the signal ignored, as nohup does, does not want it to end.
        and signal.getsignal(number) == signal.SIG_DFL
    )
