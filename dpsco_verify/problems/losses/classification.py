"""The part that losses for two classes share: labels are −1 and +1."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss


class ClassificationLoss(LinearPredictorLoss):
    """A loss of the margin ``y·<w, a>`` with a label ``y`` that is −1 or +1."""

    def require_data(self, data: ArrayLike, *, dimension: int | None = None) -> FloatArray:
        """Return `data` checked, labels included.

        Raises
        ------
        InputError
            As for every loss, and if a label is neither −1 nor +1.
        """
        array = super().require_data(data, dimension=dimension)
        labels = array[..., -1]
        wrong = np.abs(labels) != 1.0
        if wrong.any():
            raise InputError(
                f"label={labels[wrong].flat[0]!r} is not a class; {self.name} takes labels -1 and +1"
            )
        return array
