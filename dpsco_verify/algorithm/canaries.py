"""One run of Algorithm 1 audited by canaries, beside the certified bound on its privacy.

Every point is a canary: point j is +L e_j or −L e_j by a fair coin, and the loss is linear, so that the step that
uses it moves by ±L along a coordinate of its own. Neighbours differ in one point that is replaced. What is seen is
the run's transcript, and which draws were fresh. With K fresh steps, in whose uniformly random order point j stands
at step s with probability 1/n, the score of point j is the logarithm of its likelihood ratio,

    ``log((n − K + Σ_s exp((L x_s − L²/2)/σ²)) / (n − K + Σ_s exp((−L x_s − L²/2)/σ²)))``,

x_s being the increment of fresh step s along e_j. No instance of n points tells more about a point by its own
coordinate; the bound certified from above (:mod:`dpsco_verify.privacy.whole_run`) holds for every instance. One run
shows of it what n coins can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.canaries import CanaryAudit, SealedCoins, audit_canaries
from dpsco_verify.choices import CANARY_ERROR
from dpsco_verify.geometry import WholeSpace
from dpsco_verify.privacy.claims import PrivacyCurve
from dpsco_verify.privacy.whole_run import WholeRun, delta_upper, epsilon_upper
from dpsco_verify.problems import Linear
from dpsco_verify.validation import require_open_interval, require_positive

_ORDERS = 9


@dataclass(frozen=True, kw_only=True)
class WholeRunAudit:
    """What one run showed, beside what is certified of every run.

    Attributes
    ----------
    against_curve
        The audit against the certified curve, which must stand.
    epsilon_lower
        At `delta`, with confidence 1 − α, whatever the mechanism.
    epsilon_upper
        Certified at `delta`.
    """

    against_curve: CanaryAudit
    epsilon_lower: float
    epsilon_upper: float

    @property
    def ratio(self) -> float:
        """The part of the certified ε that one run showed."""
        return self.epsilon_lower / self.epsilon_upper


def audit_whole_run(
    n: int,
    *,
    sigma: float,
    delta: float,
    lipschitz: float = 1.0,
    alpha: float = CANARY_ERROR,
    seed: int = 0,
    true_sigma: float | None = None,
) -> WholeRunAudit:
    """Run Algorithm 1 once on n canaries and audit it.

    Parameters
    ----------
    n
        The number of points, all of them canaries, in as many dimensions.
    sigma, lipschitz
        The noise's standard deviation in each coordinate, and L.
    delta
        Where ε is told, in (0, 1).
    alpha
        The probability, at most, that the curve is found violated though it holds, and that the lower bound is too
        large.
    seed
        The root of the coins and of the run.
    true_sigma
        The noise that the run has, where it is not the one that it claims.

    Raises
    ------
    InputError
        For arguments that the run, or its accountant, refuses.
    """
    at = require_open_interval("delta", delta, 0.0, 1.0)
    run = WholeRun(n=n, sigma=sigma, lipschitz=lipschitz)
    upper = epsilon_upper(run, at)
    coins = SealedCoins(n, seed=seed)
    signs = np.full(n, -1.0)
    signs[coins.indices()] = 1.0
    noise = sigma if true_sigma is None else require_positive("true_sigma", true_sigma)
    # The gradient of f(w, z) = −⟨w, z⟩ is −z.
    scores_in, scores_out = coins.open(_scores(-lipschitz * np.diag(signs), noise, lipschitz, seed))
    curve = PrivacyCurve(
        lambda epsilon: delta_upper(run, epsilon),
        orders=np.linspace(0.0, upper, _ORDERS),
        label="the certified curve",
    )
    found = audit_canaries(
        scores_in, scores_out, claim=curve, delta=at, alpha=alpha, name=f"a run on {n} points"
    )
    least = audit_canaries(
        scores_in, scores_out, epsilon=upper, delta=at, alpha=alpha, name=f"a run on {n} points"
    )
    return WholeRunAudit(against_curve=found, epsilon_lower=least.epsilon_lower, epsilon_upper=upper)


def _scores(data: FloatArray, sigma: float, lipschitz: float, seed: int) -> FloatArray:
    """Return the log likelihood ratio of each point of one run, shape (n,)."""
    n = len(data)
    run = private_sgd(
        data,
        loss=Linear(),
        convex_set=WholeSpace(n),
        step_size=1.0,
        sigma=sigma,
        lipschitz=lipschitz,
        rng=np.random.default_rng([seed, n]),
        initial_point=np.zeros(n),
        transcript=True,
    )
    assert run.transcript is not None  # noqa: S101  it was asked for
    steps = -np.diff(run.transcript.iterates, axis=0)[run.transcript.fresh[:, 0]]
    a, b = lipschitz / sigma**2, 0.5 * (lipschitz / sigma) ** 2
    unused = np.full((1, n), np.log(max(n - len(steps), 1e-300)))
    plus = logsumexp(np.concatenate([a * steps - b, unused]), axis=0)
    minus = logsumexp(np.concatenate([-a * steps - b, unused]), axis=0)
    return np.asarray(plus - minus, dtype=np.float64)
