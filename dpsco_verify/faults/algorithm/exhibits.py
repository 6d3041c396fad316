"""The wrong implementations of Algorithm 1 with the checks that must catch them, and right ones as controls."""

from __future__ import annotations

from dpsco_verify.algorithm.conformance import Oracle
from dpsco_verify.faults.algorithm.averages import OUTPUT_EXHIBITS
from dpsco_verify.faults.algorithm.draws import DRAW_EXHIBITS
from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.gradients import GRADIENT_EXHIBITS
from dpsco_verify.faults.algorithm.noise import NOISE_EXHIBITS
from dpsco_verify.faults.algorithm.projections import PROJECTION_EXHIBITS
from dpsco_verify.faults.algorithm.run import PlainRun
from dpsco_verify.faults.algorithm.stopping import STOPPING_EXHIBITS

CONTROLS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-plain",
        title="Algorithm 1, the plain run that the faults are made from",
        source="Algorithm 1, corrected reading",
        truth="right; clips",
        implementation=PlainRun(),
        effort=0.5,
        cost=1.5,
    ),
    AlgorithmExhibit(
        id="algorithm-oracle",
        title="Algorithm 1 of this package",
        source="Algorithm 1, corrected reading",
        truth="right; refuses gradients beyond L",
        implementation=Oracle(),
        effort=0.5,
        cost=6.0,
        slow=True,
    ),
)

ALGORITHM_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    *NOISE_EXHIBITS,
    *GRADIENT_EXHIBITS,
    *PROJECTION_EXHIBITS,
    *STOPPING_EXHIBITS,
    *DRAW_EXHIBITS,
    *OUTPUT_EXHIBITS,
    *CONTROLS,
)
