"""The checks, cheap ones first."""

from dpsco_verify.algorithm.conformance.checks.average import AVERAGE
from dpsco_verify.algorithm.conformance.checks.batch_clipping import BATCH_CLIPPING
from dpsco_verify.algorithm.conformance.checks.batch_mean import BATCH_MEAN
from dpsco_verify.algorithm.conformance.checks.clipping import CLIPPING
from dpsco_verify.algorithm.conformance.checks.coordinate_independence import COORDINATE_INDEPENDENCE
from dpsco_verify.algorithm.conformance.checks.gradient import GRADIENT
from dpsco_verify.algorithm.conformance.checks.initial_point import INITIAL_POINT
from dpsco_verify.algorithm.conformance.checks.iterates_in_set import ITERATES_IN_SET
from dpsco_verify.algorithm.conformance.checks.noise_law import NOISE_LAW
from dpsco_verify.algorithm.conformance.checks.noise_on_repeats import NOISE_ON_REPEATS
from dpsco_verify.algorithm.conformance.checks.noise_scale import NOISE_SCALE
from dpsco_verify.algorithm.conformance.checks.projection import PROJECTION
from dpsco_verify.algorithm.conformance.checks.repeat_draws import REPEAT_DRAWS
from dpsco_verify.algorithm.conformance.checks.reported_draws import REPORTED_DRAWS
from dpsco_verify.algorithm.conformance.checks.run_independence import RUN_INDEPENDENCE
from dpsco_verify.algorithm.conformance.checks.single_step_privacy import SINGLE_STEP_PRIVACY
from dpsco_verify.algorithm.conformance.checks.step_independence import STEP_INDEPENDENCE
from dpsco_verify.algorithm.conformance.checks.stopping_rule import STOPPING_RULE
from dpsco_verify.algorithm.conformance.checks.stopping_time import STOPPING_TIME
from dpsco_verify.algorithm.conformance.checks.uniform_draws import UNIFORM_DRAWS
from dpsco_verify.algorithm.conformance.finding import Check

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
