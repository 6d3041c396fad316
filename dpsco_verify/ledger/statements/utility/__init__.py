"""Theorem 4.4: the utility guarantee."""

from dpsco_verify.ledger.statements.utility.statement import Utility

__all__ = ["Utility"]
