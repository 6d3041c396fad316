"""Witnesses that are observations: an e-value against a claim, computed anew."""

from __future__ import annotations

from typing import Annotated, ClassVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Rational, ball, kind_of, rational, require


class MeanEvidence(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=kind_of
):
    """Observations of at least `low` whose e-value against ``mean ≤ bound`` reaches ``1/alpha`` (Ville's inequality).

    The e-process is the average over `bets` λ of ``Π(1 + λ(x − bound))``, with ``0 < λ < 1/(bound − low)``, in the
    order of the observations; the certificate ends where it first passes ``1/alpha``.
    """

    readings: ClassVar[dict[str, int]] = {}
    claim_id: ClassVar[str] = ""
    low: Rational
    bound: Rational
    alpha: Rational
    bets: tuple[Rational, ...]
    observations: tuple[Rational, ...]

    def sides(self, reading: str) -> tuple[flint.arb, flint.arb, str]:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        low, bound, alpha = (rational(k, getattr(self, k)) for k in ("low", "bound", "alpha"))
        require(holds=low < bound, reason=f"bound={bound} is not above low={low}")
        require(holds=0 < alpha < 1, reason=f"alpha={alpha} is outside (0, 1)")
        bets = [rational("bets", b) for b in self.bets]
        for bet in bets:
            require(holds=bet > 0 and bet * (bound - low) < 1, reason=f"bet={bet} is not admissible")
        values = [rational("observations", x) for x in self.observations]
        for x in values:
            require(holds=low <= x, reason=f"observation={x} is below low={low}")
        require(holds=bool(bets), reason="there are no bets")
        wealth = flint.arb(0)
        for bet in bets:
            product = flint.arb(1)
            for x in values:
                product *= ball(1 + bet * (x - bound))
            wealth += product
        words = "e-value > 1/alpha against mean <= bound"
        return wealth / len(bets), 1 / ball(alpha), words


class EventEvidence(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=kind_of
):
    """Counts of an event under two data sets whose e-value against ``P − e^ε P' ≤ δ`` reaches ``1/alpha``.

    A pair of runs pays ``x = 1{E|S} − e^ε 1{E|S'} − δ``. The e-process is the average over `bets` λ of
    ``Π(1 + λx)``, ``0 < λ < 1/(e^ε + δ)``, and depends on the counts alone.
    """

    readings: ClassVar[dict[str, int]] = {}
    claim_id: ClassVar[str] = ""
    epsilon: Rational
    delta: Rational
    alpha: Rational
    bets: tuple[Rational, ...]
    both: Annotated[int, msgspec.Meta(ge=0)]
    first_only: Annotated[int, msgspec.Meta(ge=0)]
    second_only: Annotated[int, msgspec.Meta(ge=0)]
    neither: Annotated[int, msgspec.Meta(ge=0)]

    def sides(self, reading: str) -> tuple[flint.arb, flint.arb, str]:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        epsilon, delta, alpha = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "alpha"))
        require(holds=epsilon >= 0, reason=f"epsilon={epsilon} is negative")
        require(holds=0 <= delta < 1, reason=f"delta={delta} is outside [0, 1)")
        require(holds=0 < alpha < 1, reason=f"alpha={alpha} is outside (0, 1)")
        require(holds=bool(self.bets), reason="there are no bets")
        factor = ball(epsilon).exp()
        wealth = flint.arb(0)
        for text in self.bets:
            bet = rational("bets", text)
            require(
                holds=bet > 0 and bool(ball(bet) * (factor + ball(delta)) < 1),
                reason=f"bet={bet} is not admissible",
            )
            log_wealth = flint.arb(0)
            for count, first, second in (
                (self.both, 1, 1),
                (self.first_only, 1, 0),
                (self.second_only, 0, 1),
                (self.neither, 0, 0),
            ):
                payoff = first - factor * second - ball(delta)
                log_wealth += count * (1 + ball(bet) * payoff).log()
            wealth += log_wealth.exp()
        words = "e-value > 1/alpha against P - exp(epsilon) P' <= delta"
        return wealth / len(self.bets), 1 / ball(alpha), words
