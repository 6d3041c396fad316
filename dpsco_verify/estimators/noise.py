"""How much noise a fit gets, in which steps, and what is then proven."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from scipy import optimize

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Certificate, WholeRunPrivacy
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.validation import require_integer, require_open_interval, require_positive

WHOLE_RUN = "the bound on a whole run in random order (docs/whole-run.md)"
COMPOSED = "the bound on a whole run, composed over the epochs (docs/whole-run.md, step 5)"
GAUSSIAN = (
    "the composition of Gaussian mechanisms, which is exact (Dong, Roth and Su 2022; Balle and Wang 2018)"
)

LEAST_EPSILON, LARGEST_EPSILON, LEAST_DELTA = 1e-4, 100.0, 1e-200
"""Where noise is calibrated."""

_WORK = 3e8
"""How many products of a parameter and an entry the full passes of an automatic plan may take, about."""
_MOST_FULL, _FEWEST_FULL = 500, 8
_STEPS = (25, 50, 100, 200, 400)
_SIGNAL = 0.1
"""The squared norm of a mean gradient in units of L², about, on the way to the optimum."""
_LOOSE = 1.3
"""How far the noise of batches is above its guess, about."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Noisy steps on n records: passes in batches of f over ``K = f⌊(n − 1)/f⌋`` records each, or over all if f = n.

    Attributes
    ----------
    ratio
        σ/L, where σ is the standard deviation of each coordinate of the noise on the *mean* gradient of a batch.
    """

    n: int
    batch_size: int
    epochs: int
    ratio: float
    theorem: str

    @property
    def points(self) -> int:
        """How many records a pass uses."""
        return self.n if self.batch_size == self.n else self.batch_size * ((self.n - 1) // self.batch_size)

    @property
    def steps(self) -> int:
        """The number of steps of all passes."""
        return self.epochs * (self.points // self.batch_size)

    def noise_to_signal(self, parameters: int) -> float:
        """Return ``σ√(p/T)/L``: the norm of the mean of all steps' noise in units of the largest gradient."""
        return self.ratio * math.sqrt(parameters / self.steps)


@dataclass(frozen=True, kw_only=True)
class PrivacyStatement:
    """What is guaranteed of a fitted estimator, by what, and provided what.

    Attributes
    ----------
    epsilon, delta
        The totals of all that ``fit`` releases: every noisy gradient, hence every fitted attribute.
    relation
        The neighbours: "replace-one", data sets of n records of which one differs in any way.
    theorem
        By what the noise was calibrated.
    sigma, lipschitz, batch_size, epochs, points
        The noise on the mean gradient of a batch, the bound on the gradient of one record, and the plan.
    provided
        What the guarantee takes for granted and this fit did not keep; empty if it holds without reserve.

    Examples
    --------
    >>> X, y = np.tile([[0.5], [-0.5]], (200, 1)), np.tile([1, 0], 200)
    >>> model = PrivateSGDClassifier(epsilon=1.0, data_norm=1.0, classes=[0, 1]).fit(X, y)
    >>> statement = model.privacy_statement_
    >>> print(statement.epsilon, statement.delta, statement.relation, statement.provided)
    1.0 1e-06 replace-one ()
    """

    epsilon: float
    delta: float
    relation: str
    theorem: str
    sigma: float
    lipschitz: float
    n: int
    batch_size: int
    epochs: int
    points: int
    provided: tuple[str, ...]

    def __str__(self) -> str:
        """Return one sentence."""
        reserve = f", provided that {' and '.join(self.provided)}" if self.provided else ""
        return (
            f"({self.epsilon:g}, {self.delta:g})-differentially private for {self.relation} neighbours by "
            f"{self.theorem}{reserve}"
        )

    def certificate(self) -> Certificate[WholeRunPrivacy] | None:
        """Return a certificate for ``dpsco-verify replay``, of one pass in batches; None for other plans.

        It says that noise of σ/L on K of n records, f at a time, has a δ(ε) below δ; that this fit did so, it
        cannot say.
        """
        if self.theorem != WHOLE_RUN:
            return None
        found = calibrate(
            n=self.n,
            epsilon=self.epsilon,
            delta=self.delta,
            lipschitz=self.lipschitz,
            points=self.points,
            batch_size=self.batch_size,
        )
        return found.certificate


@functools.lru_cache(maxsize=256)
def gaussian_distance(epsilon: float, delta: float) -> float:
    """Return the largest μ, to a relative 1e-12 below it, at which the Gaussian mechanism is (ε, δ)-DP."""

    def excess(log_mu: float) -> float:
        return float(log_gaussian_delta(epsilon, math.exp(log_mu))) - math.log(delta)

    low, high = -1.0, 1.0
    while excess(low) > 0.0:
        low -= 2.0
    while excess(high) < 0.0:
        high += 2.0
    root = float(optimize.brentq(excess, low, high, xtol=1e-14))
    return math.exp(root) * (1.0 - 1e-12)


