"""``dpsco-verify claims`` and ``dpsco-verify papers``."""

from __future__ import annotations

import click


@click.command()
@click.option("--paper", multiple=True, metavar="ID", help="Those of this paper alone; repeatable.")
def claims(paper: tuple[str, ...]) -> None:
    """List every claim and reading with its paper and its expected verdict."""
    from dpsco_verify.ledger.installed import installed_ledger

    ledger = installed_ledger().only(paper)
    expectations = ledger.expectations
    for claim in ledger.claims:
        expected = expectations[claim.key].expected
        click.echo(
            f"{claim.paper:14} {claim.key:42} {expected:15} {claim.statement.reference:14} {claim.statement.title}"
        )


@click.command()
def papers() -> None:
    """List the papers that are installed, by their ids."""
    from dpsco_verify.ledger.installed import installed_ledger

    for entry in installed_ledger().papers:
        paper = entry.paper
        click.echo(
            f"{paper.id:14} {len(entry.statements):3} statements, {len(entry.claims):3} readings  {paper.title}, "
            f"{paper.identifier}"
        )
