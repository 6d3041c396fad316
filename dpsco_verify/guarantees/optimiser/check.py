"""All checks of an optimiser's claims, under one error budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dpsco_verify.choices import ERROR_BUDGET, FEWEST_SAMPLES
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.optimiser.bank import chosen
from dpsco_verify.guarantees.optimiser.fits import Claim, Optimiser, Place, RefusedError
from dpsco_verify.guarantees.optimiser.laws import (
    INVARIANCES,
    REPEATS,
    Accepted,
    Law,
    judge_invariance,
    judge_privacy,
    judge_seed,
    sizes_accepted,
)
from dpsco_verify.guarantees.optimiser.neighbours import Instances, candidates
from dpsco_verify.guarantees.optimiser.queries import judge_queries
from dpsco_verify.guarantees.optimiser.report import OptimiserReport, Trial, repeatable
from dpsco_verify.guarantees.optimiser.risk import (
    Instance,
    Runs,
    instances,
    judge_in_set,
    judge_risk,
    pilot,
    require_sizes,
    worst,
)
from dpsco_verify.guarantees.result import GuaranteeResult, name_of
from dpsco_verify.inference import ErrorBudget
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

_WEIGHT_OF_INVARIANCES = 0.25
_NOT_INDEPENDENT = "its noise repeats from run to run, so that no number of outputs tells its law"
_STEPS = ("deterministic_given_seed", "risk", "in_set", "gradient_queries", "privacy", *INVARIANCES)

Progress = Callable[[int, int, str], None]


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
        Runs on the worst instance; outputs on each data set of the audits.
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
    checks = _Checks(
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


@dataclass(kw_only=True)
class _Checks:
    """The checks of one optimiser as they are made, and what they came to."""

    optimiser: Optimiser
    losses: Sequence[str] | None
    at: tuple[float, float]
    budget: ErrorBudget | None
    samples: int
    seed: int
    time_limit: float
    progress: Progress | None
    results: list[GuaranteeResult] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    repeats: bool = False

    @cached_property
    def _where(self) -> tuple[Instances, Place, Accepted]:
        """The first data sets of which the optimiser takes some, or the last that were tried."""
        for data in candidates(self.losses, any_set=self.optimiser.takes_set):
            place = Place(task=data.task(), epsilon=self.at[0], delta=self.at[1])
            accepted = sizes_accepted(self.optimiser, data, place, seed=self.seed)
            if any(refusal is None for refusal in accepted.values()):
                break
        return data, place, accepted

    @property
    def data(self) -> Instances:
        """The data sets on which laws are judged."""
        return self._where[0]

    @property
    def place(self) -> Place:
        """The task and the privacy there."""
        return self._where[1]

    @property
    def accepted(self) -> Accepted:
        """Which numbers of records the optimiser takes there."""
        return self._where[2]

    def book(self, kind: str, check: Callable[[], GuaranteeResult | str]) -> GuaranteeResult | str:
        """Make a check, which gives a result or the reason why there is none, and take that."""
        self._tell(kind)
        started = time.perf_counter()
        found = check()
        if isinstance(found, str):
            self.skipped.append((kind, found))
        else:
            self.results.append(replace(found, kind=kind, seconds=time.perf_counter() - started))
        return found

    def of_the_seed(self, *, claimed: bool) -> None:
        """Judge whether the generator decides the output; where it does not, audits are told so."""
        taken = [n for n, refusal in self.accepted.items() if refusal is None]

        def check() -> GuaranteeResult | str:
            if not taken:
                return self._refusal
            found = judge_seed(self.optimiser, self.place, self.data.ordered(taken[-1]), seed=self.seed)
            self.repeats = REPEATS in (found.counterexample or "")
            self.optimiser.takes_rng = found.counterexample is None
            return found

        if claimed:
            self.book("deterministic_given_seed", check)
        else:
            check()

    def on_the_bank(self, places: Sequence[Instance], risk: Claim | None, *, runs: int) -> tuple[Trial, ...]:
        """Search the bank for the worst instance, judge the risk there, and whether all outputs lay in W."""
        bank = Runs(self.optimiser, seed=self.seed)
        tried: list[tuple[Instance, Trial]] = []

        def check() -> GuaranteeResult | str:
            found, refusals = pilot(bank, places, risk)
            tried.extend(found)
            if not tried:
                return f"it refuses every instance ({refusals[0]})"
            hardest = worst(tried)
            if hardest is None:
                return "the claimed bound is at least LD on every instance"
            try:
                return judge_risk(
                    bank,
                    *hardest,
                    name=self.optimiser.name,
                    alpha=self._level("risk"),
                    samples=runs,
                    seed=self.seed,
                    tried=len(tried),
                )
            except RefusedError as refusal:
                return f"it refuses some samples of the worst instance, {hardest[0].words} ({refusal})"

        if risk is not None:
            self.book("risk", check)
        else:
            tried.extend(pilot(bank, places, None)[0])
        if tried:
            self.book("in_set", lambda: judge_in_set(bank, name=self.optimiser.name, seed=self.seed))
        return tuple(trial for _, trial in tried)

    def of_privacy(self, claim: Claim | None, *, outliers: bool) -> None:
        """Audit the privacy that it claims."""
        self.book(
            "privacy",
            lambda: (
                _NOT_INDEPENDENT
                if self.repeats
                else judge_privacy(self._law("privacy"), claim, outliers=outliers)
            ),
        )

    def of_invariance(self, which: str) -> None:
        """Judge a symmetry."""
        self.book(
            which,
            lambda: _NOT_INDEPENDENT if self.repeats else judge_invariance(which, self._law(which)),
        )

    def _law(self, which: str) -> Law:
        """Return what a claim about the law of the output is judged with."""
        return Law(
            optimiser=self.optimiser,
            data=self.data,
            place=self.place,
            accepted=self.accepted,
            alpha=self._level(which),
            samples=self.samples,
            seed=self.seed,
            time_limit=self.time_limit,
        )

    @property
    def _refusal(self) -> str:
        return f"it refuses the data sets of the audit ({self.accepted[max(self.accepted)]})"

    def _level(self, which: str) -> float:
        assert self.budget is not None  # noqa: S101  what has a level has a share
        return self.budget.share(which).alpha

    def _tell(self, step: str) -> None:
        if self.progress is not None:
            self.progress(len(self.results) + len(self.skipped), len(_STEPS), step)
