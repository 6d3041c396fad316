"""The entries of a gate: what each kind of them is, read strictly."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dpsco_verify.auditing.canaries import Family, Method
from dpsco_verify.choices import (
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    PAIR_EXAMPLES,
)
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import PrivacyClaim, claim_from

Positive = Annotated[float, Meta(gt=0)]
Text = Annotated[str, Meta(min_length=1)]


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One audit.

    Attributes
    ----------
    mechanism, command
        ``module:name`` of a mechanism, or the command of a program; one of the two.
    pair
        One name or several: ``module:name`` or the path of a JSON file.
    epsilon, delta; rho; mu; renyi_alpha, renyi_epsilon
        The claim: one of the four kinds.
    relation
        What the pairs have to be: the name of a relation, or ``module:name`` of one of one's own, or of a predicate.
    samples
        Outputs a data set, at most; by default the profile's number.
    name
        What the report calls the mechanism.
    weight
        Its share of the error budget, relative to the other audits.
    time_limit, total_time_limit
        Seconds that one call, and that the whole audit, may take.
    epsilon_of_interest
        The audit is undecided unless an ε of this size would have been found; by default, unless
    multiple_of_interest
        a violation of so many times the claim would have been; above 1.
    pair_examples
        How many pairs of a Hypothesis strategy are tried.
    per_call
        Whether the mechanism takes one data set (and a generator, if it takes two arguments) and returns one output.
    floating_point
        Whether outputs are judged as the doubles that they are, last bits included.
    expect
        The verdict that is no surprise: ``violated`` keeps a mechanism that is known to break its claim as a test.
    seeded
        Whether a program draws all its randomness from the seeds.
    """

    mechanism: Text | None = None
    command: Text | None = None
    pair: Text | Annotated[tuple[Text, ...], Meta(min_length=1)]
    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    mu: float | None = None
    renyi_alpha: float | None = None
    renyi_epsilon: float | None = None
    relation: Text | None = None
    samples: Annotated[int, Meta(ge=FEWEST_SAMPLES)] | None = None
    name: Text | None = None
    weight: Positive = 1.0
    time_limit: Positive = 60.0
    total_time_limit: Positive | None = None
    epsilon_of_interest: Positive | None = None
    multiple_of_interest: Annotated[float, Meta(gt=1)] = MULTIPLE_OF_INTEREST
    pair_examples: Annotated[int, Meta(ge=1)] = PAIR_EXAMPLES
    per_call: bool = False
    floating_point: bool = False
    expect: Literal["not_violated", "violated"] = "not_violated"
    seeded: bool = True

    @property
    def pairs(self) -> tuple[str, ...]:
        """The names of its pairs."""
        return (self.pair,) if isinstance(self.pair, str) else self.pair

    @property
    def title(self) -> str:
        """What the report calls the mechanism."""
        return self.name or self.mechanism or self.command or ""

    def claim(self) -> PrivacyClaim:
        """Return the claim.

        Raises
        ------
        InputError
            If there is none, or more than one, or its numbers are out of range.
        """
        names = ("epsilon", "delta", "rho", "mu", "renyi_alpha", "renyi_epsilon")
        try:
            return claim_from(**{name: getattr(self, name) for name in names})
        except InputError as error:
            raise InputError(f"the audit of {self.title!r}: {error}") from None

    def require_one_mechanism(self) -> None:
        """Refuse none and two; and what belongs to the other kind."""
        if (self.mechanism is None) == (self.command is None):
            raise InputError(
                f"mechanism={self.mechanism!r} and command={self.command!r} of an audit do not name one mechanism; "
                "give one of the two"
            )
        if self.command is not None and self.per_call:
            raise InputError(
                f"per_call=True does not fit command={self.command!r}: a program is asked for many outputs at once; "
                "leave it out"
            )
        if self.mechanism is not None and not self.seeded:
            raise InputError(
                f"seeded=False does not fit mechanism={self.mechanism!r}; wrap a function that has its own randomness "
                "in per_call"
            )


class CanaryEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One audit by canaries.

    Attributes
    ----------
    scores
        The path of a CSV or NPZ file (:mod:`dpsco_verify.gating.score_files`).
    epsilon, delta; rho; mu; renyi_alpha, renyi_epsilon
        The claim: one of the four kinds. With another kind than (ε, δ), `delta` is where ε is told.
    method, family
        As :func:`dpsco_verify.auditing.audit_canaries` takes them.
    guesses
        How many canaries are guessed, if that was decided before there were scores.
    name
        What the report calls the training.
    weight
        Its share of the error budget, relative to the other audits.
    epsilon_of_interest, multiple_of_interest, expect
        As for other audits.
    """

    scores: Text
    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    mu: float | None = None
    renyi_alpha: float | None = None
    renyi_epsilon: float | None = None
    method: Method = Method.ONE_RUN_F_DP
    family: Family | None = None
    guesses: Annotated[int, Meta(ge=1)] | None = None
    name: Text | None = None
    weight: Positive = 1.0
    epsilon_of_interest: Positive | None = None
    multiple_of_interest: Annotated[float, Meta(gt=1)] = MULTIPLE_OF_INTEREST
    expect: Literal["not_violated", "violated"] = "not_violated"

    @property
    def title(self) -> str:
        """What the report calls the training."""
        return self.name or self.scores

    def claimed(self) -> dict[str, Any]:
        """Return the claim as :func:`dpsco_verify.auditing.audit_canaries` takes it.

        Raises
        ------
        InputError
            If there is none, or more than one, or its numbers are out of range.
        """
        others = {name: getattr(self, name) for name in ("rho", "mu", "renyi_alpha", "renyi_epsilon")}
        if self.epsilon is not None and all(value is None for value in others.values()):
            return {"epsilon": self.epsilon, "delta": self.delta}
        try:
            return {"claim": claim_from(epsilon=self.epsilon, **others), "delta": self.delta}
        except InputError as error:
            raise InputError(f"the audit of {self.title!r}: {error}") from None


class GuaranteeEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One guarantee of another kind than privacy.

    Attributes
    ----------
    kind
        The name of a function of :mod:`dpsco_verify.guarantees`, or ``check_optimiser``.
    function, command
        ``module:name`` of what is judged, or the command of a program that draws it; one of the two.
    arguments
        The guarantee's other arguments by name; ``module:name`` stands for an object.
    name, weight, time_limit, seeded, expect
        As for audits.
    """

    kind: Text
    function: Text | None = None
    command: Text | None = None
    arguments: dict[str, Any] = {}
    name: Text | None = None
    weight: Positive = 1.0
    time_limit: Positive = 60.0
    seeded: bool = True
    expect: Literal["not_violated", "violated"] = "not_violated"

    @property
    def title(self) -> str:
        """What the report calls what is judged."""
        return self.name or self.function or self.command or ""


class OptimiserEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One private optimiser, held to its claims on the bank of problems.

    Attributes
    ----------
    function, command
        ``module:name`` of the optimiser, or the command of a program; one of the two.
    risk, privacy, gradient_queries
        ``module:name`` of what it claims; of the privacy also true, for (epsilon, delta) itself, and false.
    deterministic_given_seed, invariances, outliers, epsilon, delta, audit_at
    problems, losses, sizes, runs, samples, batched
        As :func:`~dpsco_verify.guarantees.optimiser.check_optimiser` takes them, with its defaults.
    name, weight, time_limit, seeded, expect
        As for audits.
    """

    function: Text | None = None
    command: Text | None = None
    risk: Text | None = None
    privacy: Text | bool | None = None
    gradient_queries: Text | None = None
    deterministic_given_seed: bool | None = None
    invariances: tuple[Text, ...] | None = None
    outliers: bool | None = None
    epsilon: float | None = None
    delta: float | None = None
    audit_at: tuple[float, float] | None = None
    problems: tuple[Text, ...] | None = None
    losses: tuple[Text, ...] | None = None
    sizes: tuple[int, ...] | None = None
    runs: int | None = None
    samples: int | None = None
    batched: bool | None = None
    name: Text | None = None
    weight: Positive = 1.0
    time_limit: Positive = 60.0
    seeded: bool = True
    expect: Literal["not_violated", "violated"] = "not_violated"

    def as_guarantee(self) -> GuaranteeEntry:
        """Return it as a guarantee, with its claims as arguments."""
        given = msgspec.structs.asdict(self)
        of_any = {name: given.pop(name) for name in GuaranteeEntry.__struct_fields__ if name in given}
        claims = {name: value for name, value in given.items() if value is not None}
        return GuaranteeEntry(kind="check_optimiser", arguments=claims, **of_any)
