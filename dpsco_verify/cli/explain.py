"""``dpsco-verify explain``."""

from __future__ import annotations

import click

from dpsco_verify.cli.completion import claim_ids
from dpsco_verify.cli.options import echo_json, json_option


@click.command()
@click.argument("name", metavar="ID", shell_complete=claim_ids)
@json_option
def explain(name: str, *, as_json: bool) -> None:
    """Print the statement ID, its readings, and how each is decided."""
    from dpsco_verify.ledger.explain import card, explanation
    from dpsco_verify.ledger.installed import installed_ledger

    if as_json:
        echo_json(card(installed_ledger(), name))
    else:
        click.echo(explanation(installed_ledger(), name))
