"""Checkers for what a loss and a certified minimum must satisfy.

Each takes rows of points, ``w`` and ``u`` of shape ``(R, d)`` and ``z`` of shape ``(R, k)``, and returns the worst
:class:`Violation` among them, or None. Inequalities between real numbers get an allowance for rounding: a small
multiple of ``d·u`` (``u`` the unit roundoff) times the sizes of the quantities that are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses.loss import inner_product

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.losses import Loss
    from dpsco_verify.problems.minimisation import CertifiedMinimum
    from dpsco_verify.problems.populations import Population

FUNCTION_ROUNDING = 2.0**-48
"""How far two computations of a loss that goes through exp and log may be apart, relative.

numpy and the C library compute exp, log and log1p to two units in the last place (4u) on every processor. The value
``log(1 + e^t)`` and the slope ``1/(1 + e^t)`` have condition at most 1 in ``e^t``: 8u and two roundings more, twice.
"""

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Violation:
    """A concrete counterexample to a property.

    Attributes
    ----------
    property
        What should hold.
    excess
        By how much it does not, beyond the allowance; 1 where it is a matter of yes or no.
    allowance
        What rounding was granted.
    witness
        The points by name: ``w``, ``u``, ``z``, ….
    """

    property: str
    excess: float
    allowance: float
    witness: dict[str, FloatArray]

    def __str__(self) -> str:
        points = ", ".join(f"{name}={point.tolist()!r}" for name, point in self.witness.items())
        return (
            f"{self.property} fails by {self.excess:.6g} beyond rounding ({self.allowance:.3g}) at {points}"
        )


def subgradient_inequality_violation(
    loss: Loss, w: FloatArray, u: FloatArray, z: FloatArray
) -> Violation | None:
    """Check ``f(u, z) ≥ f(w, z) + <g, u − w>`` for the subgradient ``g`` at ``w``."""
    value_w, value_u, g = loss.value(w, z), loss.value(u, z), loss.subgradient(w, z)
    excess = value_w + inner_product(g, u - w) - value_u
    allowance = _allowance(loss, z, w, u) + _multiple(w) * (np.abs(value_w) + np.abs(value_u))
    return _worst("f(u, z) ≥ f(w, z) + <g, u − w>", excess, allowance, w=w, u=u, z=z)


def convexity_violation(
    loss: Loss, w: FloatArray, u: FloatArray, z: FloatArray, fraction: FloatArray
) -> Violation | None:
    """Check ``f(λw + (1 − λ)u, z) ≤ λ·f(w, z) + (1 − λ)·f(u, z)`` for fractions ``λ`` in [0, 1], shape ``(R,)``."""
    rest = 1.0 - fraction
    between = fraction[:, None] * w + rest[:, None] * u
    value_w, value_u = loss.value(w, z), loss.value(u, z)
    excess = loss.value(between, z) - (fraction * value_w + rest * value_u)
    allowance = _allowance(loss, z, w, u) + _multiple(w) * (np.abs(value_w) + np.abs(value_u))
    return _worst(
        "f(λw + (1 − λ)u, z) ≤ λf(w, z) + (1 − λ)f(u, z)", excess, allowance, w=w, u=u, z=z, fraction=fraction
    )


def lipschitz_violation(loss: Loss, w: FloatArray, u: FloatArray, z: FloatArray) -> Violation | None:
    """Check ``|f(w, z) − f(u, z)| ≤ L‖w − u‖₂`` and ``‖g‖₂ ≤ L`` with ``L`` for the norm of each row's features."""
    constant = _constants(loss, z)
    value_w, value_u = loss.value(w, z), loss.value(u, z)
    allowance = _allowance(loss, z, w, u) + _multiple(w) * (np.abs(value_w) + np.abs(value_u))
    values = _worst(
        "|f(w, z) − f(u, z)| ≤ L‖w − u‖",
        np.abs(value_w - value_u) - constant * euclidean_norm(w - u),
        allowance,
        w=w,
        u=u,
        z=z,
    )
    if values is not None:
        return values
    norm = euclidean_norm(loss.subgradient(w, z))
    return _worst("‖g‖ ≤ L", norm - constant, _multiple(w) * constant + _TINY, w=w, z=z)


def attainment_violation(loss: Loss, z: FloatArray, *, relative: float = 1e-9) -> Violation | None:
    """Check that the Lipschitz constant is no larger than it need be on the line through each row's features.

    For ``w = ±10^k·a/‖a‖²``, ``k = −3, …, 9``, and ``w = 0`` some ``‖g‖₂`` must reach ``(1 − relative)·L``. Give
    features other than 0, and targets far below 10⁹.
    """
    a = loss.features(z)
    constant, squared_norm = _constants(loss, z), inner_product(a, a)
    best = euclidean_norm(loss.subgradient(np.zeros_like(a), z))
    for multiple in np.logspace(-3, 9, 13):
        for sign in (-1.0, 1.0):
            w = a * (sign * multiple / squared_norm)[:, None]
            best = np.maximum(best, euclidean_norm(loss.subgradient(w, z)))
    return _worst("some ‖g‖ comes near L", constant - best, relative * constant, z=z)


