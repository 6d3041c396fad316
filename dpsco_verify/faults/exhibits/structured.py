"""Faults of what is released beside the numbers, and of several releases in one, each with its right counterpart."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import comb

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.exhibit import DensityExhibit, Exhibit, fault_and_control
from dpsco_verify.faults.exhibits.release import always
from dpsco_verify.faults.mechanisms.additive import gaussian_sigma
from dpsco_verify.faults.mechanisms.compositions import (
    GaussianValue,
    HashedBits,
    Layers,
    RunningSums,
    textbook_sigma,
)
from dpsco_verify.faults.mechanisms.groups import GroupsTold, NoisyGroups
from dpsco_verify.privacy.claims import ApproximateDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta

_EPSILON, _DELTA = 1.0, 1e-5
_SIGMA = gaussian_sigma(_EPSILON, _DELTA)
_TERMS = 20
_BITS, _CHANGED, _A_BIT = 16, 8, 0.5
_WIDTH = 150
_LARGE_EPSILON = 20.0


def _gaussian(distance: float, epsilon: float = _EPSILON) -> float:
    return float(gaussian_delta(epsilon, distance))


def _bits_delta(a_bit: float, epsilon: float) -> float:
    """Return δ(ε) of `_CHANGED` bits by randomised response: of which j are as they are, a loss of (2j − k)·`a_bit`."""
    k, p = _CHANGED, 1.0 / (1.0 + math.exp(-a_bit))
    return math.fsum(
        float(comb(k, j)) * p**j * (1.0 - p) ** (k - j) * max(0.0, -math.expm1(epsilon - (2 * j - k) * a_bit))
        for j in range(k + 1)
    )


def _layers(first: float) -> FloatArray:
    """Return two gradients in two layers of `_WIDTH` entries.

    One has norm `first`, and in each layer entries of one size; the other norm 1, and entries that all differ.
    """
    row = np.concatenate([np.full(_WIDTH, 1.0), np.full(_WIDTH, 2.0)])
    other = np.linspace(1.0, 2.0, 2 * _WIDTH)
    return np.stack([first * row / np.linalg.norm(row), other / np.linalg.norm(other)])


_VALUE = np.zeros((1, _BITS), dtype=np.int64)
_OTHER = np.array([[1] * _CHANGED + [0] * (_BITS - _CHANGED)], dtype=np.int64)
_POINTS = (np.array([1.0]), np.array([0.0]))


def _groups(told: GroupsTold, *, scale: float, **rest: Any) -> tuple[Exhibit, Exhibit]:
    wrong, right = (NoisyGroups(told=one, scale=scale) for one in (told, GroupsTold.ALL))
    return fault_and_control(
        wrong,
        right,
        claim=PureDP(1.0),
        true_delta=always,
        right_title="The public keys with their noisy counts",
        source="public software: groups come as the data give them",
        samples=2_500,
        **rest,
    )


_TEXTBOOK = GaussianValue(sigma=textbook_sigma(_LARGE_EPSILON, _DELTA))

STRUCTURED: tuple[Exhibit, ...] = (
    *_groups(
        GroupsTold.AS_THEY_APPEAR,
        scale=2.0,
        id_="order-of-groups",
        title="Groups with noisy counts, in the order in which they appear in the data",
        pairs=((["a", "b", "b", "a"], ["b", "b", "b", "a"]),),
        relation="replace-one",
        truth="unbounded: the first key is the first record's",
    ),
    *_groups(
        GroupsTold.THOSE_THERE,
        scale=1.0,
        id_="keys-of-groups",
        title="Noisy counts of the groups that there are, and no others",
        pairs=((["a", "b", "b"], ["b", "b"]),),
        truth="unbounded: a key is there if and only if a record has it",
    ),
    *_groups(
        GroupsTold.AS_TEXT,
        scale=1.0,
        id_="groups-as-text",
        title="Noisy counts as a text in JSON, whose keys are those in the data",
        pairs=((["a", "b", "b"], ["b", "b"]),),
        truth="unbounded: each text is another, and their form has the keys",
    ),
    *fault_and_control(
        Layers(sigma=1.0, one_draw=True),
        Layers(sigma=1.0, one_draw=False),
        id_="shared-noise",
        title="Two layers of 150 coordinates with one draw of noise",
        right_title="Two layers of 150 coordinates, each with noise of its own",
        source="public software for DP-SGD: one key of the generator for all parameters (jax pull request 3646)",
        pairs=((_layers(1.0), _layers(0.0)),),
        claim=ApproximateDP(_EPSILON, _gaussian(1.0)),
        relation="zero-out",
        truth="unbounded: the difference of the layers is exact",
        true_delta=always,
        right_delta=partial(_gaussian, 1.0),
        samples=3_000,
        cost=1.0,
        slow=True,
    ),
    *fault_and_control(
        RunningSums(sigma=_SIGMA),
        RunningSums(sigma=_SIGMA * math.sqrt(_TERMS)),
        id_="running-sums",
        title="Twenty running sums of noisy entries, with the noise of one",
        right_title="Twenty running sums of noisy entries, with the noise of all",
        source="Bichsel, Steffen, Bogunovic and Vechev (2021), DP-Sniper: prefix sums",
        pairs=((np.resize([1.0, -1.0], (1, _TERMS)), np.zeros((1, _TERMS))),),
        claim=ApproximateDP(_EPSILON, _DELTA),
        relation="zero-out",
        truth="the ℓ₂ sensitivity is √20 times as large",
        true_delta=partial(_gaussian, math.sqrt(_TERMS) / _SIGMA),
        right_delta=partial(_gaussian, 1.0 / _SIGMA),
        samples=30_000,
        cost=1.0,
    ),
    *fault_and_control(
        HashedBits(epsilon_a_bit=_A_BIT),
        HashedBits(epsilon_a_bit=_A_BIT / _CHANGED),
        id_="hashed-bits",
        title="Sixteen bits by randomised response, each for the whole ε",
        right_title="Sixteen bits by randomised response, for an eighth of ε each",
        source="Erlingsson, Pihur and Korolova (2014), RAPPOR: a value moves several bits",
        pairs=((_VALUE, _OTHER),),
        claim=PureDP(_A_BIT),
        relation="replace-one",
        truth="ε = 4: eight bits change",
        true_delta=partial(_bits_delta, _A_BIT, _A_BIT),
        samples=20_000,
        cost=1.0,
    ),
    DensityExhibit(
        id="textbook-gaussian",
        title="Gaussian noise by the textbook formula at ε = 20",
        source="Balle and Wang (2018), Section 2.3: the classical formula beyond ε = 1",
        mechanism=_TEXTBOOK,
        log_density=_TEXTBOOK.log_density,
        pairs=(_POINTS,),
        claim=ApproximateDP(_LARGE_EPSILON, _DELTA),
        relation="replace-one",
        truth="δ(20) is 150 times the claim",
        true_delta=partial(_gaussian, 1.0 / _TEXTBOOK.sigma, _LARGE_EPSILON),
        samples=10_000,
    ),
)
"""Each fault, and after it its counterpart; the last has none here, as its test passes nothing."""
