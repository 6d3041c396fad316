"""Corollary 4.3: the regret over τ iterations."""

from dpsco_verify.ledger.statements.regret.statement import Regret

__all__ = ["Regret"]
