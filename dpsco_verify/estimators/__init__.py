"""Algorithm 1 for people with data: private linear models in scikit-learn's manner (``docs/estimators.md``)."""

from dpsco_verify.estimators.classifier import PrivateSGDClassifier
from dpsco_verify.estimators.noise import PrivacyStatement
from dpsco_verify.estimators.regressor import PrivateSGDRegressor
from dpsco_verify.estimators.warnings import NoiseWarning, PrivacyLeakWarning

__all__ = [
    "NoiseWarning",
    "PrivacyLeakWarning",
    "PrivacyStatement",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
]
