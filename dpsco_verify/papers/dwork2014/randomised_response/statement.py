"""Randomised response with two coins, Claim 3.5 (claim-3.5)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Stance
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Reading
from dpsco_verify.papers.dwork2014.exact import Case, ExactStatement, Examined, exactly_sharp
from dpsco_verify.papers.dwork2014.randomised_response.certificates import RandomisedResponseRatio


class RandomisedResponse(ExactStatement[None]):
    """``randomised-response``: two fair coins give ln 3."""

    id = "randomised-response"
    title = "Randomised response is private"
    reference = "Section 3.2 and Claim 3.5"
    label = "claim-3.5"
    text = (
        "Flip a coin; if tails, answer truthfully; if heads, flip a second coin and answer Yes if heads and No if "
        "tails: this is (ln 3, 0)-differentially private"
    )
    lie = Fraction(1, 2)
    epsilon = math.log(3.0)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="Both coins are fair; neighbours are the two truths of one respondent.",
            statement="the ratio of an answer's probabilities under the two truths is at most 3",
            method="exact: all four probabilities in rationals",
        ),
    )
    witness_kinds = (RandomisedResponseRatio,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return RandomisedResponseRatio(lie=str(self.lie), yes="1/2", below="549/500")

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case: either answer has probabilities 1 − lie/2 and lie/2 under the two truths."""
        exact = math.log((1 - self.lie / 2) / (self.lie / 2))
        return exactly_sharp(
            "holds with equality: 3/4 against 1/4, for either answer",
            constant="ln 3",
            claimed=self.epsilon,
            exact=exact,
            how="the ratio of probabilities in rationals",
        )
