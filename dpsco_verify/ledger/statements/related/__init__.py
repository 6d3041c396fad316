"""The claims of the systems that the paper builds on or compares with: privacy and risk, each from its own source."""

from __future__ import annotations

from dpsco_verify.ledger.statement import Statement
from dpsco_verify.ledger.statements.related.iteration import IterationSgdPrivacy
from dpsco_verify.ledger.statements.related.minibatch import MinibatchPrivacy, SmoothedMinibatchPrivacy
from dpsco_verify.ledger.statements.related.noisy_sgd import NoisySgdPrivacy
from dpsco_verify.ledger.statements.related.objective_perturbation import ObjectivePerturbationPrivacy
from dpsco_verify.ledger.statements.related.one_use import (
    AlgorithmOnePrivacy,
    PrivateMirrorDescentPrivacy,
    SubsampledOnePassPrivacy,
)
from dpsco_verify.ledger.statements.related.output_perturbation import OutputPerturbationPrivacy
from dpsco_verify.ledger.statements.related.phased import PhasedErmPrivacy, PhasedSgdPrivacy
from dpsco_verify.ledger.statements.related.risk_bounds import RISK_STATEMENTS

PRIVACY_STATEMENTS: tuple[Statement, ...] = (
    OutputPerturbationPrivacy(),
    ObjectivePerturbationPrivacy(),
    NoisySgdPrivacy(),
    MinibatchPrivacy(),
    SmoothedMinibatchPrivacy(),
    PhasedSgdPrivacy(),
    PhasedErmPrivacy(),
    IterationSgdPrivacy(),
    SubsampledOnePassPrivacy(),
    AlgorithmOnePrivacy(),
    PrivateMirrorDescentPrivacy(),
)

RELATED_STATEMENTS: tuple[Statement, ...] = (*PRIVACY_STATEMENTS, *RISK_STATEMENTS)

__all__ = ["PRIVACY_STATEMENTS", "RELATED_STATEMENTS", "RISK_STATEMENTS"]
