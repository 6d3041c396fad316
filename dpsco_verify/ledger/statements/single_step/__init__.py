"""Lemma 5.2: the privacy of a single step."""

from dpsco_verify.ledger.statements.single_step.statement import SingleStep

__all__ = ["SingleStep"]
