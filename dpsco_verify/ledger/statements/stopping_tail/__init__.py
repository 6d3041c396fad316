"""Theorem 4.1: the tail of the stopping time."""

from dpsco_verify.ledger.statements.stopping_tail.statement import StoppingTail

__all__ = ["StoppingTail"]
