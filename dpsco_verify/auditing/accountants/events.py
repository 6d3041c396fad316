"""The events that an accountant accounts for: a small language, and the steps that an event comes down to.

Every leaf adds noise to a sum ``Σ_i v_i`` to which each record contributes one value of norm at most 1: a vector in
the Euclidean norm (Gaussian), or a number (Laplace). The noise multiplier and the scale are in units of that bound,
also where a record is replaced, which moves the sum by up to 2. The query of a step may depend on the outputs before.

The relations are those of :mod:`dpsco_verify.auditing.pairs`; under zero-out, the empty record is counted and
sampled as any other but contributes 0.

An event comes down to a sequence of :class:`Step`: noise, how the record is sampled, and how often in a row. A Gaussian
composed k times is one Gaussian of σ/√k, also inside a sample; a Poisson sample of a Poisson sample is one with the
product of the probabilities.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_half_open_interval, require_integer, require_positive


class Event:
    """An event of the language."""


@dataclass(frozen=True)
class Gaussian(Event):
    """Normal noise of standard deviation `noise_multiplier`, in units of a contribution's largest norm."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        require_positive("noise_multiplier", self.noise_multiplier)

    def __str__(self) -> str:
        return f"Gaussian({self.noise_multiplier:g})"


@dataclass(frozen=True)
class Laplace(Event):
    """Laplace noise of this scale on a number, in units of a contribution's largest absolute value."""

    scale: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        require_positive("scale", self.scale)

    def __str__(self) -> str:
        return f"Laplace({self.scale:g})"


@dataclass(frozen=True)
class PoissonSampled(Event):
    """`event` on a sample that holds each record with this probability, independently."""

    probability: float
    event: Event

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_half_open_interval("probability", self.probability, 0.0, 1.0)
        _require_event(self.event)

    def __str__(self) -> str:
        return f"PoissonSampled({self.probability:g}, {self.event})"


@dataclass(frozen=True)
class SampledWithoutReplacement(Event):
    """`event` on a sample of `sample_size` of the `size` records, each such sample being as likely.

    Under add-remove, `size` is that of the larger of the two data sets.
    """

    size: int
    sample_size: int
    event: Event

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_integer("size", self.size, minimum=2)
        require_integer("sample_size", self.sample_size, minimum=1)
        if self.sample_size > self.size:
            raise InputError(
                f"sample_size={self.sample_size} exceeds size={self.size}; give at most the number of records"
            )
        _require_event(self.event)

    def __str__(self) -> str:
        return f"SampledWithoutReplacement({self.size}, {self.sample_size}, {self.event})"


@dataclass(frozen=True)
class Composed(Event):
    """`event` carried out `count` times in a row, each with a sample and noise of its own."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        _require_event(self.event)
        require_integer("count", self.count, minimum=1)

    def __str__(self) -> str:
        return f"Composed({self.event}, {self.count})"


@dataclass(frozen=True)
class InTurn(Event):
    """Different events, one after the other."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "events", tuple(self.events))
        if not self.events:
            raise InputError("events=() holds no event; give at least one")
        for event in self.events:
            _require_event(event)

    def __str__(self) -> str:
        return f"InTurn({', '.join(map(str, self.events))})"


class Noise(enum.StrEnum):
    """The families of noise."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"


class Sampling(enum.StrEnum):
    """How a record gets into a step."""

    NONE = "none"
    POISSON = "poisson"
    WITHOUT_REPLACEMENT = "without-replacement"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One kind of step and how often it is carried out.

    Attributes
    ----------
    noise
        The family.
    parameter
        The variance of Gaussian noise, the scale of Laplace noise: the rational number that it is.
    sampling, probability
        How, and with which probability, a record is in the sample.
    count
        How many such steps there are.
    """

    noise: Noise
    parameter: Fraction
    sampling: Sampling = Sampling.NONE
    probability: Fraction = Fraction(1)
    count: int = 1

    @property
    def merges(self) -> bool:
        """Whether such steps in a row are one: unsampled Gaussian queries (Dong, Roth, Su 2022, Corollary 3.3)."""
        return self.noise is Noise.GAUSSIAN and self.sampling is Sampling.NONE


def steps_of(event: Event) -> tuple[Step, ...]:
    """Return the steps that an event comes down to, equal ones gathered.

    Raises
    ------
    InputError
        If a sample is taken of something whose noise is not a single number's: several Laplace steps, or a sample
        without replacement, on one sample.
    """
    gathered: dict[Step, int] = {}
    precision = Fraction(0)  # Σ 1/σ² over the unsampled Gaussian queries
    for step in _steps(_require_event(event)):
        if step.merges:
            precision += step.count / step.parameter
        else:
            kind = replace(step, count=1)
            gathered[kind] = gathered.get(kind, 0) + step.count
    merged = (Step(noise=Noise.GAUSSIAN, parameter=1 / precision),) if precision else ()
    return merged + tuple(replace(kind, count=count) for kind, count in gathered.items())


def _steps(event: Event) -> list[Step]:
    if isinstance(event, Gaussian):
        return [Step(noise=Noise.GAUSSIAN, parameter=Fraction(event.noise_multiplier) ** 2)]
    if isinstance(event, Laplace):
        return [Step(noise=Noise.LAPLACE, parameter=Fraction(event.scale))]
    if isinstance(event, Composed):
        return [replace(step, count=step.count * event.count) for step in _steps(event.event)]
    if isinstance(event, InTurn):
        return [step for part in event.events for step in _steps(part)]
    if isinstance(event, PoissonSampled):
        inner = _single(event, event.event)
        if inner.sampling is Sampling.WITHOUT_REPLACEMENT:
            raise InputError(
                f"event={event} takes a sample of a fixed size from one of a random size; give one way of sampling"
            )
        return [_sampled(inner, Sampling.POISSON, inner.probability * Fraction(event.probability))]
    if isinstance(event, SampledWithoutReplacement):
        inner = _single(event, event.event)
        if inner.sampling is not Sampling.NONE:
            raise InputError(f"event={event} takes a sample of a sample; give one way of sampling")
        return [_sampled(inner, Sampling.WITHOUT_REPLACEMENT, Fraction(event.sample_size, event.size))]
    raise InputError(f"event={event!r} is unknown; give an event of this package, such as Gaussian(1.0)")


def _sampled(step: Step, sampling: Sampling, probability: Fraction) -> Step:
    if probability == 1:
        return step
    return replace(step, sampling=sampling, probability=probability)


def _single(event: Event, inner: Event) -> Step:
    """Return the one step that a sampled event comes down to."""
    steps = steps_of(inner)
    if len(steps) != 1 or steps[0].count != 1:
        raise InputError(
            f"event={event} uses one sample for several steps that are not one Gaussian; compose sampled events instead"
        )
    return steps[0]


def _require_event(event: Event) -> Event:
    if not isinstance(event, Event):
        raise InputError(f"event={event!r} is not an event of this package; give one, such as Gaussian(1.0)")
    return event
