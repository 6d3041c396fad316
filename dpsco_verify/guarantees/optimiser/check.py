"""All checks of an optimiser's claims, under one error budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpsco_verify.choices import ERROR_BUDGET, FEWEST_SAMPLES
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.optimiser.bank import chosen
from dpsco_verify.guarantees.optimiser.checks import Checks, Progress
from dpsco_verify.guarantees.optimiser.fits import Claim, Optimiser
from dpsco_verify.guarantees.optimiser.laws import INVARIANCES
from dpsco_verify.guarantees.optimiser.queries import judge_queries
from dpsco_verify.guarantees.optimiser.report import OptimiserReport, repeatable
from dpsco_verify.guarantees.optimiser.risk import instances, require_sizes
from dpsco_verify.guarantees.result import name_of
from dpsco_verify.inference import ErrorBudget
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

_WEIGHT_OF_INVARIANCES = 0.25


@repeatable
def check_optimiser(
    fit: Any,
    *,
    risk: Callable[..., float] | None = None,
    privacy: Callable[..., Any] | bool = True,
    gradient_queries: Callable[..., float] | None = None,
    deterministic_given_seed: bool = True,
    invariances: Sequence[str] = ("permutation",),
    outliers: bool = True,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    audit_at: tuple[float, float] = (1.0, 0.01),
    problems: Sequence[str] | None = None,
    losses: Sequence[str] | None = None,
    sizes: Sequence[int] = (100, 1000),
    runs: int = 400,
    samples: int = 5000,
    batched: bool = False,
    alpha: float = ERROR_BUDGET,
    seed: int = 0,
    time_limit: float = 60.0,
    name: str | None = None,
    progress: Progress | None = None,
) -> OptimiserReport:
    """Hold a private optimiser to its claims on the bank of problems.

    Parameters
    ----------
    fit
        ``fit(data, L, D, epsilon, delta, rng)`` returns a point w of the set W, shape (d,), for data of shape (n, k).
        It is told `loss` and `convex_set` too where its signature has these names; without `convex_set`, W is the ball
        of diameter D about 0. ValueError refuses the data, which tells of a record if its neighbour's are taken.
        Or else a :class:`~dpsco_verify.auditing.program.Program`, which is sent
        ``{"data", "L", "D", "epsilon", "delta", "loss", "set"}`` as the data set.
    risk
        ``risk(n, d, L, D, epsilon, delta)``, a bound of E F(w) − min F; it is told `problem`, its name, too where it
        takes that. None claims nothing.
    privacy
        ``privacy(n, d, L, D, epsilon, delta)`` for replace-one neighbours, a pair (ε, δ) or any claim of
        :mod:`dpsco_verify.privacy.claims`; True claims (epsilon, delta) itself, False nothing.
    gradient_queries
        ``gradient_queries(n, d, L, D, epsilon, delta)``: no run asks ``loss.subgradient`` for more single points.
    deterministic_given_seed
        Whether it claims that `rng` decides its output.
    invariances
        Claims that a symmetry of the data is one of the output's law: ``permutation`` of the records, ``scaling`` of
        the data and L by 2, ``rotation`` (the last two of linear losses).
    outliers
        Whether the privacy is claimed also for records whose gradients are longer than L, which are then clipped; data
        that it refuses are not held against it.
    epsilon, delta
        The privacy that it has to spend on the bank.
    audit_at
        The (ε, δ) that it has to spend where its privacy and its invariances are judged: a larger δ, since violations
        at a tiny one show to nobody who has only some thousands of outputs.
    problems, losses
        Names of problems of the bank (:data:`~dpsco_verify.guarantees.optimiser.BANK`), by default all synthetic ones;
        and the losses that it is for, by default all if it is told the loss.
    sizes
        Numbers of points n.
    runs, samples
        Runs on the worst instance; outputs on each data set of the audits. Up to four times as many where these would
        decide nothing.
    batched
        Whether it takes data of shape (R, n, k) and returns shape (R, d).
    alpha
        The probability, at most, that an optimiser of which every claim is true is found violated by anything.
    seed
        The root seed.
    time_limit
        Seconds that 128 runs may take together, or one call if it is batched.
    name
        How the report names it.
    progress
        Called with the number of checks done, of all, and the name of the next.

    Raises
    ------
    InputError
        For a bad argument, or a claim that is no positive finite number.
    FunctionError, MechanismError
        If it raises anything but ValueError, hangs, changes its data, or returns what is no point.

    Notes
    -----
    The error budget is split over the claims before anything is drawn; membership in W, the seed and the gradient
    queries are judged exactly.

    Examples
    --------
    A "private" optimiser that returns the start, which is not near the minimum everywhere:

    >>> lazy = lambda data, L, D, epsilon, delta, rng: np.zeros(data.shape[1])
    >>> risk = lambda n, d, L, D, epsilon, delta: D * L / n**0.5
    >>> report = check_optimiser(lazy, risk=risk, problems=["drift"], losses=["Linear"], sizes=[100], privacy=False)
    >>> print(report.verdict)
    violated
    """
    unknown = [which for which in invariances if which not in INVARIANCES]
    if unknown:
        raise InputError(f"invariances={unknown[0]!r} is unknown; give some of {', '.join(INVARIANCES)}")
    optimiser = Optimiser(fit, name=name or name_of(fit), batched=batched, time_limit=time_limit)
    if losses is None and not optimiser.takes_loss:
        raise InputError(
            f"losses=None does not say what {optimiser.name} minimises, as it takes no loss; name its losses"
        )
    weights = dict.fromkeys(invariances, _WEIGHT_OF_INVARIANCES)
    weights |= {"risk": 1.0} if risk is not None else {}
    weights |= {"privacy": 1.0} if privacy is not False else {}
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    given = _budget("epsilon", "delta", epsilon, delta)

    def claimed(kind: str, function: Any) -> Claim | None:
        return None if function is None else Claim(kind, function, time_limit=time_limit)

    of_risk, of_queries = claimed("risk", risk), claimed("gradient_queries", gradient_queries)
    of_privacy = None if isinstance(privacy, bool) else claimed("privacy", privacy)
    checks = Checks(
        optimiser=optimiser,
        losses=losses,
        at=_budget("audit_at", "audit_at", *_pair("audit_at", audit_at)),
        budget=ErrorBudget.split(alpha, weights) if weights else None,
        samples=require_integer("samples", samples, minimum=FEWEST_SAMPLES),
        seed=require_integer("seed", seed, minimum=0),
        time_limit=time_limit,
        progress=progress,
    )
    places = list(
        instances(
            chosen(problems, losses, any_set=optimiser.takes_set),
            require_sizes(sizes),
            epsilon=given[0],
            delta=given[1],
        )
    )
    checks.of_the_seed(claimed=deterministic_given_seed)
    trials = checks.on_the_bank(places, of_risk, runs=require_integer("runs", runs, minimum=1))
    if of_queries is not None:
        checks.book("gradient_queries", lambda: judge_queries(optimiser, places, of_queries, seed=seed))
    if privacy is not False:
        checks.of_privacy(of_privacy, outliers=outliers)
    for which in invariances:
        checks.of_invariance(which)
    return OptimiserReport(
        name=optimiser.name,
        results=tuple(checks.results),
        trials=trials,
        skipped=tuple(checks.skipped),
        alpha=alpha,
        epsilon=given[0],
        delta=given[1],
        seed=seed,
    )


def _pair(name: str, value: Any) -> tuple[float, float]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise InputError(f"{name}={value!r} is not a pair; give (epsilon, delta)") from None
    return first, second


def _budget(epsilon_name: str, delta_name: str, epsilon: float, delta: float) -> tuple[float, float]:
    """Return a budget (ε, δ) that an optimiser can be given."""
    delta = require_non_negative(delta_name, delta)
    if delta >= 1.0:
        raise InputError(f"{delta_name}={delta!r} allows anything; give a number in [0, 1)")
    return require_positive(epsilon_name, epsilon), delta
