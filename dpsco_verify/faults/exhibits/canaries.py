"""Whole private fits, judged by one run each with canaries: as it is, and with a seed that leaks.

The fit is that of :class:`~dpsco_verify.estimators.PrivateSGDClassifier` with its default plan, without what it checks
of a user's arrays, for which scikit-learn would have to be loaded.

Each of n records is a canary, along a coordinate of its own, and its label is a fair coin. Whatever the label, the
slope is 1 long, as no margin comes near 1, so that two labels' gradients differ by as much as two records' can. What is
claimed of a coin is μ-GDP, with the μ by which full passes are calibrated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditVerdict, audit_canaries
from dpsco_verify.auditing.canaries import SealedCoins
from dpsco_verify.estimators import noise
from dpsco_verify.estimators.descent import Problem, descend, release_of
from dpsco_verify.estimators.randomness import SeededSource
from dpsco_verify.faults.exhibit import ExhibitKind, Judgement
from dpsco_verify.geometry import L2Ball
from dpsco_verify.privacy.claims import GaussianDP
from dpsco_verify.problems import Hinge

_EPSILON, _DELTA = 1.0, 1e-6
_CANARIES, _GUESSES = 300, 150
_REACH = 10.0
_OF_INTEREST = 12.0
"""One run of 300 canaries shows an ε of about 9.5 or more at δ = 1e-6 where an exhibit's level is 1e-8, and of 11 at
1e-10; an audit of the papers, in which the museum has a tenth of the budget, leaves each 1e-9."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CanaryExhibit:
    """A fit of :class:`~dpsco_verify.estimators.PrivateSGDClassifier`, judged by its coefficients.

    The attributes not told here are those of :class:`~dpsco_verify.faults.exhibit.Judged`.

    Attributes
    ----------
    seed_is_known
        Whether the adversary knows ``random_state``, and compares the coefficients with those of all coins tails.
    """

    id: str
    title: str
    source: str
    truth: str
    kind: ExhibitKind
    seed_is_known: bool
    cost: float = 0.2
    slow: bool = False

    @property
    def claim(self) -> GaussianDP:
        """What the fit's noise was made for."""
        return GaussianDP(noise.gaussian_distance(_EPSILON, _DELTA))

    def judge(self, *, alpha: float, seed: int) -> Judgement:
        """Fit once, guess the coins from the coefficients, and audit the guesses."""
        coins = SealedCoins(_CANARIES, seed=seed)
        tails = np.full(_CANARIES, -1.0)
        labels = tails.copy()
        labels[coins.indices()] = 1.0
        random_state = int(np.random.default_rng([seed, _CANARIES, 1]).integers(2**32))
        scores = _coefficients(labels, random_state)
        if self.seed_is_known:
            scores = scores - _coefficients(tails, random_state)
        found = audit_canaries(
            *coins.open(scores),
            claim=self.claim,
            delta=_DELTA,
            alpha=alpha,
            guesses=_GUESSES,
            epsilon_of_interest=_OF_INTEREST,
            name=self.id,
        )
        caught_by = found.seen
        if found.verdict is not AuditVerdict.VIOLATED:
            caught_by = "nothing" if found.mdv is None else f"ε ≥ {found.mdv.epsilon:.3g}"
            caught_by += " would have been"
        return Judgement(verdict=found.verdict, caught_by=caught_by, samples=1)


def _coefficients(labels: FloatArray, random_state: int) -> FloatArray:
    problem = Problem(
        rows=np.eye(_CANARIES),
        norm=1.0,
        targets=labels[:, np.newaxis],
        counted=None,
        slopes=Hinge().score_slope,
        slope_bound=1.0,
        convex_set=L2Ball(np.zeros(_CANARIES), _REACH),
        intercept_bound=None,
    )
    plan = noise.plan(
        n=_CANARIES,
        parameters=problem.parameters,
        epsilon=_EPSILON,
        delta=_DELTA,
        batch_size="auto",
        epochs="auto",
    )
    source = SeededSource(np.random.RandomState(random_state))
    return np.asarray(descend(problem, plan, release_of(problem, plan), source)[0])


CANARY_EXHIBITS: tuple[CanaryExhibit, ...] = (
    CanaryExhibit(
        id="fit-known-seed",
        title="A private fit with a seed that others know, such as random_state=0",
        source="scikit-learn's interface: examples fix random_state, and are copied",
        truth="δ = 1: who knows the seed takes the noise off",
        kind=ExhibitKind.FAULT,
        seed_is_known=True,
    ),
    CanaryExhibit(
        id="control-fit-canaries",
        title="A private fit to canaries, by the classifier with its default plan",
        source="dpsco_verify.estimators",
        truth="holds almost with equality: a coefficient is a Gaussian mechanism at the claimed distance",
        kind=ExhibitKind.CONTROL,
        seed_is_known=False,
    ),
)
