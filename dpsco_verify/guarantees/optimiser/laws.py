"""The claims about the law of an optimiser's output: privacy, invariances, and that its seed decides it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.guarantees.laws import equal_law
from dpsco_verify.guarantees.optimiser.fits import TOGETHER, Claim, Optimiser, Place
from dpsco_verify.guarantees.optimiser.neighbours import SIZES, Group, Instances
from dpsco_verify.guarantees.result import POWER, GuaranteeResult, exact
from dpsco_verify.guarantees.witnesses import of_audit
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim

_DIFFERENT = 0.3
"""Laws that differ by less in total variation are not of interest."""

_OF_A_SYMMETRY = (32, 128, 8)
"""Numbers of records, the first that is taken: what their order does grows with the root of them, and so does work."""

_SEED_RUNS, _MANY = 32, 12
"""Runs whose outputs are compared, and the number of different ones among them that do not repeat by chance."""

REPEATS = "another generator returned the same different points"
"""How a counterexample to the use of the generator tells that noise was kept."""

_TIMES = (1, 4)
"""How many times the outputs that were asked for are drawn; the second time where the first decides nothing."""
_ROUNDS = len(_TIMES)

_WORST_FIRST = (AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED, AuditVerdict.NOT_VIOLATED)

Accepted = dict[int, "str | None"]
"""For each number of records why the optimiser refuses it, or None."""


class _Mechanism:
    """The optimiser as a mechanism."""

    def __init__(self, optimiser: Optimiser, place: Place) -> None:
        self._optimiser, self._place = optimiser, place
        self.takes_rng = optimiser.takes_rng

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        return self._optimiser.run(np.broadcast_to(dataset, (size, *dataset.shape)), self._place, rng)


def sizes_accepted(optimiser: Optimiser, data: Instances, place: Place, *, seed: int) -> Accepted:
    """Return which numbers of records the optimiser takes, by trying them."""
    return {
        n: optimiser.accepts(data.ordered(n), place, stream(seed, f"optimiser/accepts/{n}")) for n in SIZES
    }


def judge_seed(optimiser: Optimiser, place: Place, data: FloatArray, *, seed: int) -> GuaranteeResult:
    """Judge, exactly, that the generator's state decides the output, and that noise is not kept from run to run.

    Runs with generators in one state have to agree. That runs with others agree is no fault of an output that has few
    values; of outputs with many it has a probability of less than 1e-20 where they are drawn anew.
    """
    # Records that differ show randomness in their order, and equal ones nothing but the noise.
    equal = np.broadcast_to(data[:1], data.shape)
    if optimiser.accepts(equal, place, stream(seed, "optimiser/seed/equal")) is not None:
        equal = data
    one, again, first, other = (
        optimiser.run(
            np.broadcast_to(records, (_SEED_RUNS, *data.shape)),
            place,
            stream(seed, "optimiser/seed", chunk=chunk),
        )
        for records, chunk in ((data, 0), (data, 0), (equal, 1), (equal, 2))
    )
    counterexample = None
    if not np.array_equal(one, again):
        at = int(np.argmax((one != again).any(axis=1)))
        counterexample = (
            f"two runs with generators in one state returned {one[at].tolist()} and {again[at].tolist()}"
        )
    elif np.array_equal(first, other) and np.unique(first, axis=0).shape[0] >= _MANY:
        counterexample = (
            f"on the same records {_SEED_RUNS} runs and as many with {REPEATS}, from {first[0].tolist()} on"
        )
    return exact(
        name=optimiser.name,
        claim="the state of rng decides the output, and another state draws other noise",
        seen=f"{_SEED_RUNS} runs with a generator in one state agree with as many more",
        counterexample=counterexample,
        detectable="any difference of these runs would have been seen, and any noise that they shared",
        samples=4 * _SEED_RUNS,
        seed=seed,
    )


def privacy_claim(claim: Claim | None, place: Place, n: int) -> PrivacyClaim:
    """Return the claimed guarantee with n records: by default (ε, δ) itself.

    Raises
    ------
    InputError
        If the claim is neither a privacy claim nor a pair (ε, δ) of numbers that are allowed.
    """
    found = (place.epsilon, place.delta) if claim is None else claim.at(place, n)
    if isinstance(found, PrivacyClaim):
        return found
    if isinstance(found, tuple) and len(found) == 2:
        return ApproximateDP(*found)
    raise InputError(
        f"privacy={found!r} is not a guarantee; return (epsilon, delta) or a claim of dpsco_verify.privacy.claims"
    )


@dataclass(frozen=True, kw_only=True)
class Law:
    """What a claim about the law of the output is judged with: the optimiser, data sets, the level, and how many runs.

    `accepted` says which numbers of records it takes at the place.
    """

    optimiser: Optimiser
    data: Instances
    place: Place
    accepted: Accepted
    alpha: float
    samples: int
    seed: int
    time_limit: float

    @property
    def seconds(self) -> float:
        """The seconds that all runs may take, each part of which has a limit of its own."""
        return self.time_limit * (2.0 + self.samples / TOGETHER)

    def at(self, group: Group) -> Place:
        """Return the place of a group of pairs."""
        return replace(self.place, task=group.task)

    def takes(self, group: Group) -> bool:
        """Return whether the optimiser takes any data set of a group: to take one and not its neighbour tells of it."""
        rng = stream(self.seed, f"optimiser/takes/{group.n}/{group.task.lipschitz}/{group.words}")
        data = (one for pair in group.pairs for one in pair)
        return any(self.optimiser.accepts(one, self.at(group), rng) is None for one in data)


def judge_privacy(law: Law, claim: Claim | None, *, outliers: bool) -> GuaranteeResult | str:
    """Audit the claimed privacy on the pairs of all numbers of records that the optimiser takes, or say why not."""
    if claim is not None:
        privacy_claim(claim, law.place, 1)
    taken = [n for n in SIZES if law.accepted[n] is None][:3]
    if not taken:
        return f"it refuses the data sets of the audit ({law.accepted[SIZES[-1]]})"
    # Where it refuses the scaled data sets, those of L = D = 1 are left, which it may refuse as well.
    plain = [Group(n=n, task=law.data.task(), pairs=law.data.pairs(n)) for n in taken]
    tried = list(zip(law.data.groups(taken), plain, strict=True))
    groups = [one for both in tried for one in [g for g in both if law.takes(g)][:1]]
    groups += [group for group in law.data.outliers(taken) if outliers and law.takes(group)]
    if not groups:
        return "it refuses the pairs of data sets of the audit"
    found, drawn = [], 0
    for group in groups:
        place = law.at(group)
        one, outputs = _audited(
            law, group, privacy_claim(claim, place, group.n), alpha=law.alpha / (_ROUNDS * len(groups))
        )
        found.append(one)
        drawn += outputs
        if one.verdict is AuditVerdict.VIOLATED:
            break
    return _as_result(law, found, groups, drawn)


def _audited(law: Law, group: Group, claim: PrivacyClaim, *, alpha: float) -> tuple[AuditResult, int]:
    """Audit a group of pairs, and where that was undecided once more, from more outputs; return how many were drawn.

    Where all records but one pull to the border of W, what tells of that one is rare. Each of the two audits accuses a
    right optimiser with a probability of at most `alpha`.
    """
    drawn = 0
    for times in _TIMES:
        found = audit(
            _Mechanism(law.optimiser, law.at(group)),
            pairs=group.pairs,
            claim=claim,
            relation="replace-one",
            alpha=alpha,
            samples=times * law.samples,
            seed=law.seed + times - 1,
            time_limit=law.seconds * times,
            name=law.optimiser.name,
        )
        drawn += 2 * found.samples
        if found.verdict is not AuditVerdict.UNDECIDED:
            break
    return found, drawn


def _as_result(law: Law, found: list[AuditResult], groups: list[Group], drawn: int) -> GuaranteeResult:
    violated = found[-1].verdict is AuditVerdict.VIOLATED
    # The claim is about all of them, so it stands only where each would have shown a violation of the size of interest;
    # what is told is the group that saw least.
    shown, group = (
        (found[-1], groups[len(found) - 1])
        if violated
        else max(zip(found, groups, strict=True), key=lambda one: _blindness(one[0]))
    )
    w = shown.witness
    first, second = w.d.tolist(), w.d_prime.tolist()
    pair = f"the data sets {first} and {second}" if len(first) <= 2 else f"two data sets of {group.n} records"
    pair += f" with {group.words}" if group.words else ""
    L, D, epsilon, delta = law.at(group).told
    at = f"at L = {L:g}, D = {D:g}, ε = {epsilon:g}, δ = {delta:g}"
    total = sum(len(one.pairs) for one in groups)
    held = f"{w.occurrences} and {w.occurrences_neighbour} of {w.samples} outputs"
    seen = f"{at} on {pair} the event [{w.event}] holds {held}"
    verdicts = {one.verdict for one in found}
    return GuaranteeResult(
        name=law.optimiser.name,
        claim=f"{shown.claim} on the worst of {total} pairs, in {len(groups)} groups, at ε = {epsilon:g}, "
        f"δ = {delta:g}",
        verdict=next(v for v in _WORST_FIRST if v in verdicts),
        seen=seen,
        counterexample=f"{seen}, so ε ≥ {shown.epsilon_lower:.4g} at δ = {shown.delta_at_order:.4g} (p-value "
        f"{shown.p_value:.3g}, seed {law.seed})"
        if violated
        else None,
        detectable=None
        if violated
        else "no violation would have been found there"
        if shown.mdv is None
        else f"ε ≥ {shown.mdv.epsilon:.4g} at δ = {shown.delta_at_order:.4g} would have been found there with "
        f"probability {POWER:g}, and no group saw less",
        mdv=None if violated or shown.mdv is None else shown.mdv.epsilon,
        # Groups and rounds that were not reached, or do not count, are evidence 0.
        log_e_value=float(
            np.logaddexp.reduce([one.log_e_value for one in found]) - math.log(_ROUNDS * len(groups))
        ),
        p_value=min(1.0, min(one.p_value for one in found) * _ROUNDS * len(groups)),
        alpha=law.alpha,
        samples=drawn,
        seed=law.seed,
        witness=of_audit(f"{law.optimiser.name}: {shown.claim} {at}", shown) if violated else None,
        figures={"epsilon_lower_bound": shown.epsilon_lower} if np.isfinite(shown.epsilon_lower) else {},
    )


def _blindness(one: AuditResult) -> tuple[bool, float]:
    """Return how little an audit would have found, to be compared with those of other groups."""
    return one.verdict is AuditVerdict.UNDECIDED, one.mdv.epsilon if one.mdv else math.inf


def _permutation(optimiser: Optimiser, data: Instances, place: Place, n: int) -> tuple[Any, Any] | str:
    records = data.ordered(n)
    return _On(optimiser, records, place), _On(optimiser, records[::-1].copy(), place)


def _scaling(optimiser: Optimiser, data: Instances, place: Place, n: int) -> tuple[Any, Any] | str:
    if data.plane(1) is None:
        return "it is a claim about linear losses"
    records = data.ordered(n)
    twice = replace(place, task=replace(place.task, data_radius=2.0), lipschitz=2.0 * place.told[0])
    return _On(optimiser, records, place), _On(optimiser, 2.0 * records, twice)


def _rotation(optimiser: Optimiser, data: Instances, place: Place, n: int) -> tuple[Any, Any] | str:
    records = data.plane(n)
    if records is None:
        return "it is a claim about linear losses"
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    flat = replace(place, task=data.task(2))
    turned = _On(optimiser, records @ turn.T, flat)

    def back(size: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(turned(size, rng) @ turn)

    vars(back)["takes_rng"] = optimiser.takes_rng
    return _On(optimiser, records, flat), back


INVARIANCES: Mapping[str, tuple[Callable[..., tuple[Any, Any] | str], str]] = {
    "permutation": (_permutation, "the order of the records does not change the law of w"),
    "scaling": (_scaling, "data and L twice as large do not change the law of w"),
    "rotation": (_rotation, "a rotation of the data rotates the law of w"),
}


class _On:
    """The optimiser's output on given records."""

    def __init__(self, optimiser: Optimiser, records: FloatArray, place: Place) -> None:
        self._mechanism, self._records = _Mechanism(optimiser, place), records
        self.takes_rng = optimiser.takes_rng

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        return self._mechanism(self._records, size, rng)


def judge_invariance(which: str, law: Law) -> GuaranteeResult | str:
    """Judge whether two data sets that differ by a symmetry give one law, or say why that cannot be asked."""
    taken = [n for n in _OF_A_SYMMETRY if law.accepted[n] is None]
    if not taken:
        return "it refuses the data sets"
    make, words = INVARIANCES[which]
    both = make(law.optimiser, law.data, law.place, taken[0])
    if isinstance(both, str):
        return both
    found = equal_law(
        *both,
        alpha=law.alpha,
        samples=law.samples,
        seed=law.seed,
        violation_of_interest=_DIFFERENT,
        time_limit=law.seconds,
        name=law.optimiser.name,
    )
    return replace(found, claim=f"{words} (n = {taken[0]})", call="", again=None)