@functools.lru_cache(maxsize=256)
def plan(
    *, n: int, parameters: int, epsilon: float, delta: float, batch_size: int | str, epochs: int | str
) -> Plan:
    """Return the plan; it depends on public numbers alone, and what was computed once is remembered.

    *One pass in batches of f < n*: the K records that are used are in uniformly random order, which stays secret,
    each in one batch, whose mean gradient gets N(0, σ²I). That is the run of
    :class:`~dpsco_verify.privacy.whole_run.WholeRun` with ``points=K, batch_size=f``, whose δ(ε) is bounded for
    gradients that depend on all earlier steps. Were the order known, it would be one Gaussian mechanism of
    sensitivity 2L/f, because batches are disjoint, and σ would have to be ``2L/(fμ)``, μ that of
    :func:`gaussian_distance`: 8.4 L/f at ε = 1 and δ = 1e-6, where the order's secrecy makes it 0.97 L/f for f = 1
    and 2.7 L/f for f = 2000, at n = 50,000.

    *Passes with f = n* hide nothing: T of them are a Gaussian mechanism with the distance ``√T 2L/(nσ)``, exactly.
    Their noise, averaged over the steps, is the least there is, whatever T; each step costs a pass.

    *Several passes in batches* are composed (``calibrate(epochs=…)``), which takes seconds.

    ``"auto"`` takes that of the first two kinds whose ``(0.1 + 1/f + pσ²/L²)/T`` is least: the bound on the average of
    AdaGrad's steps, ``D √(Σ‖g_t‖²)/T``, with p parameters. 1/f is for the variance of the mean of f random records,
    and is 0 for full passes.

    Raises
    ------
    InputError
        For ε, δ, `batch_size` or `epochs` outside their range.
    """
    epsilon = require_positive("epsilon", epsilon)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon={epsilon!r} is outside [{LEAST_EPSILON:g}, {LARGEST_EPSILON:g}]; give a number in it"
        )
    if delta < LEAST_DELTA:
        raise InputError(f"delta={delta!r} is below {LEAST_DELTA:g}; give at least that")
    distance = gaussian_distance(epsilon, delta)
    if batch_size == "auto":
        f = _batch_size(n, parameters, distance, one_pass=epochs not in ("auto", 1), full=epochs != 1)
    else:
        f = _whole("batch_size", batch_size)
        if f > n:
            raise InputError(f"batch_size={f} is above n={n}; give at most the number of records")
    passes = (_full_passes(n, parameters) if f == n else 1) if epochs == "auto" else _whole("epochs", epochs)
    if f == n:
        return Plan(
            n=n,
            batch_size=n,
            epochs=passes,
            ratio=2.0 * math.sqrt(passes) / (n * distance) * (1.0 + 1e-15),
            theorem=GAUSSIAN,
        )
    found = calibrate(
        n=n,
        epsilon=epsilon,
        delta=delta,
        points=f * ((n - 1) // f),
        batch_size=f,
        epochs=passes,
        certify=False,
    )
    return Plan(
        n=n,
        batch_size=f,
        epochs=passes,
        ratio=found.sigma_over_lipschitz,
        theorem=WHOLE_RUN if passes == 1 else COMPOSED,
    )


def _whole(name: str, value: int | str) -> int:
    if isinstance(value, str):
        raise InputError(f"{name}={value!r} is not allowed; give a whole number of at least 1, or 'auto'")
    return require_integer(name, value, minimum=1)


def _full_passes(n: int, parameters: int) -> int:
    return int(min(max(_WORK / (n * parameters), _FEWEST_FULL), _MOST_FULL))


def _batch_size(n: int, parameters: int, distance: float, *, one_pass: bool, full: bool) -> int:
    """Return n for full passes, or the best f for one pass."""
    if one_pass:
        return n  # several passes were asked for: those over all records are exact, and calibrated at once
    best, chosen = math.inf, n
    if full:
        best = _SIGNAL / _full_passes(n, parameters) + parameters * (2.0 / (n * distance)) ** 2
    for steps in _STEPS:
        f = (n - 1) // steps
        if f < 1:
            break
        # the Gaussian mechanism that a run resembles: μ² = T(e^{4/c²} − 1)(f/n)², c = σf/L
        c = _LOOSE * 2.0 / math.sqrt(math.log1p((distance * n / f) ** 2 / steps))
        value = (_SIGNAL + 1.0 / f + parameters * (c / f) ** 2) / steps
        if value < best:
            best, chosen = value, f
    return chosen
