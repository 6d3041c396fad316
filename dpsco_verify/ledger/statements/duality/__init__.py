"""Theorem 2.1: strong convexity of a potential is smoothness of its conjugate."""

from dpsco_verify.ledger.statements.duality.statement import Duality

__all__ = ["Duality"]
