"""Algorithm 1 for people with data: private linear models in scikit-learn's manner (``docs/estimators.md``)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsco_verify.estimators.classifier import PrivateSGDClassifier
    from dpsco_verify.estimators.noise import PrivacyStatement
    from dpsco_verify.estimators.norm_choice import private_norm
    from dpsco_verify.estimators.regressor import PrivateSGDRegressor
    from dpsco_verify.estimators.warnings import NoiseWarning, PrivacyLeakWarning

__all__ = [
    "NoiseWarning",
    "PrivacyLeakWarning",
    "PrivacyStatement",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
    "private_norm",
]

_HOMES = {
    "NoiseWarning": "warnings",
    "PrivacyLeakWarning": "warnings",
    "PrivacyStatement": "noise",
    "PrivateSGDClassifier": "classifier",
    "PrivateSGDRegressor": "regressor",
    "private_norm": "norm_choice",
}


def __getattr__(name: str) -> object:
    # By their names, when they are asked for: scikit-learn takes longer to import than all else, and the systems
    # of the comparison need no more from here than the noise.
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
