"""The sparse vector technique, which tells the queries that lie above a threshold.

Lyu, Su and Li (2017), Understanding the sparse vector technique for differential privacy, Figure 1, lists six variants;
:func:`algorithm` has them under their numbers there. All compare ``q_i + ν_i`` with ``T + ρ``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.errors import InputError
from dpsco_verify.faults.mechanisms.selection import Attributes, attribute_counts

ABOVE, BELOW, NOT_ASKED = 1, 0, -1


@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """One variant.

    Attributes
    ----------
    threshold
        T, the same for all queries.
    threshold_scale
        The scale of the Laplace noise ρ.
    query_scale
        That of each ν_i; 0 for no noise.
    refreshed_scale
        That of the ρ which is drawn anew after each answer "above"; None keeps the first.
    cutoff
        After how many answers "above" to stop; None answers all.
    numeric
        Whether "above" is answered by ``q_i + ν_i`` itself.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    refreshed_scale: float | None = None
    cutoff: int | None = None
    numeric: bool = False

    def __call__(self, dataset: Attributes, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the answers to all k queries, shape (size, k).

        They are `ABOVE`, `BELOW` and, after the stop, `NOT_ASKED`; for a numeric variant, values, and NaN for the two
        others (which are told apart by the number of values before).
        """
        queries = attribute_counts(dataset)
        rho = rng.laplace(scale=self.threshold_scale, size=size)
        found = np.zeros(size, dtype=np.int64)
        answers = np.full((size, queries.size), np.nan if self.numeric else float(NOT_ASKED))
        for i, query in enumerate(queries):
            asked = np.ones(size, dtype=np.bool_) if self.cutoff is None else found < self.cutoff
            noisy = query + rng.laplace(scale=self.query_scale, size=size)
            above = noisy >= self.threshold + rho
            if self.numeric:
                answers[asked & above, i] = noisy[asked & above]
            else:
                answers[asked, i] = np.where(above[asked], ABOVE, BELOW)
            found += asked & above
            if self.refreshed_scale is not None:
                rho = np.where(above, rng.laplace(scale=self.refreshed_scale, size=size), rho)
        return answers if self.numeric else answers.astype(np.int64)


def algorithm(number: int, *, epsilon: float, cutoff: int, threshold: float) -> SparseVector:
    """Return Algorithm 1 to 6 of Lyu, Su and Li's Figure 1, which claims ε, for queries of sensitivity 1.

    1. Theirs: ρ of scale 2/ε, ν of scale 4c/ε.
    2. Dwork and Roth (2014): ρ of scale 2c/ε, drawn anew after each "above"; ν of scale 4c/ε.
    3. Roth (2011): ρ of scale 2/ε, ν of scale 2c/ε, and the noisy value itself is the answer.
    4. Lee and Clifton (2014): ρ of scale 4/ε, ν of scale 4/(3ε), which does not grow with c.
    5. Stoddard, Chen and Machanavajjhala (2014): ρ of scale 2/ε, no ν, no stop.
    6. Chen, Xiao, Zhang and Xu (2015): ρ and ν of scale 2/ε, no stop.
    """
    c = cutoff
    variants = {
        1: SparseVector(
            threshold=threshold, threshold_scale=2 / epsilon, query_scale=4 * c / epsilon, cutoff=c
        ),
        2: SparseVector(
            threshold=threshold,
            threshold_scale=2 * c / epsilon,
            query_scale=4 * c / epsilon,
            refreshed_scale=2 * c / epsilon,
            cutoff=c,
        ),
        3: SparseVector(
            threshold=threshold,
            threshold_scale=2 / epsilon,
            query_scale=2 * c / epsilon,
            cutoff=c,
            numeric=True,
        ),
        4: SparseVector(
            threshold=threshold, threshold_scale=4 / epsilon, query_scale=4 / (3 * epsilon), cutoff=c
        ),
        5: SparseVector(threshold=threshold, threshold_scale=2 / epsilon, query_scale=0.0),
        6: SparseVector(threshold=threshold, threshold_scale=2 / epsilon, query_scale=2 / epsilon),
    }
    if number not in variants:
        raise InputError(f"number={number!r} is not an algorithm of the figure; give 1 to {len(variants)}")
    return variants[number]
