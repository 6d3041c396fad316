"""``dpsco-verify compare``."""

from __future__ import annotations

import sys

import click

from dpsco_verify.choices import ExecutorKind, Profile
from dpsco_verify.cli.completion import compared_ids, system_ids
from dpsco_verify.cli.options import ChoiceOf, chosen_executor, executor_options, json_option, printed_form
from dpsco_verify.cli.progress import NO_REPORT, is_quiet, progress, quiet_option
from dpsco_verify.evidence.exit_code import ExitCode

_MORE = """\b
Exit codes: 0 no audit found a violation; 1 at least one did; 2 wrong usage or
bad input; 70 broken off: a fault of the program, and no verdict.
"""


@click.command(epilog=_MORE)
@click.option(
    "--profile",
    type=ChoiceOf(Profile),
    default=Profile.QUICK.value,
    show_default=True,
    help="Which problems, sizes and numbers of runs where no other option says so.",
)
@click.option(
    "--problem",
    "problems",
    multiple=True,
    metavar="ID",
    shell_complete=compared_ids,
    help="Compare on this problem; repeatable.",
)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="ID",
    shell_complete=system_ids,
    help="Compare this system; repeatable.  [default: all]",
)
@click.option(
    "--n", "sizes", multiple=True, type=click.IntRange(min=2), help="Compare at this n; repeatable."
)
@click.option(
    "--epsilon",
    "epsilons",
    multiple=True,
    type=float,
    help="Compare at this ε; repeatable: the sweep over n is at the first.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The δ of all budgets.")
@click.option("--runs", type=click.IntRange(min=2), help="Independent runs at each place.")
@click.option(
    "--most-seconds",
    type=float,
    help="Leave a system out where its runs at one place would cost more than about this.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The root seed.")
@executor_options
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "markdown", "json"]),
    help="What is printed.  [default: table]",
)
@json_option
@quiet_option(NO_REPORT)
def compare(
    profile: Profile,
    problems: tuple[str, ...],
    systems: tuple[str, ...],
    sizes: tuple[int, ...],
    epsilons: tuple[float, ...],
    delta: float,
    runs: int | None,
    most_seconds: float | None,
    seed: int,
    jobs: int,
    executor: ExecutorKind | None,
    scheduler: str | None,
    output: str | None,
    *,
    as_json: bool,
) -> None:
    """Run Algorithm 1 and its neighbours on the same samples at the same privacy, and audit each."""
    from rich.console import Console

    from dpsco_verify.comparison import plan_for, run_comparison
    from dpsco_verify.evidence.records_codec import encode_comparison
    from dpsco_verify.reporting import comparison as words
    from dpsco_verify.reporting.terminal import print_comparison

    form = printed_form(output, as_json=as_json)
    plan = plan_for(
        profile,
        problems=problems,
        systems=systems,
        sizes=sizes,
        epsilons=epsilons,
        delta=delta,
        runs=runs,
        most_seconds=most_seconds,
    )
    choice = chosen_executor(jobs, executor, scheduler)
    with progress() as report:
        record = run_comparison(plan, seed=seed, executor=choice, progress=report)
    if form == "json":
        click.echo(encode_comparison(record), nl=False)
    elif form == "markdown":
        click.echo("\n\n".join(words.markdown_blocks(record)))
    elif not is_quiet():
        print_comparison(record, Console())
    sys.exit(int(ExitCode.NOT_AS_EXPECTED if record.violated else ExitCode.AS_EXPECTED))
