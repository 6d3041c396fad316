"""Theorem 5.3, the privacy part: the whole transcript of Algorithm 1."""

from dpsco_verify.ledger.statements.privacy.statement import Privacy

__all__ = ["Privacy"]
