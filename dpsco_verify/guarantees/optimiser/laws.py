"""The claims about the law of an optimiser's output, but for privacy: invariances, and that its seed decides it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream
from dpsco_verify.guarantees.laws import equal_law
from dpsco_verify.guarantees.optimiser.fits import TOGETHER, Optimiser, Place
from dpsco_verify.guarantees.optimiser.neighbours import SIZES, Group, Instances
from dpsco_verify.guarantees.result import GuaranteeResult, exact

_DIFFERENT = 0.3
"""Laws that differ by less in total variation are not of interest."""

_OF_A_SYMMETRY = (32, 128, 8)
"""Numbers of records, the first that is taken: what their order does grows with the root of them, and so does work."""

_SEED_RUNS, _MANY = 32, 12
"""Runs whose outputs are compared, and the number of different ones among them that do not repeat by chance."""

REPEATS = "another generator returned the same different points"
"""How a counterexample to the use of the generator tells that noise was kept."""

Accepted = dict[int, "str | None"]
"""For each number of records why the optimiser refuses it, or None."""


class OptimiserMechanism:
    """The optimiser as a mechanism."""

    def __init__(self, optimiser: Optimiser, place: Place) -> None:
        self._optimiser, self._place = optimiser, place
        self.takes_rng = optimiser.takes_rng

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the points of independent runs on one data set, shape (size, d)."""
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
        self._mechanism, self._records = OptimiserMechanism(optimiser, place), records
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
