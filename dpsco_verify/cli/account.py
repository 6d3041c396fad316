"""``dpsco-verify account``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsco_verify.cli.options import echo_json, json_option, run_options
from dpsco_verify.cli.progress import NO_PROGRESS, progress, quiet_option
from dpsco_verify.errors import InputError

if TYPE_CHECKING:
    from dpsco_verify.algorithm.accounting import Account


@click.command()
@run_options
@click.option("--sigma", type=float, required=True, help="The noise's standard deviation in each coordinate.")
@click.option(
    "--epsilon", type=float, help="Print delta at this epsilon.  [default: 1, if --delta is not given]"
)
@click.option(
    "--delta", type=float, help="Print epsilon at this delta.  [default: 1e-6, if --epsilon is not given]"
)
@json_option
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg", help="Draw delta(epsilon).")
@quiet_option(NO_PROGRESS)
def account(
    n: int,
    sigma: float,
    lipschitz: float,
    points: int | None,
    batch_size: int,
    epochs: int,
    epsilon: float | None,
    delta: float | None,
    *,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Print bounds on the privacy of a whole run, beside what Theorem 5.3 promises.

    Neighbours differ in one point that is replaced. The upper bound holds whatever is seen of a run. The lower
    bounds are those of an instance of which every noisy step is seen, and which draws were repeats; and of one of
    which the returned average is seen alone.
    """
    from dpsco_verify.algorithm import accounting
    from dpsco_verify.privacy.whole_run import WholeRun

    if epsilon is None and delta is None:
        epsilon, delta = 1.0, 1e-6
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plot={str(plot)!r} is not an SVG file; give a name that ends in .svg")
    require_folders(plot=plot)
    run = WholeRun(n=n, sigma=sigma, lipschitz=lipschitz, points=points, batch_size=batch_size, epochs=epochs)
    with progress("bounding", counted=False):
        found = accounting.account(run, epsilon=epsilon, delta=delta)
        drawn = None if plot is None else accounting.curves(run)
    if plot is not None and drawn is not None:
        from dpsco_verify.reporting.drawing import standalone

        write_whole("plot", plot, standalone(drawn))
    if as_json:
        echo_json(found.as_dict())
    else:
        click.echo(_as_text(found))


def require_folders(**files: Path | None) -> None:
    """Refuse a file whose folder is not there, or that is a folder, before anything is computed for it."""
    for name, path in files.items():
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            why = "it is a folder" if path.is_dir() else "no such folder"
            raise InputError(f"{name}={str(path)!r} cannot be written ({why}); give a writable file")


def write_whole(name: str, path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    scratch = path.with_name(f".{path.name}.part")
    try:
        scratch.write_bytes(data)
        scratch.replace(path)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError, ValueError):
            scratch.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name}={str(path)!r} cannot be written ({reason}); give a writable file") from None


def _as_text(found: Account) -> str:
    run = found.run
    noise = f"sigma/L = {2.0 / (run.distance * run.batch_size):.6g}"
    epochs = "1 epoch" if run.epochs == 1 else f"{run.epochs} epochs"
    steps = f"n = {run.n}, {run.law[0][0]} points used in batches of {run.batch_size}, {epochs}, {noise}, replace-one"
    columns = [["", "lower (output alone)", "lower (pattern shown)", "upper (every view)", "Theorem 5.3"]]
    if found.epsilon is not None:
        lower = [_word(found.delta_lower_output, "not known"), _word(found.delta_lower)]
        promise = _word(found.delta_theorem, "no promise")
        columns.append([f"delta at epsilon = {found.epsilon:g}", *lower, _word(found.delta_upper), promise])
    if found.delta is not None:
        lower = [_word(found.epsilon_lower_output, "not known"), _word(found.epsilon_lower)]
        promise = _word(found.epsilon_theorem, "no promise")
        columns.append([f"epsilon at delta = {found.delta:g}", *lower, _word(found.epsilon_upper), promise])
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]
    return "\n".join([steps, "", *lines])


def _word(value: float | None, none: str = "") -> str:
    return none if value is None else f"{value:.6g}"
