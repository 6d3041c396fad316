"""A private linear classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.estimators.base import PrivateLinearModel, refuse_unsupported
from dpsco_verify.estimators.warnings import warn_of_leak
from dpsco_verify.problems import Hinge, Logistic


class PrivateSGDClassifier(ClassifierMixin, PrivateLinearModel):  # type: ignore[misc]  # scikit-learn ships no types
    """A linear classifier whose fitted attributes are (ε, δ)-differentially private for *any* data.

    It minimises the hinge or the logistic loss over a convex set by noisy steps
    (:mod:`dpsco_verify.estimators.descent`), with noise calibrated for the whole fit
    (:func:`dpsco_verify.estimators.noise.plan`). Neighbours are data sets of as many records, one of which differs
    in any way, label included; n is public. Several classes are fitted one against the rest *jointly*: the vector
    of a record's k slopes is clipped to norm 1, so that k classes need the noise of two.

    Parameters
    ----------
    loss
        "logistic", which gives probabilities, or "hinge".
    epsilon, delta
        The totals, ε in [1e-4, 100] and δ in (0, 1); δ should be far below 1/n.
    data_norm
        C, the ℓ2 norm to which each record is clipped. It must not come from the data. None reads the largest norm
        from them, with a :class:`~dpsco_verify.estimators.PrivacyLeakWarning`. The private ways without any
        knowledge: scale each record by itself, as ``sklearn.preprocessing.Normalizer`` does, and give 1; or spend a
        part of ε on :func:`~dpsco_verify.estimators.private_norm`.
    classes
        All labels that there can be, at least two. It must not come from the data; None reads them, with a
        warning. A record with another label counts as one without any gradient.
    constraint, radius
        The set of the coefficients of each class: the ball of "l2", "l1" or the "box" of this radius about 0, by
        default 10/C; or the "simplex" of this sum, by default 1. Intercepts are in [−10, 10].
    fit_intercept
        Whether there is an intercept. It costs a factor √2 of noise.
    batch_size, epochs
        f and the number of passes, or "auto", which chooses from n, d, ε and δ alone.
    random_state
        For tests alone, with a warning: by default all randomness is the operating system's.

    Attributes
    ----------
    coef_, intercept_
        Shapes (1, d) and (1,) for two classes, (k, d) and (k,) for more.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    epsilon_, delta_, sigma_, n_iter_, batch_size_, data_norm_
        What was spent, the noise σ on the mean gradient of a batch, the number of noisy steps, f and C.
    privacy_statement_
        What is guaranteed, by which theorem, and provided what.

    Notes
    -----
    Nothing that ``fit`` raises depends on the values of records, but on shapes, types and parameters; and, where
    `classes` is left out, on the labels. Cross-validation fits several times on overlapping records: k folds of a
    search over m settings spend up to (k − 1)m times ε; see ``docs/estimators.md``.

    Examples
    --------
    >>> X, y = np.tile([[0.5, 0.0], [-0.5, 0.0]], (500, 1)), np.tile(["yes", "no"], 500)
    >>> model = PrivateSGDClassifier(epsilon=1.0, data_norm=1.0, classes=["no", "yes"]).fit(X, y)
    >>> model.predict_proba(X).shape, str(model.privacy_statement_)[:30]
    ((1000, 2), '(1, 1e-06)-differentially priv')
    """

    _reach: ClassVar[float] = 10.0

    classes_: Any

    def __init__(
        self,
        loss: str = "logistic",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        data_norm: float | None = None,
        classes: ArrayLike | None = None,
        constraint: str = "l2",
        radius: float | None = None,
        fit_intercept: bool = True,
        batch_size: int | str = "auto",
        epochs: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.classes = classes
        self.constraint = constraint
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.epochs = epochs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Return the tags."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Fit to records X, shape (n, d), and labels y, shape (n,).

        Raises
        ------
        InputError
            For parameters outside their range, fewer than two classes, or ``sample_weight``.
        ValueError
            As scikit-learn raises it for X and y of wrong shapes and types.
        """
        refuse_unsupported(unsupported)
        loss = self._loss()
        rows = self._checked_rows(X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, labels)
        provided: list[str] = []
        classes, index, counted = self._labelled(labels, provided)
        k = len(classes)
        if k == 2:
            targets = np.where(index == 1, 1.0, -1.0)[:, np.newaxis]
        else:
            targets = np.where(index[:, np.newaxis] == np.arange(k), 1.0, -1.0)
        found = self._descend(
            rows,
            targets,
            counted=counted,
            slopes=loss.score_slope,
            slope_bound=loss.slope_bound,
            target_scale=1.0,
            provided=provided,
        )
        self.classes_ = classes
        self.coef_, self.intercept_ = found[:, :-1], found[:, -1]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores, shape (n,) for two classes and (n, k) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Return the class of the largest score."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0.0).astype(np.int64)]
        return self.classes_[np.argmax(scores, axis=1)]

    def _check_proba(self) -> bool:
        if self.loss != "logistic":
            raise AttributeError(f"loss={self.loss!r} gives no probabilities; give 'logistic'")
        return True

    @available_if(_check_proba)  # type: ignore[untyped-decorator]  # scikit-learn ships no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the classes' probabilities, shape (n, k): of each against the rest, scaled to sum to 1."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        odds = expit(scores)
        # all scores far below 0 leave nothing to scale; the classes are then alike
        total = odds.sum(axis=1, keepdims=True)
        shares: FloatArray = np.divide(
            odds, total, out=np.full_like(odds, 1.0 / odds.shape[1]), where=total > 0.0
        )
        return shares

    def _loss(self) -> Hinge | Logistic:
        match self.loss:
            case "hinge":
                return Hinge()
            case "logistic":
                return Logistic()
        raise InputError(f"loss={self.loss!r} is not allowed; give 'logistic' or 'hinge'")

    def _labelled(self, labels: Any, provided: list[str]) -> tuple[Any, Any, BoolArray | None]:
        """Return the classes in order, each record's place among them, and which records have one (None: all)."""
        if self.classes is None:
            check_classification_targets(labels)
            classes, index = np.unique(labels, return_inverse=True)
            if len(classes) < 2:
                raise InputError(
                    f"y has {len(classes)} class: at least two classes are needed; give classes, or other records"
                )
            provided.append("the set of classes, which was read from the data, is public")
            warn_of_leak(
                "classes=None was read from y, which the guarantee does not cover; give all labels that there can be"
            )
            return classes, index, None
        classes = np.unique(np.asarray(self.classes))
        if classes.ndim != 1 or len(classes) < 2:
            raise InputError(f"classes={self.classes!r} names fewer than two classes; give at least two")
        kinds = {kind in "biuf" for kind in (classes.dtype.kind, labels.dtype.kind) if kind != "O"}
        if len(kinds) > 1:  # types are public, and such labels would all be unknown
            raise InputError(
                f"classes={self.classes!r} and y are of different types ({classes.dtype} and {labels.dtype}); give "
                "numbers or names for both"
            )
        place = {label: i for i, label in enumerate(classes.tolist())}
        index = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
        return classes, index, index >= 0
