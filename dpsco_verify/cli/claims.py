"""``dpsco-verify claims``, ``papers`` and ``explain``."""

from __future__ import annotations

import click

from dpsco_verify.cli.completion import claim_ids, paper_ids
from dpsco_verify.cli.options import echo_json, indented, json_option


@click.command()
@click.option(
    "--paper",
    multiple=True,
    metavar="ID",
    shell_complete=paper_ids,
    help="Those of this paper alone; repeatable.",
)
@json_option
def claims(paper: tuple[str, ...], *, as_json: bool) -> None:
    """List every claim and reading with its paper and its expected verdict."""
    from dpsco_verify.ledger.installed import installed_ledger

    ledger = installed_ledger().only(paper)
    expectations = ledger.expectations
    if as_json:
        echo_json(
            [
                {
                    "paper": claim.paper,
                    "id": claim.statement.id,
                    "reading": claim.reading.id,
                    "expected": expectations[claim.key].expected,
                    "reference": claim.statement.reference,
                    "title": claim.statement.title,
                }
                for claim in ledger.claims
            ]
        )
        return
    shown = None
    for claim in ledger.claims:
        if claim.statement is not shown:
            shown = claim.statement
            click.echo(f"{claim.paper}: {shown.id}")
            click.echo(indented(f"{shown.reference}: {shown.title}"))
        click.echo(f"  {claim.key:54} {expectations[claim.key].expected}")


@click.command()
@json_option
def papers(*, as_json: bool) -> None:
    """List the papers that are installed, by their ids."""
    from dpsco_verify.ledger.installed import installed_ledger

    entries = installed_ledger().papers
    if as_json:
        echo_json(
            [
                {
                    "id": entry.paper.id,
                    "title": entry.paper.title,
                    "identifier": entry.paper.identifier,
                    "statements": len(entry.statements),
                    "readings": len(entry.claims),
                }
                for entry in entries
            ]
        )
        return
    for entry in entries:
        paper = entry.paper
        click.echo(
            f"{paper.id:14} {len(entry.statements):3} statements, {len(entry.claims):3} readings  {paper.identifier}"
        )
        click.echo(indented(paper.title))


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
