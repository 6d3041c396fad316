"""All systems by their ids, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsco_verify.related.algorithm_one import AlgorithmOne, PrintedAlgorithmOne
from dpsco_verify.related.empirical_optimum import EmpiricalOptimum
from dpsco_verify.related.estimator_steps import EstimatorBatches, EstimatorPasses
from dpsco_verify.related.iteration_sgd import HalvingIterationSgd, IterationSgd
from dpsco_verify.related.minibatch_sgd import MinibatchSgd
from dpsco_verify.related.mirror_descent import (
    EntropicMirrorDescent,
    EuclideanMirrorDescent,
    PNormMirrorDescent,
)
from dpsco_verify.related.noisy_sgd_erm import NoisySgdErm, ShortNoisySgdErm, ShortScaledNoisySgdErm
from dpsco_verify.related.objective_perturbation import ObjectivePerturbation, SharpObjectivePerturbation
from dpsco_verify.related.output_perturbation import OutputPerturbation
from dpsco_verify.related.phased_erm import PhasedErm, SharpPhasedErm
from dpsco_verify.related.phased_sgd import PhasedSgd, TightPhasedSgd
from dpsco_verify.related.private_mirror_descent import (
    PrivateEntropicMirrorDescent,
    PrivatePNormMirrorDescent,
)
from dpsco_verify.related.smoothed_minibatch_sgd import SmoothedMinibatchSgd, TwiceSmoothedMinibatchSgd
from dpsco_verify.related.subsampled_one_pass import SubsampledOnePass, SubsampledScaledOnePass
from dpsco_verify.related.system import System

SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        system.id: system
        for system in (
            AlgorithmOne(),
            PrintedAlgorithmOne(),
            EstimatorBatches(),
            EstimatorPasses(),
            OutputPerturbation(),
            ObjectivePerturbation(),
            SharpObjectivePerturbation(),
            NoisySgdErm(),
            ShortNoisySgdErm(),
            ShortScaledNoisySgdErm(),
            MinibatchSgd(),
            SmoothedMinibatchSgd(),
            TwiceSmoothedMinibatchSgd(),
            PhasedSgd(),
            TightPhasedSgd(),
            PhasedErm(),
            SharpPhasedErm(),
            IterationSgd(),
            HalvingIterationSgd(),
            SubsampledOnePass(),
            SubsampledScaledOnePass(),
            PrivatePNormMirrorDescent(),
            PrivateEntropicMirrorDescent(),
            EuclideanMirrorDescent(),
            PNormMirrorDescent(),
            EntropicMirrorDescent(),
            EmpiricalOptimum(),
        )
    }
)
"""The paper's Algorithm 1, its neighbours, and those without privacy."""
