"""The statements of the paper, in its order, those of the related systems, and the claims that they make up."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.statement import Claim, Statement
from dpsco_verify.ledger.statements.azuma_step import AzumaStep
from dpsco_verify.ledger.statements.bregman_dual import BregmanDual
from dpsco_verify.ledger.statements.composition import Composition
from dpsco_verify.ledger.statements.dual_norm import DualNorm
from dpsco_verify.ledger.statements.duality import Duality
from dpsco_verify.ledger.statements.exp_linear import ExpLinearStatement
from dpsco_verify.ledger.statements.fresh_sum import FreshSum
from dpsco_verify.ledger.statements.gradient_queries import GradientQueriesStatement
from dpsco_verify.ledger.statements.kl_bound import KlBound
from dpsco_verify.ledger.statements.output import Output
from dpsco_verify.ledger.statements.privacy import Privacy
from dpsco_verify.ledger.statements.rate import Rate
from dpsco_verify.ledger.statements.regret import Regret
from dpsco_verify.ledger.statements.regret_osmd import RegretOsmd
from dpsco_verify.ledger.statements.related import RELATED_STATEMENTS
from dpsco_verify.ledger.statements.risk import Risk
from dpsco_verify.ledger.statements.single_step import SingleStep
from dpsco_verify.ledger.statements.stopping_mean import StoppingMean
from dpsco_verify.ledger.statements.stopping_tail import StoppingTail
from dpsco_verify.ledger.statements.tail_integral import TailIntegral
from dpsco_verify.ledger.statements.translation import Translation
from dpsco_verify.ledger.statements.utility import Utility

PAPER = Paper(
    title="Private Stochastic Convex Optimization: Efficient Algorithms for Non-smooth Objectives",
    authors=("Raman Arora", "Teodor V. Marinov", "Enayat Ullah"),
    identifier="arXiv:2002.09609",
)

STATEMENTS: tuple[Statement, ...] = (
    DualNorm(),
    Duality(),
    GradientQueriesStatement(),
    Output(),
    StoppingTail(),
    StoppingMean(),
    TailIntegral(),
    RegretOsmd(),
    BregmanDual(),
    Regret(),
    FreshSum(),
    Utility(),
    Composition(),
    SingleStep(),
    ExpLinearStatement(),
    KlBound(),
    AzumaStep(),
    Privacy(),
    Risk(),
    Translation(),
    Rate(),
    *RELATED_STATEMENTS,
)


def all_claims() -> tuple[Claim, ...]:
    """Return every reading of every statement, the paper's in its order first."""
    return tuple(
        Claim(statement=statement, reading=reading)
        for statement in STATEMENTS
        for reading in statement.readings
    )


def all_discrepancies() -> tuple[tuple[str, Discrepancy], ...]:
    """Return the discrepancies of every statement, each with the statement's reference, the paper's first."""
    return tuple(
        (statement.reference, discrepancy)
        for statement in STATEMENTS
        for discrepancy in statement.discrepancies
    )


def find_claims(names: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims that `names` name, each name being ``id`` or ``id/reading``.

    Raises
    ------
    InputError
        For a name that names nothing.
    """
    claims = all_claims()
    for name in names:
        if not any(name in (claim.statement.id, claim.key) for claim in claims):
            known = ", ".join(dict.fromkeys(claim.statement.id for claim in claims))
            raise InputError(
                f"id={name!r} names no claim; give one of {known}, or id/reading as `dpsco-verify claims` lists them"
            )
    return tuple(claim for claim in claims if {claim.statement.id, claim.key} & set(names))


def select_claims(select: Sequence[str], ignore: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims selected (all, if `select` is empty) less those ignored."""
    chosen = find_claims(select) if select else all_claims()
    dropped = {claim.key for claim in find_claims(ignore)}
    kept = tuple(claim for claim in chosen if claim.key not in dropped)
    if not kept:
        raise InputError(
            f"select={list(select)!r} less ignore={list(ignore)!r} leaves no claim; select at least one"
        )
    return kept
