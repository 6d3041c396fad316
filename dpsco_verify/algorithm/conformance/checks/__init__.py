"""The checks, cheap ones first."""

from dpsco_verify.algorithm.conformance.check import Check
from dpsco_verify.algorithm.conformance.checks.draws import (
    REPEAT_DRAWS,
    REPORTED_DRAWS,
    STOPPING_RULE,
    STOPPING_TIME,
    UNIFORM_DRAWS,
)
from dpsco_verify.algorithm.conformance.checks.gradients import BATCH_CLIPPING, BATCH_MEAN, CLIPPING, GRADIENT
from dpsco_verify.algorithm.conformance.checks.noise import (
    COORDINATE_INDEPENDENCE,
    NOISE_LAW,
    NOISE_ON_REPEATS,
    NOISE_SCALE,
    RUN_INDEPENDENCE,
    STEP_INDEPENDENCE,
)
from dpsco_verify.algorithm.conformance.checks.privacy import SINGLE_STEP_PRIVACY
from dpsco_verify.algorithm.conformance.checks.steps import (
    AVERAGE,
    INITIAL_POINT,
    ITERATES_IN_SET,
    PROJECTION,
)

CHECKS: tuple[Check, ...] = (
    INITIAL_POINT,
    ITERATES_IN_SET,
    PROJECTION,
    GRADIENT,
    REPEAT_DRAWS,
    CLIPPING,
    BATCH_MEAN,
    BATCH_CLIPPING,
    STOPPING_RULE,
    STOPPING_TIME,
    UNIFORM_DRAWS,
    REPORTED_DRAWS,
    AVERAGE,
    NOISE_SCALE,
    NOISE_LAW,
    NOISE_ON_REPEATS,
    STEP_INDEPENDENCE,
    COORDINATE_INDEPENDENCE,
    RUN_INDEPENDENCE,
    SINGLE_STEP_PRIVACY,
)

__all__ = ["CHECKS"]
