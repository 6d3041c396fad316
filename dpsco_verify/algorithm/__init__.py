"""The system under verification: Algorithm 1 as one run (the oracle) and as many (the ensemble), and its schedules."""

from dpsco_verify.algorithm.ensemble import Engine, Ensemble, noisy_step, record_ensemble, run_ensemble
from dpsco_verify.algorithm.mirror_descent import MirrorRun, mirror_descent, mirror_step
from dpsco_verify.algorithm.options import Averaging, NoiseConvention, Options, StoppingRule
from dpsco_verify.algorithm.private_sgd import Run, Transcript, private_sgd
from dpsco_verify.algorithm.schedules import (
    PrivacyParameters,
    Schedule,
    composition_sigma,
    main_schedule,
    single_step_sigma,
    translated_schedule,
    utility_bound,
    utility_scale,
    utility_step_size,
)
from dpsco_verify.algorithm.tape import GeneratorTape, RecordedTape, Tape, record

__all__ = [
    "Averaging",
    "Engine",
    "Ensemble",
    "GeneratorTape",
    "MirrorRun",
    "NoiseConvention",
    "Options",
    "PrivacyParameters",
    "RecordedTape",
    "Run",
    "Schedule",
    "StoppingRule",
    "Tape",
    "Transcript",
    "composition_sigma",
    "main_schedule",
    "mirror_descent",
    "mirror_step",
    "noisy_step",
    "private_sgd",
    "record",
    "record_ensemble",
    "run_ensemble",
    "single_step_sigma",
    "translated_schedule",
    "utility_bound",
    "utility_scale",
    "utility_step_size",
]
