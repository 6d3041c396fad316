"""The rate of the abstract."""

from dpsco_verify.ledger.statements.rate.statement import Rate

__all__ = ["Rate"]
