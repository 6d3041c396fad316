"""diffprivlib's mechanisms as mechanisms, and their parameters as claims; needs the extra ``diffprivlib``.

diffprivlib 0.6.6 does not import beside scikit-learn 1.7 or later: its ``__init__`` loads its learning models, which
use names that scikit-learn no longer has: its forests ``sklearn.tree._tree.DOUBLE``. Its mechanisms and its linear
models do not, and are loaded before them, so :func:`diffprivlib_mechanisms` and :func:`diffprivlib_model` hand them out
all the same.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, cast

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim, PureDP


def diffprivlib_mechanisms() -> ModuleType:
    """Return ``diffprivlib.mechanisms``, also where the rest of diffprivlib does not import.

    Raises
    ------
    InputError
        If it is not installed.
    """
    name = "diffprivlib.mechanisms"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        # Submodules that were loaded before a package's import fails stay loaded, as the language reference has it.
        loaded = sys.modules.get(name)
        if loaded is None or not hasattr(loaded, "Laplace"):
            raise InputError(
                f"diffprivlib cannot be imported ({error}); pip install 'dpsco-verify[diffprivlib]'"
            ) from error
        return loaded


def diffprivlib_model(name: str) -> type:
    """Return a model of diffprivlib that is loaded before its forests, such as ``LinearRegression``.

    Of the linear ones ``LinearRegression`` fits. ``LogisticRegression`` cannot be made beside scikit-learn 1.8 or
    later: it hands ``multi_class`` to a constructor that no longer takes it.

    Raises
    ------
    InputError
        If diffprivlib is not installed, or there is no such model among them.
    """
    diffprivlib_mechanisms()
    models = {
        kind: getattr(module, kind)
        for path, module in list(sys.modules.items())
        if path.startswith("diffprivlib.models.")
        for kind in vars(module)
        if isinstance(getattr(module, kind), type) and getattr(module, kind).__module__ == path
    }
    if name not in models:
        raise InputError(f"name={name!r} is no model that loads; give one of {', '.join(sorted(models))}")
    return cast(type, models[name])


class DiffprivlibMechanism:
    """A diffprivlib mechanism as a mechanism for :func:`dpsco_verify.auditing.audit`."""

    takes_rng = False

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism
        self.__name__ = f"diffprivlib {type(mechanism).__name__}"

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` randomised values of the data set, which is the value."""
        del rng
        return [self.mechanism.randomise(dataset) for _ in range(size)]


def from_diffprivlib(mechanism: Any) -> DiffprivlibMechanism:
    """Return a diffprivlib mechanism as a mechanism whose data set is the value that it randomises.

    Its randomness is its own, also with a ``random_state``, so audits of it are not reproducible.

    Raises
    ------
    InputError
        If it is none of diffprivlib's mechanisms, or diffprivlib is not installed.
    """
    return DiffprivlibMechanism(_require_mechanism(mechanism))


def diffprivlib_claim(mechanism: Any) -> PrivacyClaim:
    """Return the mechanism's claim, ε or (ε, δ), of values no further apart than its sensitivity."""
    checked = _require_mechanism(mechanism)
    epsilon, delta = float(checked.epsilon), float(checked.delta)
    return PureDP(epsilon) if delta == 0.0 else ApproximateDP(epsilon, delta)


def _require_mechanism(mechanism: Any) -> Any:
    base = importlib.import_module(f"{diffprivlib_mechanisms().__name__}.base").DPMechanism
    if not isinstance(mechanism, base):
        raise InputError(
            f"mechanism of type {type(mechanism).__name__} is not a diffprivlib mechanism; give one of its mechanisms"
        )
    return mechanism
