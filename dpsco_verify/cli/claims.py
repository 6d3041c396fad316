"""``dpsco-verify claims``."""

from __future__ import annotations

import click


@click.command()
def claims() -> None:
    """List every claim and reading with its expected verdict."""
    from dpsco_verify.ledger.baseline import load_baseline
    from dpsco_verify.ledger.registry import all_claims

    expectations = load_baseline()
    for claim in all_claims():
        expected = expectations.get(claim.key)
        word = expected.expected.value if expected else "(no expectation)"
        click.echo(f"{claim.key:42} {word:15} {claim.statement.reference:14} {claim.statement.title}")
