"""What the solver asks of the empirical risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dpsco_verify.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The (smoothed) empirical risk at one point for each run.

    Attributes
    ----------
    value, gradient
        Shapes ``(R,)`` and ``(R, d)``.
    dual
        The dual variables whose mean is the gradient: a slope or a subgradient for each data point.
    curvature
        What the Hessian is made of.
    """

    value: FloatArray
    gradient: FloatArray
    dual: FloatArray
    curvature: FloatArray


class Terms(Protocol):
    """``H(w) = (1/m) Σ f(w, z_i)`` for R runs, and its smoothing by a proximal term in the dual variables.

    With ``f(w, z) = max_u {<u, w> − f*(u, z)}`` the smoothing is ``max_u {<u, w> − f*(u, z) − (τ/2)·|u − u⁰|²}``
    about an anchor ``u⁰``, in the units of the dual variable that stands for u. A smooth loss needs none.
    """

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a Lipschitz gradient, so that τ is not used."""
        ...

    @property
    def count(self) -> int:
        """``m``."""
        ...

    def take(self, rows: IntArray) -> Terms:
        """Return the terms of some of the runs."""
        ...

    def anchor(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return dual variables to begin with, and for each run a τ of the right size, shape ``(R,)``."""
        ...

    def evaluate(self, w: FloatArray, anchor: FloatArray, tau: FloatArray) -> Evaluation:
        """Return the smoothed risk at `w`, shape ``(R, d)``."""
        ...

    def hessian(self, at: Evaluation) -> FloatArray:
        """Return a (generalised) Hessian, or a matrix above it, shape ``(R, d, d)``."""
        ...

    def exact_gradient(self, at: Evaluation) -> FloatArray:
        """Return the mean of the dual variables' gradients, as exactly as can be, shape ``(R, d)``."""
        ...

    def gradient_error(self, w: FloatArray) -> FloatArray:
        """Return a bound on the error of :meth:`exact_gradient` for the dual variables that belong to `w`.

        For a smooth loss the dual variables are the exact slopes at `w`.
        """
        ...

    def duality_gap(self, w: FloatArray, at: Evaluation, point: FloatArray, error: FloatArray) -> FloatArray:
        """Return a bound on ``H(u) − (<ḡ, u> − (1/m) Σ f*(u_i, z_i))``, ``ḡ`` the mean of the dual variables.

        It holds for every ``u`` within `error` of `point`, rounding included; shape ``(R,)``.
        """
        ...

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of every term of every run."""
        ...

    @property
    def resolution(self) -> float:
        """The smallest first τ, as a part of L/λ."""
        ...

    @property
    def certificate_queries(self) -> int:
        """How many data points :meth:`duality_gap` looks at for each run."""
        ...
