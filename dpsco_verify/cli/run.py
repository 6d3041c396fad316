"""``dpsco-verify run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpsco_verify.choices import LOSS_NAMES, Averaging, NoiseConvention, StoppingRule
from dpsco_verify.cli.options import ChoiceOf
from dpsco_verify.errors import InputError


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--loss", type=click.Choice(LOSS_NAMES), required=True, help="The loss f(w, z).")
@click.option(
    "--radius", type=float, required=True, help="W is the l2 ball of this radius about 0; D is twice that."
)
@click.option("--lipschitz", type=float, required=True, help="L, the largest norm of a subgradient.")
@click.option("--sigma", type=float, help="The noise; or else --epsilon and --delta.")
@click.option(
    "--epsilon",
    type=float,
    help="The total epsilon: of the whole run, as `gate` and `compare` mean it.",
)
@click.option("--delta", type=float, help="The total delta.")
@click.option(
    "--noise-from",
    type=click.Choice(["accountant", "theorem"]),
    default="accountant",
    show_default=True,
    help="For --epsilon and --delta: the least noise that the bound on a whole run proves, or Theorem 5.3's.",
)
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
    "--stopping",
    type=ChoiceOf(StoppingRule),
    default=StoppingRule.LOOP.value,
    show_default=True,
    help="When to stop.",
)
@click.option(
    "--averaging",
    type=ChoiceOf(Averaging),
    default=Averaging.FRESH_TIMES.value,
    show_default=True,
    help="What to average.",
)
@click.option(
    "--noise",
    type=ChoiceOf(NoiseConvention),
    default=NoiseConvention.COVARIANCE_SIGMA_SQUARED.value,
    show_default=True,
    help="The noise's covariance.",
)
@click.option(
    "--seed",
    type=int,
    help="For tests: draw everything from this seed, which makes the output not private.  "
    "[default: the operating system's entropy]",
)
@click.option(
    "--outside-regime",
    type=click.Choice(["error", "allow"]),
    default="error",
    show_default=True,
    help="With --noise-from theorem: what happens outside its conditions, where the paper claims nothing.",
)
def run(
    data: Path,
    initial_point: str | None,
    batch_size: int,
    stopping: StoppingRule,
    averaging: Averaging,
    noise: NoiseConvention,
    **settings: Any,
) -> None:
    """Run Algorithm 1 once on DATA, comma-separated numbers, one point a line; print JSON.

    A point is z for the linear loss, and features followed by a target (or a label of -1 or 1) for the others.

    For --epsilon and --delta the noise is calibrated for the whole run; "calibrated_from" says by what, and "guarantee"
    holds the bounds on delta and a certificate.

    The noise comes from the operating system's entropy, so no two runs are alike.
    """
    import json

    from dpsco_verify.algorithm.on_file import Request, run_on_file
    from dpsco_verify.algorithm.options import Options

    start = None
    if initial_point is not None:
        try:
            start = tuple(float(part) for part in initial_point.split(","))
        except ValueError:
            raise InputError(
                f"initial_point={initial_point!r} is not a list of numbers; give w1,w2,..."
            ) from None
    options = Options(stopping=stopping, averaging=averaging, noise=noise, batch_size=batch_size)
    result = run_on_file(data, Request(initial_point=start, options=options, **settings))
    if result["reproducible"]:
        click.echo(
            f"seed={result['seed']} makes the run reproducible, which is for tests: the output is not private; leave "
            "--seed out to release it",
            err=True,
        )
    elif not result["private"]:
        click.echo("sigma=0.0 adds no noise: the output is not private", err=True)
    click.echo(json.dumps(result, indent=2, allow_nan=False))
