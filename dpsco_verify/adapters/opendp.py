"""OpenDP measurements as mechanisms, and their privacy maps as claims; needs the extra ``opendp``.

An OpenDP measurement has randomness of its own, which no seed reaches: audits of it cannot be repeated number by
number, and their results say so. Tested with OpenDP 0.16.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import (
    ApproximateDP,
    PrivacyClaim,
    PrivacyCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from dpsco_verify.validation import require_non_negative

RENYI_ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0)
"""The orders α at which a Rényi privacy map, a function of α, is asked."""

_RUNS_A_CALL = 64


class OpenDPMechanism:
    """An OpenDP measurement as a mechanism for :func:`dpsco_verify.auditing.audit`."""

    takes_rng = False

    def __init__(self, measurement: Any) -> None:
        self.measurement = measurement
        self._many = _repeated(measurement)
        self.__name__ = f"OpenDP measurement on {measurement.input_domain}"

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` runs on the data set, a member of the measurement's input domain."""
        del rng
        if self._many is None:
            return [self.measurement(dataset) for _ in range(size)]
        outputs: list[Any] = []
        while len(outputs) < size:
            outputs.extend(self._many(dataset))
        return outputs[:size]


def from_opendp(measurement: Any) -> OpenDPMechanism:
    """Return an OpenDP measurement as a mechanism.

    Where OpenDP can compose the measurement with itself, runs come 64 to a call: the members of a composition are
    released independently of each other, and crossing over to the library costs more than most releases do.

    Parameters
    ----------
    measurement
        An ``opendp.mod.Measurement``; a data set is whatever its input domain holds.

    Raises
    ------
    InputError
        If it is not a measurement, or OpenDP is not installed.
    """
    return OpenDPMechanism(_require_measurement(measurement))


def opendp_claim(measurement: Any, d_in: Any) -> PrivacyClaim:
    """Return what the measurement's privacy map claims of data sets at a distance of at most `d_in`.

    =========================================  ==========================================================
    output measure                             claim
    =========================================  ==========================================================
    ``MaxDivergence``                          :class:`PureDP`
    ``Approximate(MaxDivergence)``             :class:`ApproximateDP`
    ``ZeroConcentratedDivergence``             :class:`ZeroConcentratedDP`
    ``SmoothedMaxDivergence``                  its privacy profile, a :class:`PrivacyCurve`
    ``RenyiDivergence``                        the least δ(ε) over :data:`RENYI_ORDERS`, a :class:`PrivacyCurve`
    ``Approximate(…)`` of another              that one's δ(ε), plus δ, a :class:`PrivacyCurve`
    =========================================  ==========================================================

    Parameters
    ----------
    measurement
        An ``opendp.mod.Measurement``.
    d_in
        A distance in its input metric. Whether a pair's distance is at most this is for the caller to see to.

    Raises
    ------
    InputError
        If the map refuses `d_in`, or for another output measure.
    """
    measure = str(_require_measurement(measurement).output_measure)
    try:
        d_out = measurement.map(d_in)
    except Exception as error:
        raise InputError(
            f"d_in={d_in!r} is refused by the measurement's privacy map ({_first_line(error)}); give a distance in "
            f"{measurement.input_metric}"
        ) from error
    return _claim(measure, d_out)


def _claim(measure: str, d_out: Any) -> PrivacyClaim:
    if measure == "MaxDivergence":
        return PureDP(_finite(d_out))
    if measure == "ZeroConcentratedDivergence":
        return ZeroConcentratedDP(_finite(d_out))
    if measure == "SmoothedMaxDivergence":
        return PrivacyCurve(
            lambda epsilon: min(1.0, float(d_out.delta(epsilon))), label="OpenDP privacy profile"
        )
    if measure == "RenyiDivergence":
        return _renyi(d_out)
    if measure.startswith("Approximate(") and measure.endswith(")"):
        inner, delta = d_out
        if measure == "Approximate(MaxDivergence)":
            return ApproximateDP(_finite(inner), float(delta))
        return _approximate(_claim(measure[len("Approximate(") : -1], inner), float(delta))
    raise InputError(
        f"output_measure={measure} has no privacy claim here; cast the measurement to pure, approximate, zero-"
        "concentrated or Rényi differential privacy"
    )


def _renyi(curve: Callable[[float], float]) -> PrivacyClaim:
    claims = [RenyiDP(alpha, _finite(curve(alpha))) for alpha in RENYI_ORDERS]
    return PrivacyCurve(
        lambda epsilon: min(claim.delta(epsilon) for claim in claims), label="OpenDP Rényi privacy map"
    )


def _approximate(claim: PrivacyClaim, extra: float) -> PrivacyClaim:
    return PrivacyCurve(
        lambda epsilon: min(1.0, math.nextafter(claim.delta(epsilon) + extra, math.inf)),
        orders=claim.orders(),
        label=f"{extra:g}-approximate {claim}",
    )


def _finite(value: Any) -> float:
    number = require_non_negative("privacy map's value", value) if value != math.inf else math.inf
    if math.isinf(number):
        raise InputError("the privacy map claims nothing at this distance (infinite); give a smaller d_in")
    return number


def _repeated(measurement: Any) -> Any:
    """Return a measurement that releases several runs at once, or None where OpenDP has none."""
    combinators = importlib.import_module("opendp.combinators")
    exception = importlib.import_module("opendp.mod").OpenDPException
    try:
        return combinators.make_composition([measurement] * _RUNS_A_CALL)
    except exception:
        return None


def _require_measurement(measurement: Any) -> Any:
    try:
        kind = importlib.import_module("opendp.mod").Measurement
    except ImportError as error:
        raise InputError(
            f"OpenDP cannot be imported ({error}); pip install 'dpsco-verify[opendp]'"
        ) from error
    if not isinstance(measurement, kind):
        raise InputError(
            f"measurement of type {type(measurement).__name__} is not an OpenDP measurement; give what a make_ or "
            "then_ function returns"
        )
    return measurement


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
