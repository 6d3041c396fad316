"""The one type of result that every guarantee gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
        The call that repeats it.
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

    kind: str
    name: str
    claim: str
    verdict: AuditVerdict
    seen: str
    counterexample: str | None
    detectable: str | None
    mdv: float | None
    log_e_value: float | None
    p_value: float | None
    alpha: float
    samples: int
    seed: int
    call: str
    seconds: float = field(compare=False)
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


def judged(*, violated: bool, mdv: float | None, of_interest: float) -> AuditVerdict:
    """Return the verdict: a pass only where a violation of the size of interest would have been found."""
    if violated:
        return AuditVerdict.VIOLATED
    if mdv is None or not mdv <= of_interest:
        return AuditVerdict.UNDECIDED
    return AuditVerdict.NOT_VIOLATED


def call_text(kind: str, *arguments: object, **options: object) -> str:
    """Return the call of a guarantee as Python writes it; functions by name, and options that are None left out."""
    words = [_shown(argument) for argument in arguments]
    words += [f"{name}={_shown(value)}" for name, value in options.items() if value is not None]
    return f"{kind}({', '.join(words)})"


def _shown(value: object) -> str:
    if callable(value):
        return name_of(value)
    return repr(value)


def name_of(function: object) -> str:
    """Return the name by which reports speak of a function."""
    for source in (function, type(function)):
        name = getattr(source, "__name__", None)
        if isinstance(name, str) and name:
            return name
    return "function"
