"""Faults of selection: the sparse vector technique's variants, and a noisy maximum with its value."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpsco_verify.faults.exhibit import Exhibit
from dpsco_verify.faults.laws import (
    noisy_max_value_delta,
    numeric_sparse_vector_delta,
    pair_delta,
    sparse_vector_law,
)
from dpsco_verify.faults.mechanisms.selection import Attributes, NoisyMax
from dpsco_verify.faults.mechanisms.sparse_vector import algorithm
from dpsco_verify.privacy.claims import PureDP

_LYU = "Lyu, Su and Li (2017), Figure 1"


def opposed(first: list[int]) -> tuple[Attributes, Attributes]:
    """Return two data sets of one record each, where the second has just those attributes that the first lacks.

    So some counts rise by 1 while the others fall: what Lyu, Su and Li's proofs of non-privacy ask for.
    """
    record = np.array([first], dtype=np.int64)
    return record, 1 - record


def _sparse_vector(number: int, *, cutoff: int, first: list[int], **rest: Any) -> Exhibit:
    mechanism = algorithm(number, epsilon=1.0, cutoff=cutoff, threshold=1.0)
    pair = opposed(first)
    return Exhibit(
        id=f"sparse-vector-{number}",
        mechanism=mechanism,
        pairs=(pair,),
        claim=PureDP(1.0),
        relation="replace-one",
        true_delta=(
            partial(numeric_sparse_vector_delta, mechanism, *pair, 1.0)
            if mechanism.numeric
            else partial(pair_delta, sparse_vector_law, mechanism, pair, 1.0)
        ),
        **rest,
    )


_NOISY_MAX = NoisyMax(epsilon=0.7, with_value=True)
_ALL_OR_NONE = (np.zeros((1, 5), dtype=np.int64), np.ones((1, 5), dtype=np.int64))

SELECTION_FAULTS: tuple[Exhibit, ...] = (
    _sparse_vector(
        3,
        cutoff=1,
        first=[0] * 5 + [1],
        title="Sparse vector technique that answers by the noisy value itself (Algorithm 3)",
        source=f"Roth's lecture notes (2011); {_LYU}",
        truth="unbounded in the number of queries: the value bounds the noisy threshold from above",
        samples=150_000,
        cost=1.2,
        slow=True,
    ),
    _sparse_vector(
        4,
        cutoff=2,
        first=[0] * 5 + [1] * 5,
        title="Sparse vector technique whose query noise does not grow with the cutoff c (Algorithm 4)",
        source=f"Lee and Clifton (2014); {_LYU}",
        truth="(1 + 6c)/4·ε, here 3.25 with c = 2",
        samples=36_000,
        cost=0.5,
        slow=True,
    ),
    _sparse_vector(
        5,
        cutoff=1,
        first=[0, 1],
        title="Sparse vector technique without noise on the queries (Algorithm 5)",
        source=f"Stoddard, Chen and Machanavajjhala (2014); {_LYU}",
        truth="unbounded: the order of two answers is that of the queries",
        samples=12_000,
    ),
    _sparse_vector(
        6,
        cutoff=1,
        first=[0] * 5 + [1] * 5,
        title="Sparse vector technique that never stops (Algorithm 6)",
        source=f"Chen, Xiao, Zhang and Xu (2015); {_LYU}",
        truth="unbounded in the number of queries: each answer costs as much as the first",
        samples=40_000,
    ),
    Exhibit(
        id="noisy-max-value",
        title="Report noisy max with the noisy value beside the place",
        source="Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy",
        mechanism=_NOISY_MAX,
        pairs=(_ALL_OR_NONE,),
        claim=PureDP(0.7),
        relation="replace-one",
        truth="k/2·ε for k queries that move together, here 1.75",
        true_delta=partial(noisy_max_value_delta, _NOISY_MAX, *_ALL_OR_NONE, 0.7),
        samples=36_000,
    ),
)
