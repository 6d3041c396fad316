"""A problem of the bank as plain numbers, for programs in any language."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_verify.execution import stream
from dpsco_verify.guarantees.optimiser.bank import BankProblem
from dpsco_verify.guarantees.optimiser.fits import set_in_words
from dpsco_verify.problems import Drift, FinitePopulation, LinearSigns
from dpsco_verify.validation import require_integer


def described(problem: BankProblem) -> dict[str, Any]:
    """Return what a problem is, without its data: strings and numbers that JSON has.

    The excess risk of w is F(w) less the minimum, of which `value` is that of the feasible point `w`, and `lower_bound`
    a number that no point of the set undercuts.
    """
    population, minimum = problem.population, problem.minimum
    return {
        "id": problem.id,
        "title": problem.title,
        "kind": problem.kind.value,
        "why": problem.why,
        "loss": population.loss.name,
        "set": set_in_words(problem.convex_set),
        "dimension": population.dimension,
        "lipschitz": population.lipschitz,
        "diameter": problem.convex_set.diameter,
        "data_radius": population.data_radius,
        "minimum": {
            "w": minimum.w.tolist(),
            "value": minimum.value,
            "lower_bound": minimum.lower_bound,
            "method": minimum.method,
        },
    }


def arrays(problem: BankProblem, *, n: int = 0, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the law of a problem's data points, its minimiser, and a sample, as arrays by name.

    Parameters
    ----------
    problem
        The problem.
    n, seed
        The size of the sample, and its seed; none for n = 0.

    Returns
    -------
    dict
        ``minimiser``, shape (d,). Of a finite law ``data``, shape (N, k), and ``probabilities``, shape (N,): F(w) is
        the sum of probability times loss. Of independent signs ``expectation``, shape (d,), of which -<w, expectation>
        is F(w), and ``magnitude``, shape (): each coordinate is plus or minus it, independently. ``sample``, shape
        (n, k), where n > 0.
    """
    population = problem.population
    found = {"minimiser": problem.minimum.w}
    if isinstance(population, FinitePopulation):
        found |= {"data": population.data, "probabilities": population.probabilities}
    elif isinstance(population, Drift):
        found |= {"data": np.array([[population.lipschitz]]), "probabilities": np.ones(1)}
    elif isinstance(population, LinearSigns):
        one = population.sample(stream(seed, f"bank/{problem.id}/magnitude"), 1)
        found |= {"expectation": population.expectation, "magnitude": np.abs(one).max()}
    if require_integer("n", n, minimum=0):
        found["sample"] = population.sample(stream(seed, f"bank/{problem.id}"), n)
    return found
