"""Guarantees at the boundary of their claims and at their MDV, at length: ``python -m benchmarks.guarantee_validity``.

How often a true claim at its boundary is found violated, at the level 0.05, and how often a violation of the size of
the MDV is found, by the calls themselves, each with a seed of its own. A kind misses if its level is above 0.05, or its
power outside of 85 to 97 %, by the Clopper-Pearson bounds at confidence 0.99. ``--runs N`` in place of 5,000, and the
names of kinds, choose less. The power of ``equal_law`` is that at its default level and samples: an event has to be
found on a third of the outputs before it is judged on the others, and a violation that is just seen at the level 0.05
does not stand out there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
from scipy.special import ndtri

from dpsco_verify.arrays import FloatArray
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.guarantees import (
    GuaranteeResult,
    equal_law,
    mean_at_least,
    mean_at_most,
    quantile_at_most,
    rate,
    rates,
    ratio_at_most,
    tail_at_most,
)
from dpsco_verify.guarantees.mean_tests import BoundedMean, UnboundedMean
from dpsco_verify.inference.binomial import clopper_pearson_lower, clopper_pearson_upper

ALPHA, SAMPLES = 0.05, 400
SETTINGS: Mapping[str, Any] = {"alpha": ALPHA, "samples": SAMPLES}

Check = Callable[[float, int], GuaranteeResult]
"""The check of a claim, from the size of its violation and a seed."""


def coin(mean: float) -> Callable[[int, np.random.Generator], FloatArray]:
    """Return a draw of 0 and 1."""
    return lambda size, rng: (rng.random(size) < mean).astype(np.float64)


def heavy(mean: float) -> Callable[[int, np.random.Generator], FloatArray]:
    """Return a draw of Student's t with 5 degrees of freedom, of deviation 1."""
    return lambda size, rng: mean + rng.standard_t(5, size) * np.sqrt(0.6)


def normal(mean: float) -> Callable[[int, np.random.Generator], FloatArray]:
    """Return a draw of the normal law of deviation 1."""
    return lambda size, rng: mean + rng.standard_normal(size)


def by_case(violation: float) -> Callable[[str, int, np.random.Generator], FloatArray]:
    """Return a draw of 0 and 1, half as often as the bound but for the violation in b, where the least would show."""
    means = {"a": 0.5 * 0.4, "b": (0.5 + violation) * 0.8}
    return lambda case, size, rng: coin(means[case])(size, rng)


def power_law(exponent: float) -> Callable[[float, int, np.random.Generator], FloatArray]:
    """Return a draw whose mean falls like a power of n, from 1/2 at n = 1."""
    return lambda n, size, rng: rng.random(size) * n**exponent


def die(violation: float) -> Callable[[int, np.random.Generator], FloatArray]:
    """Return a draw of 0, …, 5, of which the upper three have that much more probability than they should."""
    chances = np.repeat([1.0 - 2.0 * violation, 1.0 + 2.0 * violation], 3) / 6.0
    return lambda size, rng: rng.choice(6, size=size, p=chances)


def shifted(violation: float, *shape: int) -> Callable[[int, np.random.Generator], FloatArray]:
    """Return a draw of standard normal numbers, the first shifted to that total variation."""
    shift = np.zeros(shape)
    shift[(0,) * len(shape)] = 2.0 * ndtri(0.5 + 0.5 * violation)
    return lambda size, rng: rng.standard_normal((size, *shape)) + shift


LAWS: Mapping[str, Callable[[float], Any]] = {
    "equal_law, discrete": die,
    "equal_law, continuous": shifted,
    "equal_law, vector": lambda violation: shifted(violation, 2),
}


def one_law(law: Callable[[float], Any], **settings: Any) -> Check:
    """Return the check of a law against itself with a violation."""
    return lambda v, seed: equal_law(law(0.0), law(v), seed=seed, **settings)


