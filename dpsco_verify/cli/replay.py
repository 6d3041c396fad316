"""``dpsco-verify replay``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dpsco_verify.evidence.exit_code import ExitCode


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERTIFICATE...")
def replay(files: tuple[Path, ...]) -> None:
    """Check certificates with the independent checker.

    For each that is accepted it prints what it decides (certifies, refutes or supports which reading), over which
    range, and what is not in the certificate.

    Exit codes: 0 all accepted; 1 at least one rejected; 2 a file cannot be read; 70 broken off: a fault of the
    program, and no verdict.
    """
    from dpsco_verify.evidence import checker
    from dpsco_verify.ledger.installed import installed_ledger

    kinds = installed_ledger().kinds
    worst = 0
    for file in files:
        try:
            decided = kinds.check(kinds.decode(file.read_bytes()))
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
            click.echo(f"accepted  {file}: {decided}")
    sys.exit(worst)
