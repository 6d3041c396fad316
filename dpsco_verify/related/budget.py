"""The privacy that a system is given to spend."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim, PureDP, ZeroConcentratedDP
from dpsco_verify.validation import require_non_negative, require_positive


@dataclass(frozen=True)
class PrivacyBudget:
    """``(ε, δ)``-differential privacy for replace-one neighbours; a system of pure privacy leaves δ unspent."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Check both."""
        object.__setattr__(self, "epsilon", require_positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", require_non_negative("delta", self.delta))
        if self.delta >= 1.0:
            raise InputError(f"delta={self.delta!r} protects nothing; give a number in [0, 1)")

    @property
    def log_inverse_delta(self) -> float:
        """``log(1/δ)``, infinite for δ = 0."""
        return -math.log(self.delta) if self.delta > 0.0 else math.inf

    @property
    def concentrated(self) -> float:
        """The largest ``κ`` for which ``κ²/2``-zCDP implies the budget by ``ε = κ²/2 + κ√(2 log(1/δ))``.

        It is ``√(2 log(1/δ) + 2ε) − √(2 log(1/δ))``, written without the difference. The papers call it ρ, and
        ``(α, ακ²/2)``-RDP for all α is the same as ``κ²/2``-zCDP. Source: Bun and Steinke (2016), Proposition 1.3.
        """
        if self.delta == 0.0:
            return 0.0
        a = math.sqrt(2.0 * self.log_inverse_delta)
        return 2.0 * self.epsilon / (math.sqrt(a * a + 2.0 * self.epsilon) + a)


class Guarantee(enum.Enum):
    """The kind of privacy that a system guarantees for a budget of (ε, δ): ε-DP, (ε, δ)-DP, κ²/2-zCDP, or none."""

    PURE = enum.auto()
    APPROXIMATE = enum.auto()
    CONCENTRATED = enum.auto()
    NONE = enum.auto()

    def claim(self, budget: PrivacyBudget) -> PrivacyClaim | None:
        """Return what is guaranteed."""
        match self:
            case Guarantee.PURE:
                return PureDP(budget.epsilon)
            case Guarantee.APPROXIMATE:
                return ApproximateDP(budget.epsilon, budget.delta)
            case Guarantee.CONCENTRATED:
                return ZeroConcentratedDP(0.5 * budget.concentrated**2)
            case Guarantee.NONE:
                return None
