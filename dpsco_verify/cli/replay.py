"""``dpsco-verify replay``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dpsco_verify.cli.options import echo_json, json_option
from dpsco_verify.evidence.exit_code import ExitCode


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERTIFICATE...")
@json_option
def replay(files: tuple[Path, ...], *, as_json: bool) -> None:
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
    checked: list[dict[str, str]] = []
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
            checked.append({"state": "rejected", "file": str(file), "says": str(reason)})
            worst = max(worst, int(ExitCode.NOT_AS_EXPECTED))
        else:
            checked.append({"state": "accepted", "file": str(file), "says": str(decided)})
        if checked and not as_json:
            click.echo("{state}  {file}: {says}".format(**checked.pop()))
    if checked:
        echo_json(checked)
    sys.exit(worst)
