"""All that an audit depends on, checked."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing.mechanism import Mechanism
from dpsco_verify.auditing.orders import Aims, Order
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.choices import EPSILON_FOR_NONE, Relation
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim, PureDP
from dpsco_verify.validation import require_number


class Missing(enum.Enum):
    """Stands for a data set that was not given, since None may be one."""

    MISSING = "missing"


MISSING = Missing.MISSING
SEARCH = 1.0 / 3.0
"""The part of all samples that the choice of the event may use."""
POWER = 0.9
_LARGEST_MULTIPLE = 1e300
Z_POWER = 1.2816
"""The normal quantile of the power."""


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """All that an audit depends on."""

    mechanism: Mechanism
    pairs: Any
    claim: PrivacyClaim
    relation: Relation | OwnRelation | None
    alpha: float
    samples: int
    seed: int
    log_density: Callable[[Any, Any], ArrayLike] | None
    time_limit: float
    total_time_limit: float | None = None
    epsilon_of_interest: float | None
    multiple_of_interest: float
    features: Mapping[str, Callable[[Any], ArrayLike]]
    classifier: str
    pair_examples: int
    floating_point: bool
    name: str

    @property
    def aims(self) -> Aims:
        """What the search looks for."""
        found = [Order(e, self.claim.delta(e)) for e in self.claim.orders()]
        orders = tuple(order for order in found if order.delta < 1.0)
        if not orders:
            raise InputError(
                f"claim={self.claim} bounds nothing: delta is 1 at every order; give a stronger claim"
            )
        fresh = (1.0 - SEARCH) * self.samples
        # Half of the level is about what the test of all outputs has of it, less what its bound loses.
        z = -float(ndtri(0.5 * self.alpha))
        return Aims(orders, (z + Z_POWER) / math.sqrt(fresh), 0.5 * z**2 / fresh)

    def of_interest(self, order: Order) -> tuple[float, float]:
        """Return the ε at δ, and the δ at ε, one of which has to be found for a pass, 0 for what cannot do."""
        if self.epsilon_of_interest is not None:
            return self.epsilon_of_interest, 0.0
        nothing = order.epsilon == 0.0 and order.delta == 0.0
        epsilon = EPSILON_FOR_NONE if nothing else order.epsilon
        multiple = min(self.multiple_of_interest, _LARGEST_MULTIPLE)
        return multiple * epsilon, multiple * order.delta


def checked_pairs(d: Any, d_prime: Any, pairs: Any) -> Any:
    """Return the pairs as a list, or the strategy as it is."""
    absent = [name for name, data in (("d", d), ("d_prime", d_prime)) if data is MISSING]
    if pairs is None:
        if absent:
            which = f"{absent[0]} is" if len(absent) == 1 else "d and d_prime are"
            raise InputError(f"{which} missing; give two neighbouring data sets, or pairs=…")
        return [(d, d_prime)]
    if len(absent) < 2:
        raise InputError("pairs and d, d_prime were both given; give one of the two")
    if isinstance(pairs, list | tuple):
        if not pairs or any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
            raise InputError(
                f"pairs of length {len(pairs)} hold something else than pairs; give [(d, d_prime), …]"
            )
        return [tuple(pair) for pair in pairs]
    if not hasattr(pairs, "example") and not callable(pairs):
        raise InputError(
            f"pairs={pairs!r} is neither a list of pairs, nor a Hypothesis strategy, nor a function of a generator; "
            "give one"
        )
    return pairs


def checked_claim(epsilon: float | None, delta: float, claim: PrivacyClaim | None) -> PrivacyClaim:
    """Return the claim."""
    if claim is not None:
        if epsilon is not None or delta != 0.0:
            raise InputError(f"claim={claim} and epsilon={epsilon}, delta={delta} were both given; give one")
        if not isinstance(claim, PrivacyClaim):
            raise InputError(
                f"claim={claim!r} is not a privacy claim; give one of dpsco_verify.privacy.claims"
            )
        return claim
    if epsilon is None:
        raise InputError("epsilon=None and claim=None: nothing is claimed; give epsilon, or a claim")
    return PureDP(epsilon) if delta == 0.0 else ApproximateDP(epsilon, delta)


def checked_multiple(multiple: float) -> float:
    """Return the multiple of the claim that is of interest."""
    multiple = require_number("multiple_of_interest", multiple)
    if multiple <= 1.0:
        raise InputError(
            f"multiple_of_interest={multiple!r} is no violation of the claim; give a number above 1, such as 3"
        )
    return multiple


def checked_relation(relation: str | OwnRelation) -> Relation | OwnRelation:
    """Return the neighbouring relation of this name, or one of a user's own."""
    if isinstance(relation, OwnRelation):
        return relation
    try:
        return Relation(relation)
    except ValueError:
        raise InputError(
            f"relation={relation!r} is unknown; give one of {', '.join(r.value for r in Relation)}, or one of "
            "dpsco_verify.auditing.relations"
        ) from None
