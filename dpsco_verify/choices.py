"""The choices that a person makes by name, and their defaults; importing it imports nothing heavy.

The command line and the pytest plugin offer what stands here, and the packages that act on a choice share it.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable
from typing import Literal, get_args

from dpsco_verify.errors import InputError


def nearest(name: str, known: Iterable[str]) -> str:
    """Return up to three of the names that `name` may have been meant for: the most alike, or else the first."""
    names = list(known)
    return ", ".join(difflib.get_close_matches(name, names, n=3) or names[:3])


class Profile(enum.StrEnum):
    """The profiles, by rising effort: for every push, for a release, and for a scheduled run."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


SAMPLES = {Profile.QUICK: 10_000, Profile.STANDARD: 100_000, Profile.DEEP: 1_000_000}
"""How many outputs a data set, at most, the audit of a user's mechanism draws."""

DEFAULT_PROFILE = Profile.QUICK
"""The profile of such an audit where none is named: from Python, from the command line and in tests alike."""

FEWEST_SAMPLES = 64
"""Fewer outputs a data set than this cannot be split into a search and a test."""

ERROR_BUDGET = 1e-6
"""The probability, at most, that anything in a run alarms falsely."""

CANARY_ERROR = 0.05
"""The probability, at most, that an audit by canaries alarms falsely; one run can show little at smaller ones."""

MULTIPLE_OF_INTEREST = 3.0
"""An audit passes a claim only if it would have found a violation of at most so many times the claim."""

PAIR_EXAMPLES = 100
"""How many pairs of a Hypothesis strategy a search for the worst one tries."""

EPSILON_FOR_NONE = 0.5
"""A claim of no privacy loss at all, which has no multiples, is held to those of this ε."""

REPORT_FORMATS = {
    "json": "dpsco_verify.reporting.json_report:JsonReport",
    "html": "dpsco_verify.reporting.html:HtmlReport",
    "markdown": "dpsco_verify.reporting.markdown:MarkdownReport",
    "junit": "dpsco_verify.reporting.junit:JunitReport",
    "sarif": "dpsco_verify.reporting.sarif:SarifReport",
    "badge": "dpsco_verify.reporting.badge:BadgeReport",
    "brief": "dpsco_verify.reporting.brief:BriefReport",
    "figures": "dpsco_verify.reporting.figures:FiguresReport",
}
"""The report formats of the package by name, with the class of each; what else is installed adds to them."""


class ExecutorKind(enum.StrEnum):
    """The executors: this process, processes of this machine, or the workers of a dask cluster."""

    SERIAL = "serial"
    LOKY = "loky"
    DASK = "dask"


class Relation(enum.StrEnum):
    """The neighbouring relations of data sets.

    ``replace-one``: as many records, and exactly one position differs. ``add-remove``: one data set is the other
    without exactly one record, from any position. ``zero-out``: one record is replaced by zeros of its own shape and
    type (the empty string for text), or by None, or in tables by missing values.

    Examples
    --------
    >>> [relation.value for relation in Relation]
    ['replace-one', 'add-remove', 'zero-out']
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"
    ZERO_OUT = "zero-out"

    @classmethod
    def _missing_(cls, value: object) -> Relation:
        raise InputError(f"relation={value!r} is unknown; give one of {', '.join(cls)}")


RelationName = Literal["replace-one", "add-remove", "zero-out"]
"""The relations by name."""

ClassifierName = Literal["built-in", "boosting", "none"]
"""The learners of the likelihood ratio of an audit."""

LossName = Literal["linear", "absolute", "quantile", "huber", "hinge", "logistic"]
LOSS_NAMES: tuple[LossName, ...] = get_args(LossName)
"""The losses that Algorithm 1 runs with on a data file."""


class StoppingRule(enum.StrEnum):
    """When Algorithm 1 stops, as the number of distinct points that it has then seen.

    * ``loop``: the pseudo-code's ``while |F| <= n/2``, hence at ``floor(n/2) + 1`` points;
    * ``text``: Section 4, "greater than or equal to n/2", hence at ``ceil(n/2)`` points;
    * ``all-points``: the proof of Lemma ``lem:stopping_time_conv``, ``min{t : S_t = n}``.
    """

    LOOP = "loop"
    TEXT = "text"
    ALL_POINTS = "all-points"

    def distinct_points(self, n: int) -> int:
        """Return how many of `n` distinct points have been seen at the stop (for batches of one)."""
        if n < 2:
            raise InputError(f"n={n!r} is too few points; give at least 2")
        return {"loop": n // 2 + 1, "text": (n + 1) // 2, "all-points": n}[self]


class Averaging(enum.StrEnum):
    """Which iterates the output averages.

    * ``fresh-times``: those at which a fresh point was processed (the corrected reading);
    * ``data-indices``: the literal ``(1/|F|) sum over j in F of w_j``, F holding indices of data points. It is
      undefined when F holds an index beyond the last iterate.
    """

    FRESH_TIMES = "fresh-times"
    DATA_INDICES = "data-indices"


class NoiseConvention(enum.StrEnum):
    """The covariance of the noise: Section 5 writes ``N(0, σ²I)``, Section 4 writes ``N(0, σI)``."""

    COVARIANCE_SIGMA_SQUARED = "covariance-sigma-squared"
    COVARIANCE_SIGMA = "covariance-sigma"

    def standard_deviation(self, sigma: float) -> float:
        """Return the standard deviation of one coordinate of the noise."""
        return sigma if self is NoiseConvention.COVARIANCE_SIGMA_SQUARED else float(sigma**0.5)

    def parameter(self, standard_deviation: float) -> float:
        """Return the σ for which one coordinate of the noise has this standard deviation."""
        if self is NoiseConvention.COVARIANCE_SIGMA_SQUARED:
            return standard_deviation
        return float(standard_deviation**2)
