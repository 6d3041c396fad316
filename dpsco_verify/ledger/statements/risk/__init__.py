"""Theorem 5.3, the risk part."""

from dpsco_verify.ledger.statements.risk.statement import Risk

__all__ = ["Risk"]
