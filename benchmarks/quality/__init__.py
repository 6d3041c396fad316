"""How good private fits are: the estimators beside other systems at the same (ε, δ), on real and made data.

``python -m benchmarks.quality`` prints a table for each ε, one for the other losses and one of the audits, and, with
``--figure``, draws the scores over ε. Every system sees the same splits, the same clipped records and the same bounds,
and guarantees (ε, δ) for replaced records; only "DP-SGD, add-remove" guarantees it for added and removed ones, as its
users do, which is weaker: replacing is both.

What is taken to be public: n, and the means, deviations and ranges by which real data were scaled. The clipping norm is
√d for standardised records, without a look at them, and 1 for images, each of which is scaled by itself. No system's
parameters are chosen by a score here; the estimators' default radius (10, and 2 for regression) was chosen once, by
looking at breast cancer, wine, digits, diabetes and made data.
"""

from benchmarks.quality.fitters import FITTERS, OTHER_LOSSES
from benchmarks.quality.records import Data, problems

__all__ = ["FITTERS", "OTHER_LOSSES", "Data", "problems"]
