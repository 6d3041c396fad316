"""``dpsco-verify explain``."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", metavar="ID")
def explain(name: str) -> None:
    """Print the statement ID, its readings, and how each is decided."""
    from dpsco_verify.ledger.explain import explanation
    from dpsco_verify.ledger.installed import installed_ledger

    click.echo(explanation(installed_ledger(), name))