def smoothness_violation(loss: Loss, w: FloatArray, u: FloatArray, z: FloatArray) -> Violation | None:
    """Check ``‖∇f(w, z) − ∇f(u, z)‖₂ ≤ β‖w − u‖₂`` with ``β`` for the norm of each row's features.

    A loss whose smoothness is None promises nothing, and passes.
    """
    smoothness = [loss.smoothness(float(norm)) for norm in euclidean_norm(loss.features(z))]
    known = [beta for beta in smoothness if beta is not None]
    if len(known) < len(smoothness):
        return None
    beta = np.array(known)
    change = euclidean_norm(loss.subgradient(w, z) - loss.subgradient(u, z))
    # A rounded score moves the gradient by β times its error; the gradient itself is rounded in proportion to L.
    allowance = (
        _multiple(w) * (beta * (euclidean_norm(w) + euclidean_norm(u)) + 2.0 * _constants(loss, z)) + _TINY
    )
    return _worst(
        "‖∇f(w, z) − ∇f(u, z)‖ ≤ β‖w − u‖", change - beta * euclidean_norm(w - u), allowance, w=w, u=u, z=z
    )


def batch_violation(loss: Loss, w: FloatArray, z: FloatArray) -> Violation | None:
    """Check that value and subgradient of each row have the same bits alone and in batches of any memory layout.

    Of a loss that is not bitwise they may be apart by :data:`FUNCTION_ROUNDING`, relative.
    """
    name = "the same bits" if loss.is_bitwise else "the same but for the last digits"
    alone = [(loss.value(w[i], z[i]), loss.subgradient(w[i], z[i])) for i in range(w.shape[0])]
    layouts = {
        "C order": (w, z),
        "Fortran order": (np.asfortranarray(w), np.asfortranarray(z)),
        "every other row": (np.repeat(w, 2, axis=0)[::2], np.repeat(z, 2, axis=0)[::2]),
        "one more axis": (w[:, None, :], z[:, None, :]),
    }
    for layout, (w_rows, z_rows) in layouts.items():
        values, gradients = loss.value(w_rows, z_rows), loss.subgradient(w_rows, z_rows)
        for i, (value, gradient) in enumerate(alone):
            if not (_same(loss, values[i], value) and _same(loss, gradients[i], gradient)):
                return Violation(f"{name} alone and in a batch ({layout})", 1.0, 0.0, {"w": w[i], "z": z[i]})
    return None


def _same(loss: Loss, in_a_batch: FloatArray, alone: FloatArray) -> bool:
    if loss.is_bitwise:
        return np.ascontiguousarray(in_a_batch).tobytes() == np.ascontiguousarray(alone).tobytes()
    # One of them broadcasts over the additional axis of length 1.
    difference, size = np.abs(in_a_batch - alone), np.abs(alone)
    return bool((difference <= FUNCTION_ROUNDING * size + _TINY).all())


def loss_violations(loss: Loss, w: FloatArray, u: FloatArray, z: FloatArray) -> list[Violation]:
    """Return what every checker of losses finds; convexity is checked at fractions 1/4, 1/2 and 3/4."""
    found = [
        subgradient_inequality_violation(loss, w, u, z),
        subgradient_inequality_violation(loss, u, w, z),
        *(
            convexity_violation(loss, w, u, z, np.full(w.shape[0], fraction))
            for fraction in (0.25, 0.5, 0.75)
        ),
        lipschitz_violation(loss, w, u, z),
        smoothness_violation(loss, w, u, z),
        batch_violation(loss, w, z),
    ]
    return [violation for violation in found if violation is not None]


def minimum_violation(
    population: Population, convex_set: ConvexSet, minimum: CertifiedMinimum, points: FloatArray
) -> Violation | None:
    """Check that `minimum` is feasible, has the value it says, and that no point of the set undercuts its bound.

    `points`, shape ``(R, d)``, must lie in the set.
    """
    if not convex_set.contains(minimum.w):
        return Violation("the minimiser lies in the set", 1.0, 0.0, {"w": minimum.w})
    if minimum.value != population.risk(minimum.w):
        return Violation("the minimum's value is the risk", 1.0, 0.0, {"w": minimum.w})
    if not minimum.lower_bound <= minimum.value:
        return Violation("the lower bound is no larger than the value", 1.0, 0.0, {"w": minimum.w})
    rows = np.vstack([points, minimum.w])
    risk = population.risk(rows)
    # A closed form is exact up to the rounding of the risk, which is that of a mean of values.
    size = population.lipschitz * (euclidean_norm(rows) + convex_set.max_norm) + np.abs(risk)
    allowance = _multiple(rows) * size + _TINY
    return _worst("F(u) ≥ the lower bound", minimum.lower_bound - risk, allowance, u=rows)


def _multiple(w: FloatArray) -> float:
    return float(8.0 * (w.shape[-1] + 8) * UNIT_ROUNDOFF)


def _constants(loss: Loss, z: FloatArray) -> FloatArray:
    """Return the Lipschitz constant that goes with each row's features, shape ``(R,)``."""
    return np.array([loss.lipschitz(float(norm)) for norm in euclidean_norm(loss.features(z))])


def _allowance(loss: Loss, z: FloatArray, w: FloatArray, u: FloatArray) -> FloatArray:
    """Return the effect on a value of rounding the inner products with ``w`` and ``u``, underflow included."""
    size = euclidean_norm(w) + euclidean_norm(u)
    allowance: FloatArray = _multiple(w) * _constants(loss, z) * size + _TINY * (1.0 + size)
    return allowance


def _worst(
    name: str, excess: FloatArray, allowance: FloatArray | float, **witness: FloatArray
) -> Violation | None:
    allowances = np.broadcast_to(allowance, excess.shape)
    beyond = excess - allowances
    # NaN is a violation too.
    bad = ~(beyond <= 0.0)
    if not bad.any():
        return None
    i = int(np.argmax(np.where(np.isnan(beyond), np.inf, beyond)))
    return Violation(
        name,
        float(beyond[i]),
        float(allowances[i]),
        {key: np.asarray(rows[i]) for key, rows in witness.items()},
    )
