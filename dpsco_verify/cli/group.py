"""``dpsco-verify``: the group that the commands belong to.

Results go to stdout or to files, progress and errors to stderr. Bad input is one line on stderr and exit code 2; what
nobody expected is a traceback on stderr, a line that says that it is not a verdict, and exit code 70.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import click

from dpsco_verify.cli.account import account
from dpsco_verify.cli.audit import audit
from dpsco_verify.cli.calibrate import calibrate
from dpsco_verify.cli.claims import claims, explain, papers
from dpsco_verify.cli.compare import compare
from dpsco_verify.cli.completion import completion
from dpsco_verify.cli.gate import gate
from dpsco_verify.cli.history import history
from dpsco_verify.cli.museum import museum
from dpsco_verify.cli.options import EXIT_CODES
from dpsco_verify.cli.problems import problems
from dpsco_verify.cli.replay import replay
from dpsco_verify.cli.run import run
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.exit_code import ExitCode

_COMMANDS: tuple[click.Command, ...] = (
    account,
    audit,
    calibrate,
    claims,
    compare,
    completion,
    explain,
    gate,
    history,
    museum,
    papers,
    problems,
    replay,
    run,
)


class _Group(click.Group):
    """A group whose commands turn every error into an exit code that says what it is."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            click.echo(f"dpsco-verify: {error}", err=True)
            ctx.exit(int(ExitCode.BAD_INPUT))
        except KeyboardInterrupt:
            # As a shell has it; 1 would say that a verdict is not as expected.
            click.echo("dpsco-verify: interrupted", err=True)
            ctx.exit(130)
        except BrokenPipeError:
            click.echo("dpsco-verify: broken pipe: whoever read the output has gone", err=True)
            # Python would try to write the rest in the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(141)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:  # noqa: BLE001  no crash may look like a verdict
            traceback.print_exception(error)
            said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
            click.echo(
                f"dpsco-verify: broken off by a fault of the program, which is not a verdict ({said}); report it with "
                "the lines above",
                err=True,
            )
            ctx.exit(int(ExitCode.BROKE_OFF))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(package_name="dpsco-verify")
def main() -> None:
    """Verify the claims of a paper on differentially private stochastic convex optimization, and claims of your own."""


for _command in _COMMANDS:
    main.add_command(_command)
