"""The exhibits of the museum, by the kind of mechanism; controls apart."""

from dpsco_verify.faults.exhibits.additive import ADDITIVE_FAULTS
from dpsco_verify.faults.exhibits.canaries import CANARY_EXHIBITS, CanaryExhibit
from dpsco_verify.faults.exhibits.controls import CONTROLS
from dpsco_verify.faults.exhibits.edges import EDGES
from dpsco_verify.faults.exhibits.estimator import ESTIMATOR_CONTROLS, ESTIMATOR_FAULTS
from dpsco_verify.faults.exhibits.release import RELEASE_FAULTS
from dpsco_verify.faults.exhibits.selection import SELECTION_FAULTS
from dpsco_verify.faults.exhibits.structured import STRUCTURED

__all__ = [
    "ADDITIVE_FAULTS",
    "CANARY_EXHIBITS",
    "CONTROLS",
    "EDGES",
    "ESTIMATOR_CONTROLS",
    "ESTIMATOR_FAULTS",
    "RELEASE_FAULTS",
    "SELECTION_FAULTS",
    "STRUCTURED",
    "CanaryExhibit",
]
