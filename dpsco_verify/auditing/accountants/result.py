"""The result of an audit of an accountant."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from dpsco_verify.auditing.accountants.events import Event
from dpsco_verify.choices import Relation
from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import AuditVerdict


class Route(enum.StrEnum):
    """How the true δ was bounded.

    All know what needs no distribution: the total variation, and the largest loss of Laplace steps.

    * ``exact``: closed form in ball arithmetic; proven. One step only, or unsampled Gaussian steps.
    * ``pld``: dp-accounting's composition of grids that are worse and better than the truth; proven but for the
      rounding of doubles, which is allowed for.
    * ``sampled``: a confidence sequence from the simulated privacy loss; right with probability 1 − α.
    """

    EXACT = "exact"
    PLD = "pld"
    SAMPLED = "sampled"


@dataclass(frozen=True, kw_only=True)
class RouteBounds:
    """Bounds on the true δ at one order; `upper` is 1 where the route has none."""

    route: Route
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class AccountantPoint:
    """The claim at one order, beside the truth.

    Attributes
    ----------
    epsilon, claimed
        The order, and the accountant's δ there: the smallest that it said. NaN for an answer that is no number.
    lower, upper
        The tightest bounds on the true δ: the worst over all neighbours, and over all adaptive queries that the
        event describes. The lower one is attained by data sets.
    lower_route, upper_route
        Where they come from.
    routes
        All bounds.
    verdict
        ``violated``: the claim is below the lower bound, or none. ``not_violated``: it is at least the upper bound.
        ``undecided``: it lies between.
    answers
        What the accountant said each time that it was asked, where this is a point of its δ(ε) or ε(δ).
    """

    epsilon: float
    claimed: float
    lower: float
    upper: float
    lower_route: Route
    upper_route: Route
    routes: tuple[RouteBounds, ...]
    verdict: AuditVerdict
    answers: tuple[float, ...] = ()

    __bool__ = no_truth_value("point.verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def slack(self) -> float:
        """How many times the true δ the claim is, at least (``claimed/upper``); infinite where the truth is 0.

        Below 1 for a violated claim, of which ``claimed/lower`` says that it is that factor too small, at least.
        """
        if math.isnan(self.claimed) or math.isnan(self.epsilon):
            return 0.0
        reference = self.lower if self.verdict is AuditVerdict.VIOLATED else self.upper
        if reference > 0.0:
            return self.claimed / reference
        return math.inf if self.claimed > 0.0 else 1.0


@dataclass(frozen=True, kw_only=True)
class AccountantAudit:
    """What an audit of an accountant found.

    Attributes
    ----------
    event, relation
        What was accounted for.
    points
        The orders, increasing.
    alpha
        The probability, at most, that any bound of the route ``sampled`` is wrong.
    samples, seed
        Of that route.
    seconds
        How long it took.
    """

    event: Event
    relation: Relation
    points: tuple[AccountantPoint, ...]
    alpha: float
    samples: int
    seed: int
    seconds: float

    __bool__ = no_truth_value("result.verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def verdict(self) -> AuditVerdict:
        """``violated`` if any point is, else ``undecided`` if any is, else ``not_violated``."""
        found = {point.verdict for point in self.points}
        order = (AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED, AuditVerdict.NOT_VIOLATED)
        return next(verdict for verdict in order if verdict in found)

    @property
    def summary(self) -> str:
        """One sentence about the point with the smallest slack."""
        worst = min(
            (point for point in self.points if point.verdict is self.verdict), key=lambda point: point.slack
        )
        at = f"{self.event} under {self.relation}: at"
        if math.isnan(worst.epsilon):
            return f"{at} δ = {worst.claimed:.6g} the accountant says ε = {worst.answers[0]:g}, which bounds nothing"
        if math.isnan(worst.claimed):
            return f"{at} ε = {worst.epsilon:g} the accountant says δ = {worst.answers[0]:g}, which is no probability"
        where = f"{at} ε = {worst.epsilon:g} the claimed δ = {worst.claimed:.6g}"
        if len(set(worst.answers)) > 1:
            where += f" (asked anew it says {', '.join(f'{a:.6g}' for a in worst.answers)})"
        if self.verdict is AuditVerdict.VIOLATED:
            return f"{where} is below the true one, which is at least {worst.lower:.6g} ({worst.lower_route})"
        if self.verdict is AuditVerdict.UNDECIDED:
            return (
                f"{where} is undecided, the true one lying between {worst.lower:.6g} ({worst.lower_route}) and "
                f"{worst.upper:.6g} ({worst.upper_route})"
            )
        return (
            f"{where} holds, being {worst.slack:.6g} times the true one or more, which is at most {worst.upper:.6g} "
            f"({worst.upper_route})"
        )
