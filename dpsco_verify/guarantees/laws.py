"""The guarantee that two functions have one law: a fast path against its oracle, a rewrite against what it replaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_verify.auditing import AuditResult, AuditVerdict, audit
from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.calls import Draw
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.guarantees.witnesses import of_audit
from dpsco_verify.validation import require_half_open_interval

_OF_INTEREST = 0.2
_FIRST, _SECOND = "first", "second"
_CHOICE = 0.5
"""Where an output has parts, the choice of the event among them costs up to so many standard errors more than on the
line, as measured with 2, 3 and 8 coordinates, one of which is shifted."""


@guarantee
def equal_law(
    first: Draw,
    second: Draw,
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float = _OF_INTEREST,
    time_limit: float = 60.0,
    floating_point: bool = False,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that two functions draw from one law: of numbers, vectors, strings, or structures of these.

    Parameters
    ----------
    first, second
        ``draw(size, rng)`` returns `size` independent outputs, as an array (size, …) or a list.
    alpha
        The probability, at most, of finding equal laws different.
    samples
        Outputs of each, at most.
    seed
        The root seed.
    violation_of_interest
        The verdict is ``undecided`` unless an event whose probabilities differ by this much would have been found.
    time_limit
        Seconds that one call may take.
    floating_point
        Whether the last bits of doubles count.
    name
        How reports name what is judged.

    Raises
    ------
    InputError
        For a bad argument.
    MechanismError
        If both functions do nothing but raise, or one hangs, ignores the generator, or returns what cannot be judged;
        where one raises, that is an outcome like others.

    Notes
    -----
    Equal laws are (0, 0)-differential privacy of the function that draws from the first on one data set and from the
    second on another, so :func:`dpsco_verify.auditing.audit` judges it: an event is chosen on one part of the outputs,
    among thresholds and intervals of every coordinate, distances, categories and a classifier, in both directions, and
    its two probabilities are compared on fresh outputs, by its two tests. The MDV is a lower bound on the total
    variation, and has room for the choice of another event: a violation of its size is found in about nine of ten runs,
    on the line and in more dimensions (``python -m benchmarks.guarantee_validity``).

    Examples
    --------
    >>> roll = lambda size, rng: rng.integers(1, 7, size)
    >>> loaded = lambda size, rng: np.minimum(rng.integers(1, 9, size), 6)
    >>> print(equal_law(roll, roll).verdict, equal_law(roll, loaded).verdict)
    not_violated violated
    """
    interest = require_half_open_interval("violation_of_interest", violation_of_interest, 0.0, 1.0)
    for what, function in (("first", first), ("second", second)):
        if not callable(function):
            raise InputError(f"{what}={function!r} is not callable; give a function draw(size, rng)")
    shown = name or f"{name_of(first)} and {name_of(second)}"

    has_parts = False

    def either(dataset: str, size: int, rng: np.random.Generator) -> Any:
        nonlocal has_parts
        outputs = (first if dataset == _FIRST else second)(size, rng)
        has_parts = has_parts or _have_parts(outputs)
        return outputs

    # As for a mechanism: False says that a function has randomness of its own.
    vars(either)["takes_rng"] = all(getattr(f, "takes_rng", True) for f in (first, second))
    found = audit(
        either,
        _FIRST,
        _SECOND,
        epsilon=0.0,
        alpha=alpha,
        samples=samples,
        seed=seed,
        multiple_of_interest=math.inf,
        time_limit=time_limit,
        floating_point=floating_point,
        name=shown,
    )
    violated = found.verdict is AuditVerdict.VIOLATED
    mdv = None if found.mdv is None else found.mdv.delta
    if mdv is not None and has_parts:
        mdv = min(1.0, mdv + _CHOICE * _standard_error(found))
    return sampled(
        name=shown,
        claim="one law",
        seen=_seen(found),
        more=f", so the total variation is at least {found.delta_lower:.4g}",
        violated=violated,
        p_value=found.p_value,
        log_e_value=found.log_e_value,
        alpha=alpha,
        mdv=mdv,
        of_interest=interest,
        would="" if mdv is None else f"a difference of {mdv:.4g} in its probabilities",
        nothing=f"{samples:,} outputs of each",
        samples=2 * found.samples,
        seed=seed,
        witness=of_audit(f"{shown}: one law", found) if violated else None,
        figures={"total_variation_lower_bound": found.delta_lower},
    )


def _have_parts(outputs: Any) -> bool:
    """Return whether one output is more than a number, a text or another atom."""
    if isinstance(outputs, np.ndarray):
        return outputs.ndim > 1
    return isinstance(outputs, list) and any(not np.isscalar(one) for one in outputs[:1])


def _standard_error(found: AuditResult) -> float:
    """Return that of the difference of the event's two frequencies."""
    n = found.witness.samples
    p, q = found.witness.occurrences / n, found.witness.occurrences_neighbour / n
    return math.sqrt((p * (1.0 - p) + q * (1.0 - q)) / n)


def _seen(found: AuditResult) -> str:
    w = found.witness
    first, second = (_SECOND, _FIRST) if w.swapped else (_FIRST, _SECOND)
    return (
        f"the event [{w.event}] holds {w.occurrences} of {w.samples} outputs of the {first} and "
        f"{w.occurrences_neighbour} of {w.samples} of the {second}"
    )
