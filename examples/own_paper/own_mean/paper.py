"""Theorem 1: `private_mean` is ε-DP (replace-one), and its mean absolute error is at most 1/(nε)."""

from fractions import Fraction
from functools import partial

import numpy as np

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.choices import SAMPLES
from dpsco_verify.evidence import Paper, Quantity, Stance, Verdict
from dpsco_verify.evidence.checker import EventNull, MeanNull, OneOf, approximate, ball
from dpsco_verify.execution import stream
from dpsco_verify.inference.witnesses import LEVEL_ROUNDING, event_evidence
from dpsco_verify.ledger import Decision, PaperEntry, Reading, package_expectations
from dpsco_verify.ledger.measured import Range, tested
from dpsco_verify.store import null_name
from own_mean import private_mean

EPSILON, N = 1.0, 10
CONSTANT = 1.0  # the theorem's: the error is at most CONSTANT/(nε)
PLACE = {"n": N, "ε": EPSILON}
AT_PLACE = {name: OneOf(value) for name, value in PLACE.items()}
PURE = approximate(Fraction(EPSILON), Fraction(0))
PRIVATE = EventNull(name="private_mean is ε-DP", parameters=AT_PLACE, implies=PURE)
ACCURATE = MeanNull(name="E|error| ≤ CONSTANT/(nε)", parameters=AT_PLACE, bound=lambda _: ball(1))
"""What samples may reject, for the checker: ε of the claim, and the mean error in units of its bound."""
WORST = [0.0] * N, [1.0] + [0.0] * (N - 1)
"""Neighbours whose means are as far apart as any."""


def audit_mean(*, alpha, samples, seed, name):
    """Audit the mechanism on the worst pair."""
    root = int(stream(seed, name).integers(2**63))
    mechanism = partial(private_mean, epsilon=EPSILON)
    found = audit(mechanism, *WORST, epsilon=EPSILON, alpha=alpha, samples=samples, seed=root)
    w, counts = found.witness, found.witness.decision_counts
    witness = event_evidence(
        (counts.n11, counts.n10, counts.n01, counts.n00), null_hypothesis=null_name(PRIVATE.name, PLACE),
        epsilon=found.order, delta=found.delta_at_order, alpha=w.alpha, fractions=w.fractions,
    )  # fmt: skip
    return found.verdict, found.summary, found.mdv and found.mdv.epsilon, witness


def measure_error(*, alpha, samples, seed, name):
    """Test the mean absolute error over the theorem's bound; it lies in [0, nε/CONSTANT]."""
    output = private_mean([0.5] * N, samples, stream(seed, name), epsilon=EPSILON)
    ratios = np.abs(output - 0.5) * N * EPSILON / CONSTANT
    span = Range(low=0.0, high=N * EPSILON / CONSTANT, gap=0.0)
    return tested(ratios, span, alpha=alpha, bound=1.0, label="all 1/2", dimension=1, n=N, sigma=0.0)


class Theorem:
    """What both parts share: one printed reading, one unit of work at the reading's share of the error budget."""

    reference, label, discrepancies, witness_kinds = "Theorem 1", "thm:mean", (), ()

    def __init__(self, id_, title, text, function, method, null):
        self.id, self.title, self.text, self.function = id_, title, text, function
        self.readings = (
            Reading(id="printed", stance=Stance.PRINTED, parameters=None, text="as it stands", statement=text,
                    method=method, weight=1.0, null=null),
        )  # fmt: skip

    def plan(self, reading, context, units):
        """Plan the unit."""
        # A witness states the level rounded up, and it has to be within the share all the same.
        level = {"alpha": context.share.alpha / LEVEL_ROUNDING**2, "samples": SAMPLES[context.profile]}
        return units.add("judge", self.function, level, random=True)


class Privacy(Theorem):
    """The privacy part, by an audit from samples."""

    def conclude(self, reading, context, work, outcomes):
        """Refute with the event's counts, or say what would have been found."""
        verdict, summary, mdv, witness = outcomes[work]
        violated = verdict is AuditVerdict.VIOLATED
        words = {AuditVerdict.VIOLATED: Verdict.REFUTED, AuditVerdict.NOT_VIOLATED: Verdict.NOT_REFUTED}
        return Decision(
            verdict=words.get(verdict, Verdict.INCONCLUSIVE),
            summary=summary,
            evidence={"smallest ε that would have been found": Quantity(value=mdv, note="power 0.9")},
            witness=witness if violated else None,
            spent={"judge": context.share.alpha},
        )


class Risk(Theorem):
    """The risk part, by a betting test of a bounded mean."""

    def conclude(self, reading, context, work, outcomes):
        """Refute with the observations, or say what would have been found."""
        found = outcomes[work]
        unrefuted = Verdict.NOT_REFUTED if found.mdv else Verdict.INCONCLUSIVE
        return Decision(
            verdict=Verdict.REFUTED if found.rejected else unrefuted,
            summary=f"the mean error is {found.mean:.3g} of the bound, between {found.low:.3g} and {found.high:.3g}",
            evidence={"smallest excess that would be found": Quantity(value=found.mdv, unit="of the bound")},
            witness=found.witness(null_name(ACCURATE.name, PLACE)) if found.rejected else None,
            spent={"judge": context.share.alpha},
        )


PAPER = PaperEntry(
    paper=Paper(id="own-mean", title="A private mean", authors=("You",), identifier="own_mean 0.1.0"),
    statements=(
        Privacy("own-mean-privacy", "The private mean is private", "private_mean is ε-DP", audit_mean,
                "an audit from samples on the worst pair", PRIVATE),
        Risk("own-mean-risk", "The private mean is accurate", f"E|error| ≤ {CONSTANT:g}/(nε)", measure_error,
             "a betting test of the mean error over its bound", ACCURATE),
    ),
    expectations=package_expectations("own_mean"),
)  # fmt: skip
