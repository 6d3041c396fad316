"""Losses: convex, Lipschitz functions of the parameter, one for each data point."""

from __future__ import annotations

from dpsco_verify.problems.losses.euclidean_distance import EuclideanDistance
from dpsco_verify.problems.losses.huber import Huber
from dpsco_verify.problems.losses.linear import Linear
from dpsco_verify.problems.losses.linear_predictor import ClassificationLoss, LinearPredictorLoss
from dpsco_verify.problems.losses.logistic import Logistic
from dpsco_verify.problems.losses.loss import Loss
from dpsco_verify.problems.losses.two_lines import AbsoluteDeviation, Hinge, Quantile

__all__ = [
    "AbsoluteDeviation",
    "ClassificationLoss",
    "EuclideanDistance",
    "Hinge",
    "Huber",
    "Linear",
    "LinearPredictorLoss",
    "Logistic",
    "Loss",
    "Quantile",
]
