"""The privacy of a whole run from above and below, and noise calibrated by it (proof: ``docs/whole-run.md``)."""

from dpsco_verify.privacy.whole_run.bounds import (
    delta_lower,
    delta_upper,
    epsilon_lower,
    epsilon_upper,
    output_is_known,
)
from dpsco_verify.privacy.whole_run.calibration import Calibration, calibrate
from dpsco_verify.privacy.whole_run.run import View, WholeRun

__all__ = [
    "Calibration",
    "View",
    "WholeRun",
    "calibrate",
    "delta_lower",
    "delta_upper",
    "epsilon_lower",
    "epsilon_upper",
    "output_is_known",
]