KINDS: Mapping[str, Check] = {
    "mean_at_most": lambda v, seed: mean_at_most(coin(0.3 + v), 0.3, low=0, high=1, seed=seed, **SETTINGS),
    "mean_at_least": lambda v, seed: mean_at_least(coin(0.7 - v), 0.7, low=0, high=1, seed=seed, **SETTINGS),
    "mean, deviation": lambda v, seed: mean_at_most(
        heavy(v), 0.0, standard_deviation=1.0, seed=seed, **SETTINGS
    ),
    "mean, sub-Gaussian": lambda v, seed: mean_at_most(
        normal(v), 0.0, sub_gaussian=1.0, seed=seed, **SETTINGS
    ),
    "tail_at_most": lambda v, seed: tail_at_most(
        lambda size, rng: rng.random(size) + v, 0.9, 0.1, seed=seed, **SETTINGS
    ),
    "quantile_at_most": lambda v, seed: quantile_at_most(
        lambda size, rng: rng.random(size) + v, 0.8, 0.8, seed=seed, **SETTINGS
    ),
    "rate": lambda v, seed: rate(power_law(-0.5 + v), [1, 2, 10], -0.5, high=1.0, seed=seed, **SETTINGS),
    "ratio_at_most": lambda v, seed: ratio_at_most(
        by_case(v), {"a": 0.4, "b": 0.8}, 0.5, high=1.0, seed=seed, **SETTINGS
    ),
    **{name: one_law(law, **SETTINGS) for name, law in LAWS.items()},
}
FOR_POWER: Mapping[str, Check] = {**KINDS, **{name: one_law(law) for name, law in LAWS.items()}}
"""The checks of which the power is measured."""


@contextmanager
def without_mdv() -> Iterator[None]:
    """Leave out MDVs and bounds of exponents: they cost a hundred times what the verdict does and are no part of it."""
    with ExitStack() as stack:
        for kind in (BoundedMean, UnboundedMean):
            stack.enter_context(mock.patch.object(kind, "detectable", return_value=None))
        stack.enter_context(mock.patch.object(rates, "exponent_bounds", return_value=(-np.inf, np.inf)))
        stack.enter_context(mock.patch.object(rates, "_detectable_exponent", return_value=None))
        yield


def violated(check: Check, violation: float, runs: int) -> int:
    """Return how many runs find a violation."""
    with without_mdv():
        return sum(check(violation, seed).verdict is AuditVerdict.VIOLATED for seed in range(1, runs + 1))


def detectable(check: Check) -> float:
    """Return the MDV that the call states of a claim at its boundary: the largest of ten.

    It is that of the event which the call happens to judge. Those of equal laws are of any frequency, and the best one
    of these violations is about as frequent as not, of which the MDV is the largest.
    """
    return max(mdv for seed in range(10) if (mdv := check(0.0, seed).mdv) is not None)


def main(arguments: list[str]) -> int:
    """Print a line for each kind, and return 1 if one misses its level or its power."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--runs", type=int, default=5000)
    given = parser.parse_args(arguments)
    missed = 0
    for name in given.kinds or KINDS:
        started, mdv = time.perf_counter(), detectable(FOR_POWER[name])
        alarms, found = violated(KINDS[name], 0.0, given.runs), violated(FOR_POWER[name], mdv, given.runs)
        level = clopper_pearson_lower(alarms, given.runs, alpha=0.01)
        power = tuple(
            bound(found, given.runs, alpha=0.01) for bound in (clopper_pearson_lower, clopper_pearson_upper)
        )
        held = level <= ALPHA and power[0] <= 0.97 and power[1] >= 0.85
        missed += not held
        line = (
            f"{name:<22} level {alarms / given.runs:.2%}  power {found / given.runs:.1%} at {mdv:.4g}  "
            f"{'held' if held else 'MISSED'}  {time.perf_counter() - started:.0f} s"
        )
        print(line, flush=True)  # noqa: T201  a benchmark prints
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
