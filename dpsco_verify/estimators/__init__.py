"""Algorithm 1 for people with data: private linear models in scikit-learn's manner (``docs/estimators.md``)."""

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


def __getattr__(name: str) -> object:
    # By their names, when they are asked for: scikit-learn takes longer to import than all else, and the systems
    # of the comparison need no more from here than the noise. The imports are spelled out, so that the version of the
    # code that a function runs sees them (`dpsco_verify.store.code`).
    if name == "PrivateSGDClassifier":
        from dpsco_verify.estimators import classifier as home  # noqa: PLC0415  as said above
    elif name == "PrivateSGDRegressor":
        from dpsco_verify.estimators import regressor as home  # type: ignore[no-redef]  # noqa: PLC0415  one of them runs
    elif name == "PrivacyStatement":
        from dpsco_verify.estimators import noise as home  # type: ignore[no-redef]  # noqa: PLC0415  the same
    elif name == "private_norm":
        from dpsco_verify.estimators import norm_choice as home  # type: ignore[no-redef]  # noqa: PLC0415  the same
    elif name in __all__:
        from dpsco_verify.estimators import warnings as home  # type: ignore[no-redef]  # noqa: PLC0415  the same
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return __all__
