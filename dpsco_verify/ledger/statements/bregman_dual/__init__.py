"""Section 4, before the regret equation: the divergence of the conjugate against the squared dual norm."""

from dpsco_verify.ledger.statements.bregman_dual.statement import BregmanDual

__all__ = ["BregmanDual"]
