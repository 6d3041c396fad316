"""The one type of result that every guarantee gives."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ParamSpec

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.evidence.checker import Evidence

POWER = 0.9
"""The probability with which the minimum detectable violation would have been found."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeResult:
    """What was found about a guarantee.

    Attributes
    ----------
    kind, name
        Which guarantee it is, as ``mean_at_most``; and of what, as reports name it.
    claim
        The guarantee as a formula.
    verdict
        ``violated``; ``not_violated``, where nothing was found that would have been if it were as large as what is of
        interest; or ``undecided``, where not even that would have been.
    seen
        What was seen, with its figures, in words.
    counterexample
        Of a violation: the observations, or the shrunk point, that refute the claim; else None.
    detectable
        The minimum detectable violation in words, with the power :data:`POWER`; None where a violation was found.
    mdv
        Its size, in the unit of the claim's right-hand side; None where there is none.
    log_e_value, p_value
        The evidence against the claim: the log of an e-value, a p-value; None where the test gives none, and where the
        verdict is exact.
    alpha
        The probability, at most, of finding a true claim violated; 0 where the verdict is exact.
    samples
        Observations drawn, or points tried.
    seed
        The root seed.
    call
        The call that repeats it; empty where it is a part of a larger check.
    seconds
        Wall-clock time.
    figures
        Further figures by name: estimates and confidence bounds.
    witness
        Of a violation: what the independent checker needs to compute the evidence anew, where there is such a kind.
    again
        Repeats it.

    Examples
    --------
    >>> result = tail_at_most(lambda size, rng: rng.integers(1, 7, size), 5, 0.1)
    >>> print(result.verdict, result.kind, result.claim)
    violated tail_at_most P(X > 5) ≤ 0.1
    """

    name: str
    claim: str
    verdict: AuditVerdict
    seen: str
    samples: int
    seed: int
    counterexample: str | None = None
    detectable: str | None = None
    mdv: float | None = None
    log_e_value: float | None = None
    p_value: float | None = None
    alpha: float = 0.0
    kind: str = ""
    call: str = ""
    seconds: float = field(default=0.0, compare=False)
    figures: Mapping[str, float] = field(default_factory=dict)
    witness: Evidence | None = field(default=None, repr=False)
    again: Callable[[], GuaranteeResult] | None = field(default=None, repr=False, compare=False)

    __bool__ = no_truth_value("result.verdict is AuditVerdict.NOT_VIOLATED")

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: all but the way to repeat it, which the call says too."""
        return vars(self) | {"again": None}

    def reproduce(self) -> GuaranteeResult:
        """Check the guarantee again: the same seed, hence the same result."""
        if self.again is None:
            raise InputError("again=None: this result does not hold its check; make the call anew")
        return self.again()

    @property
    def summary(self) -> str:
        """What was found, in one sentence."""
        if self.verdict is AuditVerdict.VIOLATED:
            sure = f"with confidence 1 − {self.alpha:.3g}, " if self.alpha > 0.0 else ""
            return f"{self.name} violates {self.claim}: {sure}{self.counterexample}"
        head = "does not violate" if self.verdict is AuditVerdict.NOT_VIOLATED else "is undecided against"
        return f"{self.name} {head} {self.claim}: {self.seen}; {self.detectable}"

    def __str__(self) -> str:
        return self.summary


P = ParamSpec("P")

_NOT_IN_A_CALL = ("time_limit", "name")
"""Arguments that do not change what is found."""


def guarantee(check: Callable[P, GuaranteeResult]) -> Callable[P, GuaranteeResult]:
    """Make a check a guarantee: its result says what kind it is, which call repeats it, and how long it took."""
    kind = check.__name__
    signature = inspect.signature(check)

    @functools.wraps(check)
    def guaranteed(*arguments: P.args, **options: P.kwargs) -> GuaranteeResult:
        started = time.perf_counter()
        result = check(*arguments, **options)
        given = signature.bind(*arguments, **options)
        given.apply_defaults()
        return replace(
            result,
            kind=kind,
            call=_call_text(kind, signature, given),
            seconds=time.perf_counter() - started,
            again=lambda: guaranteed(*arguments, **options),
        )

    return guaranteed


def sampled(
    *,
    name: str,
    claim: str,
    seen: str,
    violated: bool,
    p_value: float,
    alpha: float,
    mdv: float | None,
    of_interest: float,
    would: str,
    nothing: str,
    samples: int,
    seed: int,
    log_e_value: float | None = None,
    figures: Mapping[str, float] | None = None,
    witness: Evidence | None = None,
    more: str = "",
) -> GuaranteeResult:
    """Return the result of a test.

    Parameters
    ----------
    mdv, of_interest
        The minimum detectable violation, if there is one, and what it is compared with.
    would, nothing
        What would have been found, in words; and of what there is so little that nothing would.
    more
        What a counterexample says besides what was seen.
    witness
        Of a violation; else left out.
    """
    return GuaranteeResult(
        name=name,
        claim=claim,
        verdict=judged(violated=violated, mdv=mdv, of_interest=of_interest),
        seen=seen,
        counterexample=f"{seen}{more} (p-value {p_value:.3g}, seed {seed})" if violated else None,
        detectable=None
        if violated
        else f"{nothing} would have shown no violation with probability {POWER:g}"
        if mdv is None
        else f"{would} would have been found with probability {POWER:g}",
        mdv=None if violated else mdv,
        log_e_value=log_e_value,
        p_value=p_value,
        alpha=alpha,
        samples=samples,
        seed=seed,
        figures=figures or {},
        witness=witness if violated else None,
    )


def exact(
    *,
    name: str,
    claim: str,
    seen: str,
    counterexample: str | None,
    detectable: str,
    samples: int,
    seed: int,
    mdv: float | None = None,
    of_interest: float = 1.0,
) -> GuaranteeResult:
    """Return the result of a check whose counterexample refutes the claim for certain; none was found where it is None.

    `mdv` is the part of the inputs of which one would have been met; None where nothing of the kind was left to chance.
    """
    violated = counterexample is not None
    return GuaranteeResult(
        name=name,
        claim=claim,
        verdict=judged(violated=violated, mdv=0.0 if mdv is None else mdv, of_interest=of_interest),
        seen=seen,
        counterexample=counterexample,
        detectable=None if violated else detectable,
        mdv=None if violated else mdv,
        samples=samples,
        seed=seed,
    )


def judged(*, violated: bool, mdv: float | None, of_interest: float) -> AuditVerdict:
    """Return the verdict: a pass only where a violation of the size of interest would have been found."""
    if violated:
        return AuditVerdict.VIOLATED
    if mdv is None or not mdv <= of_interest:
        return AuditVerdict.UNDECIDED
    return AuditVerdict.NOT_VIOLATED


def _call_text(kind: str, signature: inspect.Signature, given: inspect.BoundArguments) -> str:
    """Return the call as Python writes it: functions by name, and options that are None left out."""
    words = []
    for name, value in given.arguments.items():
        shown = name_of(value) if callable(value) else repr(value)
        if signature.parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            words.append(shown)
        elif value is not None and name not in _NOT_IN_A_CALL:
            words.append(f"{name}={shown}")
    return f"{kind}({', '.join(words)})"


def name_of(function: object) -> str:
    """Return the name by which reports speak of a function."""
    for source in (function, type(function)):
        name = getattr(source, "__name__", None)
        if isinstance(name, str) and name:
            return name
    return "function"
