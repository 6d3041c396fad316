"""diffprivlib's two linear models, beside a scikit-learn that they do not import with.

diffprivlib 0.6.6 imports nothing beside scikit-learn 1.7 or later for one reason: its random forest takes a name from
``sklearn.tree._tree`` that is gone, and ``diffprivlib.models`` imports the forest. The constructor of its
LogisticRegression besides passes ``multi_class`` on, which scikit-learn 1.8 has no longer. Neither is part of the two
models' ``fit``, which runs here as it is: the forest is left out, and the constructor is one without that argument.
"""

from __future__ import annotations

import functools
import sys
import types
import warnings
from typing import Any

from sklearn import linear_model

_FOREST = "diffprivlib.models.forest"


@functools.cache
def models() -> tuple[Any, Any]:
    """Return diffprivlib's LogisticRegression, with another constructor, and its LinearRegression."""
    forest = types.ModuleType(_FOREST)
    vars(forest).update(RandomForestClassifier=None, DecisionTreeClassifier=None)
    sys.modules.setdefault(_FOREST, forest)
    from diffprivlib.accountant import BudgetAccountant  # noqa: PLC0415  after the forest
    from diffprivlib.models import LinearRegression, LogisticRegression  # noqa: PLC0415  likewise

    class WithoutMultiClass(LogisticRegression):  # type: ignore[misc]  # diffprivlib ships no types
        def __init__(self, *, epsilon: float, data_norm: float, random_state: Any = None) -> None:
            linear_model.LogisticRegression.__init__(self, random_state=random_state)
            self.epsilon, self.data_norm, self.classes_ = epsilon, data_norm, None
            self.accountant = BudgetAccountant()

    return WithoutMultiClass, LinearRegression


def fit(model: Any, X: Any, y: Any) -> Any:
    """Fit a model without its warnings of options of scipy that are to go, and of a minimum that noise has moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)
