"""The result of an audit of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from dpsco_verify.auditing.pairs import describe_pair
from dpsco_verify.auditing.portable import Portable, presentation
from dpsco_verify.auditing.records import same_data
from dpsco_verify.choices import EPSILON_FOR_NONE
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.inference import CellCounts
from dpsco_verify.privacy.claims import PrivacyClaim

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class MinimumDetectableViolation:
    """The smallest violation that the audit would have found, on its event, with probability at least `power`.

    An audit misses, and states an MDV below what is true of its event, with probability at most 1 − `power`, for
    every mechanism (proof: :mod:`dpsco_verify.auditing.detectable`). It speaks of no other event and no other pair.

    Attributes
    ----------
    epsilon
        In terms of ε at the tested δ: the event's ``log((P(E) − δ)/P'(E))``.
    delta
        In terms of δ at the tested ε: the event's ``P(E) − e^ε P'(E)``.
    delta_excess
        By how much `delta` exceeds the claimed one.
    privacy_loss_factor
        An estimate: a mechanism of the same shape whose privacy losses are this many times as large as those that were
        seen is found, such as a Gaussian mechanism with so much less noise. None where no loss was seen.
    power
        0.9.

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.7, data[0], 1 - data[0])
    >>> mdv = audit(flip, [0], [1], epsilon=1.0).mdv  # ε = 0.85, so the claim of 1 is kept
    >>> print(round(mdv.epsilon, 1), mdv.power)
    1.2 0.9
    """

    epsilon: float
    delta: float
    delta_excess: float
    privacy_loss_factor: float | None
    power: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Witness:
    """The event, and what was seen of it on fresh samples.

    Two are equal if all that was found is: `contains` has no part in it, and data sets are compared entry by entry.

    Attributes
    ----------
    d, d_prime
        The data sets, in the order in which the event is likelier on d.
    swapped
        Whether that is the other order than the one given.
    event
        In words.
    contains
        Whether outputs, as :func:`dpsco_verify.auditing.outputs.encode` codes them, lie in the event. It is pickled
        along where it can be, and says so where it could not.
    counts, decision_counts
        Pairs of fresh outputs by whether the first lies in the event, and the second: all, and those up to the
        decision.
    frequency, frequency_neighbour
        How often the event occurred on d and on d_prime.
    alpha, fractions
        The level of the test of this event that decided, and the bets of the one that may decide at any time, as
        fractions of the largest, ``λ = θ/(e^ε + δ)``.
    weights
        Those of the test of all outputs (:mod:`dpsco_verify.inference.fixed_size_test`), where it was this that found
        the violation; None otherwise.
    seed
        The root seed of the audit.

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.9, data[0], 1 - data[0])
    >>> witness = audit(flip, [0], [1], epsilon=1.0).witness
    >>> print(round(witness.frequency, 1), round(witness.frequency_neighbour, 1))
    0.9 0.1
    """

    d: Any
    d_prime: Any
    swapped: bool
    event: str
    contains: Portable = field(compare=False)
    counts: CellCounts
    decision_counts: CellCounts
    frequency: float
    frequency_neighbour: float
    alpha: float
    fractions: tuple[float, ...]
    seed: int
    weights: tuple[float, float] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Witness):
            return NotImplemented
        pairs = ((self.d, other.d), (self.d_prime, other.d_prime))
        return self._plainly == other._plainly and all(same_data(one, another) for one, another in pairs)

    def __hash__(self) -> int:
        return hash(self._plainly)

    def __repr__(self) -> str:
        return (
            f"Witness(event={self.event!r}, occurrences={self.occurrences}, "
            f"occurrences_neighbour={self.occurrences_neighbour}, samples={self.samples})"
        )

    @property
    def _plainly(self) -> tuple[Any, ...]:
        """All but the data sets, which may be of any type."""
        named = [f.name for f in fields(self) if f.compare and f.name not in {"d", "d_prime"}]
        return tuple(getattr(self, name) for name in named)

    @property
    def occurrences(self) -> int:
        """How many fresh outputs on d lie in the event."""
        return self.counts.n11 + self.counts.n10

    @property
    def occurrences_neighbour(self) -> int:
        """How many fresh outputs on d_prime lie in the event."""
        return self.counts.n11 + self.counts.n01

    @property
    def samples(self) -> int:
        """How many fresh outputs were drawn on each."""
        return self.occurrences + self.counts.n01 + self.counts.n00


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult:
    """What an audit of a mechanism found.

    It can be pickled and compared: equal results found the same, whatever time they took. A claim that is made of a
    lambda is pickled along; one that cannot be says why. Where mechanism and data sets cannot be pickled, what was
    found can be all the same, and :meth:`reproduce` then says that the audit was left behind.

    Attributes
    ----------
    verdict
        ``violated``; ``not_violated``, which says that the violations from `mdv` on would have been found; or
        ``undecided``, where that is more than was asked for.
    mechanism, claim, relation
        What was audited against what.
    order, delta_at_order
        The point ``(ε, δ(ε))`` of the claim that was tested on fresh samples.
    epsilon_lower
        ε at `delta_at_order` is at least this, with confidence 1 − α.
    delta_lower
        δ at `order` is at least this, with confidence 1 − α.
    mdv
        The smallest violation that would have been found; None where none would have been.
    witness
        The event.
    alpha
        The probability, at most, of finding a true claim violated.
    log_e_value, p_value
        The evidence against the claim: the log of an e-value, and an anytime-valid p-value.
    samples, samples_to_decision
        Outputs drawn a data set, the search's included; and those after which the verdict stood.
    candidates
        How many events were looked at in the search.
    pairs, pairs_tried, searched
        How many pairs share the level, the witness being the worst one's; how many were looked at, which is more where
        a strategy was searched for one; and whether it was.
    seconds
        Wall-clock time.
    reproducible
        Whether the same call gives the same numbers: not so where a mechanism has its own randomness.
    notes
        What else was noticed.
    epsilon_of_interest, multiple_of_interest
        What had to be detectable for a pass: this ε, or in its absence this multiple of the claim.
    samples_needed
        Of an undecided audit: about how many samples would have let it find what is of interest, on its event; None
        where no number would.
    neighbours
        Where no relation was given: which one the pair seems to have, or that it has none; else None.
    ended_after
        Where the time was up before the end: the seconds that the whole audit was given. Such a result is not
        `reproducible`.
    unseen
        Of an undecided audit: what of the outputs no event speaks of, such as texts that occur once.
    growth
        The evidence of the test that decided, or was the last: after so many fresh pairs the log of its e-value.

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.8, data[0], 1 - data[0])
    >>> result = audit(flip, [0], [1], epsilon=1.0)  # randomised response of ε = log 4
    >>> print(result.verdict, 1.0 < result.epsilon_lower <= np.log(4))
    violated True
    >>> audit(flip, [0], [1], epsilon=1.0) == result
    True
    """

    verdict: AuditVerdict
    mechanism: str
    claim: PrivacyClaim
    relation: str | None
    order: float
    delta_at_order: float
    epsilon_lower: float
    delta_lower: float
    mdv: MinimumDetectableViolation | None
    witness: Witness
    alpha: float
    log_e_value: float
    p_value: float
    samples: int
    samples_to_decision: int | None
    candidates: int
    pairs: int
    seconds: float = field(compare=False)
    reproducible: bool
    epsilon_of_interest: float | None
    multiple_of_interest: float
    samples_needed: int | None
    pairs_tried: int = 1
    searched: bool = False
    notes: tuple[str, ...] = ()
    neighbours: str | None = None
    ended_after: float | None = None
    unseen: str | None = None
    growth: tuple[tuple[int, float], ...] = ()
    again: Portable | None = field(default=None, compare=False)

    __bool__ = no_truth_value("result.verdict is AuditVerdict.NOT_VIOLATED")

    def reproduce(self) -> AuditResult:
        """Run the same audit again: same seed, same samples, hence the same result where `reproducible`."""
        if self.again is None:
            raise InputError("again=None: this result does not hold its audit; run the audit anew")
        again: AuditResult = self.again()
        return again

    def __repr__(self) -> str:
        shown = {
            "verdict": repr(self.verdict.value),
            "mechanism": repr(self.mechanism),
            "claim": str(self.claim),
            "epsilon_lower": f"{self.epsilon_lower:.4g}",
            "delta_lower": f"{self.delta_lower:.4g}",
            "mdv": "None" if self.mdv is None else f"ε {self.mdv.epsilon:.4g}",
            "samples": str(self.samples),
        }
        return f"AuditResult({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def _repr_html_(self) -> str:
        """Return the result as a notebook shows it: what was found, with both figures."""
        page: str = presentation("as_html")(self)
        return page

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as JSON has it: numbers that are not finite are None, data sets are in words."""
        found: dict[str, Any] = presentation("as_dict")(self)
        return found

    def plot(self, what: Literal["curve", "evidence"] = "curve") -> Figure:
        """Return a matplotlib figure.

        Parameters
        ----------
        what
            ``curve``: the claimed δ(ε), the lower bounds, and the violations that would have been found. ``evidence``:
            the log of the e-value against the claim as fresh outputs came in, and the level at which it decides.
        """
        figure: Figure = presentation("figure_of")(self, what)
        return figure

    @property
    def summary(self) -> str:
        """What was found, in one sentence; of several pairs on which, and without a relation which that pair has."""
        return "; ".join(part for part in (self._found, self._judged, self.neighbours) if part)

    @property
    def _judged(self) -> str:
        if self.pairs_tried == 1 and not self.searched:
            return ""
        shown = describe_pair(self.witness.d, self.witness.d_prime)
        if self.pairs_tried == 1:
            return f"1 pair was tried, which was plain enough: {shown}"
        return f"{self.pairs_tried:,} pairs were tried, of which this is the worst: {shown}"

    @property
    def _found(self) -> str:
        w = self.witness
        seen = (
            f"{w.occurrences} of {w.samples} outputs on one data set and {w.occurrences_neighbour} of {w.samples} on "
            "its neighbour"
        )
        if self.verdict is AuditVerdict.VIOLATED:
            return (
                f"{self.mechanism} violates {self.claim}: the event [{w.event}] holds {seen}; with confidence "
                f"1 − {self.alpha:.3g}, ε ≥ {self.epsilon_lower:.4g} at δ = {self.delta_at_order:.4g}, and "
                f"δ ≥ {self.delta_lower:.4g} at ε = {self.order:.4g}"
            )
        if self.verdict is AuditVerdict.UNDECIDED:
            return (
                f"{self.mechanism} against {self.claim}: undecided, as {self.why_undecided}; {self.way_out}"
            )
        return (
            f"{self.mechanism} does not violate {self.claim}, as far as {self.samples} samples show; "
            f"{self._would_have_found}"
        )

    @property
    def _would_have_found(self) -> str:
        if self.mdv is None:
            return f"{self.samples} samples could show no violation at level {self.alpha:.3g}"
        at = f"at δ = {self.delta_at_order:.4g}"
        if self.order == 0.0 and self.delta_at_order > 0.0:
            # Total variation speaks in δ.
            at += f", or δ ≥ {self.mdv.delta:.4g} at ε = 0,"
        return (
            f"this audit would have found ε ≥ {self.mdv.epsilon:.4g} {at} on its event with probability "
            f"{self.mdv.power:g}"
        )

    @property
    def why_undecided(self) -> str:
        """What was to be found and would not have been, in words, of an undecided audit."""
        if self.ended_after is not None:
            tested = (
                f"{self.witness.samples:,} of them for its test, which had found no violation"
                if self.witness.samples
                else "before any event was tested"
            )
            return (
                f"total_time_limit={self.ended_after:g} seconds were over after {self.samples:,} outputs a data set, "
                f"{tested}"
            )
        if self.unseen is not None:
            return self.unseen
        if self.mdv is None:
            return self._would_have_found
        if self.epsilon_of_interest is not None:
            wanted = f"ε = {self.epsilon_of_interest:.4g}"
        elif self.order == 0.0 and self.delta_at_order == 0.0:
            wanted = f"ε = {self.multiple_of_interest * EPSILON_FOR_NONE:.4g}"
        else:
            wanted = f"a violation of {self.multiple_of_interest:g} times the claim"
        return f"{wanted} was to be found; {self._would_have_found}"

    @property
    def way_out(self) -> str:
        """What an undecided audit needs, in words."""
        if self.ended_after is not None:
            return "give a larger total_time_limit, or fewer samples"
        if self.unseen is not None:
            return "give features= of them, or return what they are made of"
        if self.samples_needed is None:
            return "no number of samples would do"
        return f"give more samples, about {self.samples_needed:,}"
