"""The checks, cheap ones first."""

from dpsco_verify.algorithm.conformance.check import Check
from dpsco_verify.algorithm.conformance.checks import draws, gradients, noise, privacy, steps

CHECKS: tuple[Check, ...] = (
    steps.initial_point,
    steps.iterates_in_set,
    steps.projection,
    gradients.gradient,
    draws.repeat_draws,
    gradients.clipping,
    gradients.batch_mean,
    gradients.batch_clipping,
    draws.stopping_rule,
    draws.stopping_time,
    draws.uniform_draws,
    draws.reported_draws,
    steps.average,
    noise.noise_scale,
    noise.noise_law,
    noise.noise_on_repeats,
    noise.step_independence,
    noise.coordinate_independence,
    noise.run_independence,
    privacy.single_step_privacy,
)

__all__ = ["CHECKS"]
