"""The result of an audit by canaries."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.methods import Method
from dpsco_verify.auditing.canaries.pictures import roc_plot, score_plot
from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import AuditVerdict, LinePlot
from dpsco_verify.evidence.checker import CanaryEvidence
from dpsco_verify.privacy.claims import PrivacyClaim


@dataclass(frozen=True, kw_only=True)
class CanaryMDV:
    """The smallest violation that ideal canaries would have shown with probability at least `power`.

    Ideal canaries are independent of each other and show the privacy loss in full: their scores are those of the
    Gaussian mechanism, or of randomised response. Real ones show less, and nothing is said of a violation that
    canaries do not show.

    Attributes
    ----------
    epsilon
        Its ε at the audit's δ, within the family.
    parameter
        The parameter of the family: μ, or ε.
    power
        0.9.
    privacy_loss_factor
        An estimate: a run whose scores are this many times as far apart as those that were seen is found. None where
        the scores that were seen tell nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> audit = audit_canaries(rng.random(500), rng.random(500), epsilon=1.0, delta=1e-5)
    >>> print(round(audit.mdv.epsilon, 1), audit.mdv.power)
    1.2 0.9
    """

    epsilon: float
    parameter: float
    power: float
    privacy_loss_factor: float | None = None


@dataclass(frozen=True, kw_only=True)
class CanaryAudit:
    """What canaries' scores say of a training run.

    Attributes
    ----------
    verdict
        ``violated``; ``not_violated``, which says that the violations from `mdv` on would have been found by ideal
        canaries; or ``undecided``, where that is more than was asked for.
    name, claim
        What was audited against what.
    method
        How, with its theorem.
    family
        The family of claims within which `epsilon_lower` is a lower bound.
    delta
        The δ at which ε is told.
    epsilon_lower
        With confidence 1 − α no mechanism of the family with a smaller ε at `delta` explains the scores.
    mu_lower
        The same for GDP, in μ; None where the method says nothing of it.
    mdv
        None where no violation would have been found.
    alpha, p_value
        The probability, at most, of finding a true claim violated; the smallest level that would have refuted it.
    inside, outside
        How many canaries were in, and out.
    seen
        What was seen, in words.
    witness
        Of a violation: the counts and the orders of the claim that show it, for a certificate.
    area_under_roc, true_positive_rates
        AUROC, and (FPR, TPR) at low FPR: of these scores, without any guarantee.
    canaries_needed
        Of an undecided audit: about how many canaries would do; None where no number up to 10⁷ would.
    epsilon_of_interest
        What had to be detectable for a pass.
    notes
        What else was noticed.

    Examples
    --------
    >>> told = audit_canaries(np.ones(500), np.zeros(500), epsilon=1.0, delta=1e-5, family="gaussian")
    >>> print(told.area_under_roc, told.true_positive_rates[0])
    1.0 (0.001, 1.0)
    """

    verdict: AuditVerdict
    name: str
    claim: PrivacyClaim
    method: Method
    family: Family
    delta: float
    epsilon_lower: float
    mu_lower: float | None
    mdv: CanaryMDV | None
    alpha: float
    p_value: float
    inside: int
    outside: int
    seen: str
    witness: CanaryEvidence | None = field(repr=False)
    area_under_roc: float
    true_positive_rates: tuple[tuple[float, float], ...]
    canaries_needed: int | None
    epsilon_of_interest: float
    notes: tuple[str, ...] = ()
    scores: tuple[FloatArray, FloatArray] = field(repr=False, compare=False)
    seconds: float = field(compare=False)

    __bool__ = no_truth_value("result.verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def summary(self) -> str:
        """What was found, in one sentence."""
        return ". Note: ".join((self._found, *self.notes))

    @property
    def _found(self) -> str:
        head = f"{self.name} with {self.inside:,} canaries in and {self.outside:,} out"
        if self.verdict is AuditVerdict.VIOLATED:
            return f"{head} violates {self.claim}: {self.seen}; {self.bounds}"
        if self.verdict is AuditVerdict.UNDECIDED:
            return f"{head} against {self.claim}: undecided, as {self.why_undecided}; {self.way_out}"
        return f"{head} does not violate {self.claim}, as far as these scores show; {self.would_have_found}"

    @property
    def bounds(self) -> str:
        """The lower bounds, in words."""
        within = "every GDP mechanism" if self.family is Family.GAUSSIAN else "every mechanism"
        return (
            f"ε ≥ {self.epsilon_lower:.4g} at δ = {self.delta:.4g} for {within} that scores so, with confidence "
            f"1 − {self.alpha:.3g}"
        )

    @property
    def would_have_found(self) -> str:
        """The MDV in words."""
        if self.mdv is None:
            return (
                f"{self.inside + self.outside:,} canaries could show no violation at level {self.alpha:.3g}"
            )
        return (
            f"ideal canaries of a run with ε ≥ {self.mdv.epsilon:.4g} at δ = {self.delta:.4g} would have been found "
            f"with probability {self.mdv.power:g}"
        )

    @property
    def why_undecided(self) -> str:
        """What was to be found and would not have been, in words, of an undecided audit."""
        return f"ε = {self.epsilon_of_interest:.4g} was to be found; {self.would_have_found}"

    @property
    def way_out(self) -> str:
        """What an undecided audit needs, in words."""
        if self.canaries_needed is None and self.alpha <= self.delta:
            return (
                f"a run may tell everything with probability δ = {self.delta:.4g}, so no number of canaries does at "
                f"the level alpha={self.alpha:.3g}; raise it above δ"
            )
        if self.canaries_needed is None:
            return "no number of canaries up to 10,000,000 would do by this method"
        return f"give more canaries, about {self.canaries_needed:,}"

    def plots(self) -> tuple[LinePlot, LinePlot]:
        """Return the picture: the scores of both groups, and their ROC curve beside what the claim allows."""
        return score_plot(self.name, *self.scores), roc_plot(self.name, *self.scores, claim=self.claim)
