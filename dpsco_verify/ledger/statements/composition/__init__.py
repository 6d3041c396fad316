"""Theorem 5.1: the privacy of a fixed number of iterations."""

from dpsco_verify.ledger.statements.composition.statement import Composition

__all__ = ["Composition"]
