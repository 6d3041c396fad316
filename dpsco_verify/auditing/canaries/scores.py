"""Scores of canaries: checked, ranked with ties in a random order, and described without a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.auditing.repeats import repeats
from dpsco_verify.errors import InputError
from dpsco_verify.inference.binomial import at_most
from dpsco_verify.validation import require_finite_array

UNFAIR = 1e-9
"""Coins as uneven as those of fair ones with this probability, or more uneven, are refused."""

_FEWEST_VALUES = 16
_SHARED = 0.05

LOW_RATES = (0.001, 0.01, 0.1)
"""The false-positive rates at which the true-positive rate is told."""


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores from the largest to the smallest, each with whether its canary was in; shapes (m,)."""

    scores: FloatArray
    coins: BoolArray

    @property
    def canaries(self) -> int:
        """How many canaries there are, m."""
        return len(self.coins)

    @property
    def inside(self) -> int:
        """How many were in."""
        return int(np.count_nonzero(self.coins))

    @property
    def outside(self) -> int:
        """How many were out."""
        return self.canaries - self.inside

    def require_fair(self, instead: str) -> None:
        """Refuse coins that are none of fair ones.

        Raises
        ------
        InputError
            Where so uneven numbers have probability 1e-9 at most, which is how often true coins are refused.
        """
        few = min(self.inside, self.outside)
        if 2.0 * float(at_most(few, self.canaries, 0.5)) <= UNFAIR:
            raise InputError(
                f"scores_in holds {self.inside} and scores_out {self.outside} scores, which a fair coin for each "
                f"canary gives with probability below {UNFAIR:g}; draw fair coins, or {instead}"
            )


def checked_scores(scores_in: ArrayLike, scores_out: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both as arrays of finite doubles.

    Raises
    ------
    InputError
        For scores that are no finite numbers in a row, or an empty group.
    """
    found = []
    for name, scores in (("scores_in", scores_in), ("scores_out", scores_out)):
        array = require_finite_array(name, scores, shape=(None,))
        if array.size == 0:
            raise InputError(f"{name}=[] holds no score; give those of canaries that were in and of some out")
        found.append(array)
    return found[0], found[1]


def split_by_coins(scores: ArrayLike, coins: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the canaries that were in, and of those that were out.

    Parameters
    ----------
    scores, coins
        Shape (m,); coins are truth values, or 0 and 1.

    Raises
    ------
    InputError
        If they do not match, or a coin is neither 0 nor 1.

    Examples
    --------
    >>> split_by_coins([0.3, 0.9, 0.4], [0, 1, 0])
    (array([0.9]), array([0.3, 0.4]))
    """
    values = require_finite_array("scores", scores, shape=(None,))
    array: Any = np.asarray(coins)
    if array.shape != values.shape:
        raise InputError(
            f"coins.shape={array.shape} does not match scores.shape={values.shape}; give a coin for each score"
        )
    if array.dtype != np.bool_ and not (
        np.issubdtype(array.dtype, np.number) and np.isin(array, (0, 1)).all()
    ):
        raise InputError(
            f"coins of type {array.dtype} hold something else than coins; give 1 for in, 0 for out"
        )
    drawn = array.astype(np.bool_)
    return values[drawn], values[~drawn]


def ranked(scores_in: FloatArray, scores_out: FloatArray, rng: np.random.Generator) -> RankedScores:
    """Return the scores in falling order; equal ones in a random order, so that their coins are none of it."""
    scores = np.concatenate([scores_in, scores_out])
    coins = np.zeros(scores.size, dtype=np.bool_)
    coins[: scores_in.size] = True
    order = rng.permutation(scores.size)
    order = order[np.argsort(-scores[order], kind="stable")]
    return RankedScores(scores[order], coins[order])


def area_under_roc(scores_in: FloatArray, scores_out: FloatArray) -> float:
    """Return the part of pairs (in, out) in which the canary in scores higher, ties counted half."""
    sorted_out = np.sort(scores_out)
    below = np.searchsorted(sorted_out, scores_in, side="left").mean()
    upto = np.searchsorted(sorted_out, scores_in, side="right").mean()
    return float(0.5 * (below + upto) / scores_out.size)


def true_positive_rate(scores_in: FloatArray, scores_out: FloatArray, rate: float) -> float:
    """Return the part of scores_in above a threshold that at most the part `rate` of scores_out is above."""
    allowed = int(rate * scores_out.size)
    threshold = np.partition(scores_out, scores_out.size - 1 - allowed)[scores_out.size - 1 - allowed]
    return float((scores_in > threshold).mean())


def notes_on(scores_in: FloatArray, scores_out: FloatArray, area: float) -> tuple[str, ...]:
    """Return sentences on scores that repeat as those of few canaries do, and on such as tell nothing."""
    said = []
    if _copied(scores_in, scores_out) or repeats(
        encode(scores_in, scores_in.size), encode(scores_out, scores_out.size)
    ):
        said.append(_REPEATED)
    # The standard error of an AUROC of ½.
    error = math.sqrt((1.0 + 1.0 / scores_in.size + 1.0 / scores_out.size) / 12.0) * math.sqrt(
        1.0 / scores_in.size + 1.0 / scores_out.size
    )
    if area < 0.5 + 2.0 * error:
        said.append(
            f"with an AUROC of {area:.3g} the scores hardly tell canaries in from canaries out, so they would show "
            "hardly any violation; look for better canaries or scores"
        )
    return tuple(said)


def _copied(scores_in: FloatArray, scores_out: FloatArray) -> bool:
    """Return whether every score of a group is there more than once, and hardly any in both groups."""
    values, counts = zip(*(np.unique(s, return_counts=True) for s in (scores_in, scores_out)), strict=True)
    few = min(v.size for v in values)
    shared = np.isin(values[0], values[1]).sum()
    return bool(few >= _FEWEST_VALUES and min(c.min() for c in counts) >= 2 and shared <= _SHARED * few)


_REPEATED = (
    "the scores repeat as if they were those of fewer canaries: a canary that is counted more often than "
    "once makes every bound invalid; give each canary's score once"
)
