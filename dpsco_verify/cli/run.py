"""``dpsco-verify run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpsco_verify.choices import LOSS_NAMES, Averaging, NoiseConvention, StoppingRule
from dpsco_verify.cli.options import ChoiceOf
from dpsco_verify.cli.progress import progress, quiet_option
from dpsco_verify.errors import InputError


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--loss", type=click.Choice(LOSS_NAMES), required=True, help="The loss f(w, z).")
@click.option(
    "--radius", type=float, required=True, help="W is the l2 ball of this radius about 0; D is twice that."
)
@click.option(
    "--lipschitz",
    type=float,
    required=True,
    help="L, the largest norm of a subgradient: the features are clipped to it.",
)
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
    "--classes",
    metavar="NAME,NAME",
    help="The labels that stand for -1 and +1, for hinge and logistic; one with a comma in double quotes.  "
    "[default: those of the file]",
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
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the JSON here, and print in words what was spent.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the certificate of the noise here, for `replay`.",
)
@quiet_option("Show no progress; warnings of what is not private stay.")
def run(
    data: Path,
    classes: str | None,
    output: Path | None,
    certificate: Path | None,
    initial_point: str | None,
    batch_size: int,
    stopping: StoppingRule,
    averaging: Averaging,
    noise: NoiseConvention,
    **settings: Any,
) -> None:
    """Run Algorithm 1 once on DATA, a CSV file of numbers, one point a line; print JSON.

    A point is z for the linear loss, and features followed by a target for the others; for hinge and logistic by
    one of two labels, numbers or names. The first line may name the columns; values are separated by commas,
    semicolons, tabs or blanks. There is no intercept; a column of ones is one.

    For --epsilon and --delta the noise is calibrated for the whole run; "calibrated_from" says by what, and
    "guarantee" holds the bounds on delta and a certificate.

    The noise comes from the operating system's entropy, so no two runs are alike.
    """
    import csv
    import json

    from dpsco_verify.algorithm.on_file import Request, run_on_file
    from dpsco_verify.algorithm.options import Options
    from dpsco_verify.cli.account import require_folders, write_whole

    start = None
    if initial_point is not None:
        try:
            start = tuple(float(part) for part in initial_point.split(","))
        except ValueError:
            raise InputError(
                f"initial_point={initial_point!r} is not a list of numbers; give w1,w2,..."
            ) from None
    options = Options(stopping=stopping, averaging=averaging, noise=noise, batch_size=batch_size)
    labels = None if classes is None else tuple(label.strip() for label in next(csv.reader([classes]), []))
    request = Request(initial_point=start, options=options, classes=labels, **settings)
    require_folders(certificate=certificate, output=output)
    with progress("running", counted=False):
        result = run_on_file(data, request)
    if result["reproducible"]:
        click.echo(
            f"seed={result['seed']} makes the run reproducible, which is for tests: the output is not private; leave "
            "--seed out to release it",
            err=True,
        )
    elif not result["private"]:
        click.echo("sigma=0.0 adds no noise: the output is not private", err=True)
    if result["classes_from_data"]:
        click.echo(
            f"the classes {' and '.join(result['classes'])} were read from the data, which no guarantee covers; give "
            f"--classes {_as_option(result['classes'])}",
            err=True,
        )
    if result["remark"] is not None:
        click.echo(result["remark"], err=True)
    if certificate is not None:
        shown = None if result["guarantee"] is None else result["guarantee"]["certificate"]
        if shown is None:
            raise InputError(
                f"certificate={str(certificate)!r} cannot be written, as there is none for such noise; leave it out"
            )
        write_whole("certificate", certificate, json.dumps(shown, indent=2).encode() + b"\n")
    text = json.dumps(result, indent=2, allow_nan=False)
    if output is None:
        click.echo(text)
        return
    write_whole("output", output, text.encode() + b"\n")
    click.echo(_spent(result))
    click.echo(f"written to {output}")


def _as_option(classes: list[str]) -> str:
    """Return the labels as --classes takes them in a shell."""
    import shlex

    return shlex.quote(",".join(f'"{label}"' if "," in label else label for label in classes))


def _spent(result: dict[str, Any]) -> str:
    """Return what a run has spent, by what, in one line."""
    guarantee, claimed = result["guarantee"], result["claimed_by_the_paper"]
    if not result["private"]:
        return "spent: everything, as the output is not private"
    if guarantee is not None:
        return (
            f"spent: epsilon={guarantee['epsilon']!r} and delta={guarantee['delta']!r}, "
            f"{guarantee['relation']} neighbours, calibrated from {result['calibrated_from']}"
        )
    if claimed["epsilon"] is not None:
        return f"spent: epsilon={claimed['epsilon']!r} and delta={claimed['delta']!r}, by {result['calibrated_from']}"
    return f"spent: not known for {result['calibrated_from']}; `dpsco-verify account` says what is"
