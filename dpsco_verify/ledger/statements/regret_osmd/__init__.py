"""Theorem 4.2: the regret of online stochastic mirror descent."""

from dpsco_verify.ledger.statements.regret_osmd.statement import RegretOsmd

__all__ = ["RegretOsmd"]
