"""``dpsco-verify calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsco_verify.cli.options import run_options
from dpsco_verify.cli.progress import NO_PROGRESS, is_quiet, progress, quiet_option

if TYPE_CHECKING:
    from dpsco_verify.privacy.whole_run import Calibration


@click.command()
@run_options
@click.option("--epsilon", type=float, required=True, help="The epsilon that the run is to have.")
@click.option("--delta", type=float, required=True, help="The delta that the run is to have.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the certificate here, for `dpsco-verify replay`.",
)
@quiet_option(NO_PROGRESS)
def calibrate(
    n: int,
    epsilon: float,
    delta: float,
    lipschitz: float,
    points: int | None,
    batch_size: int,
    epochs: int,
    certificate: Path | None,
) -> None:
    """Print the least noise that is known to make a whole run (epsilon, delta)-private, as JSON.

    Neighbours differ in one point that is replaced, and everything may be seen of a run. The certificate is checked
    by code that shares nothing with what found it; it is null for several epochs and if every point is used, and
    stderr says so.
    """
    import json

    import msgspec

    from dpsco_verify.cli.account import require_folders, write_whole
    from dpsco_verify.errors import InputError
    from dpsco_verify.privacy import whole_run

    require_folders(certificate=certificate)
    with progress("calibrating", counted=False):
        found = whole_run.calibrate(
            n=n,
            epsilon=epsilon,
            delta=delta,
            lipschitz=lipschitz,
            points=points,
            batch_size=batch_size,
            epochs=epochs,
        )
    if certificate is not None:
        if found.certificate is None:
            raise InputError(
                f"certificate={str(certificate)!r} cannot be written, as there is none for such a run; leave it out"
            )
        text = msgspec.json.format(msgspec.json.encode(found.certificate), indent=2)
        write_whole("certificate", certificate, text + b"\n")
    if found.certificate is None and not is_quiet():
        click.echo(f"no certificate: {_why_none(found)}", err=True)
    result = {
        "sigma": found.sigma,
        "sigma_over_lipschitz": found.sigma_over_lipschitz,
        "delta_upper": found.delta_upper,
        "delta_lower": found.delta_lower,
        "certificate": msgspec.to_builtins(found.certificate),
    }
    click.echo(json.dumps(result, indent=2, allow_nan=False))


def _why_none(found: Calibration) -> str:
    run = found.run
    if run.epochs > 1:
        return "several epochs are composed in doubles, with a bound on their rounding"
    if run.law[-1][0] == run.n:
        return "every point is used, and the bound is that of one Gaussian step"
    return "epsilon, delta or the noise is outside what the checker takes, and the bound is in doubles"
