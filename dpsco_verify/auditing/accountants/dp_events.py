"""dp-accounting's events as events of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsco_verify.auditing.accountants.events import (
    Composed,
    Event,
    Gaussian,
    InTurn,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
)
from dpsco_verify.errors import InputError


def from_dp_event(event: Any) -> Event:
    """Return dp-accounting's event as one of this package; an optional extra.

    The noise multiplier means the same there: the noise over the bound C on the norm of one record's contribution,
    also where records are replaced. Laplace events are taken as those of one number.

    Raises
    ------
    InputError
        If dp-accounting is not installed, or for an event that this package does not know.
    """
    try:
        from dp_accounting import dp_event  # noqa: PLC0415  an optional extra
    except ImportError as error:
        raise InputError(
            f"dp-accounting cannot be imported ({error}); pip install 'dpsco-verify[accounting]'"
        ) from error
    makers: dict[type, Callable[[Any], Event]] = {
        dp_event.GaussianDpEvent: lambda e: Gaussian(e.noise_multiplier),
        dp_event.LaplaceDpEvent: lambda e: Laplace(e.noise_multiplier),
        dp_event.SelfComposedDpEvent: lambda e: Composed(from_dp_event(e.event), e.count),
        dp_event.ComposedDpEvent: lambda e: InTurn(tuple(from_dp_event(part) for part in e.events)),
        dp_event.PoissonSampledDpEvent: lambda e: PoissonSampled(
            e.sampling_probability, from_dp_event(e.event)
        ),
        dp_event.SampledWithoutReplacementDpEvent: lambda e: SampledWithoutReplacement(
            e.source_dataset_size, e.sample_size, from_dp_event(e.event)
        ),
    }
    maker = makers.get(type(event))
    if maker is None:
        known = ", ".join(kind.__name__ for kind in makers)
        raise InputError(f"event={event!r} has no counterpart here; give one made of {known}")
    return maker(event)
