"""Mechanisms from elsewhere, and the paper's own, as mechanisms and claims for an audit.

The adapters of other libraries import these when used; ``pip install 'dpsco-verify[opendp]'`` and
``'dpsco-verify[diffprivlib]'`` bring them.
"""

from dpsco_verify.adapters.algorithm import AlgorithmMechanism, Release, SingleStepMechanism
from dpsco_verify.adapters.algorithm_claims import (
    paper_claim,
    paper_single_step_claim,
    single_step_claim,
    transcript_claim,
)
from dpsco_verify.adapters.diffprivlib import (
    diffprivlib_claim,
    diffprivlib_mechanisms,
    diffprivlib_model,
    from_diffprivlib,
)
from dpsco_verify.adapters.opendp import from_opendp, opendp_claim

__all__ = [
    "AlgorithmMechanism",
    "Release",
    "SingleStepMechanism",
    "diffprivlib_claim",
    "diffprivlib_mechanisms",
    "diffprivlib_model",
    "from_diffprivlib",
    "from_opendp",
    "opendp_claim",
    "paper_claim",
    "paper_single_step_claim",
    "single_step_claim",
    "transcript_claim",
]
