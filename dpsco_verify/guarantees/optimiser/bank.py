"""The bank of problems on which an optimiser is checked: exact risks, certified minima, and why each is hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dpsco_verify.comparison.problems import PROBLEMS, ComparisonProblem, ProblemKind
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Drift, EuclideanDistance, FinitePopulation


@dataclass(frozen=True, kw_only=True, eq=False)
class BankProblem(ComparisonProblem):
    """A population over a convex set, and why it is hard.

    Examples
    --------
    >>> hinge = BANK["hinge"]
    >>> print(hinge.loss_name, hinge.population.dimension, hinge.is_centred_ball)
    Hinge 10 True
    """

    why: str

    @property
    def loss_name(self) -> str:
        """The loss, without its parameters."""
        return type(self.population.loss).__name__

    @property
    def is_centred_ball(self) -> bool:
        """Whether the set is the ball of diameter D about 0, which an optimiser that is told no set works on."""
        return isinstance(self.convex_set, L2Ball) and not self.convex_set.center.any()


_WHY: Mapping[str, str] = {
    "linear-signs-1": "a mean as small as its standard error at n = 100: the lower bound's instance on the line",
    "linear-signs-5": "the lower bound's instance: each of 5 coordinates has a sign to be guessed",
    "linear-signs-20": "the lower bound's instance in 20 dimensions, where the privacy noise outweighs the signs",
    "simplex-linear": "one of 32 corners is better, and the geometry is that of the l1 norm",
    "median-1d": "the risk is linear between two points that are nearly as probable",
    "absolute-deviation-1d": "kinks of different slopes crowd at one end",
    "geometric-median": "no coordinate can be treated by itself",
    "hinge": "a majority vote with wrong labels: flat for most points, steep for some",
    "quantile": "steps of very different length on the two sides of a kink",
    "logistic": "a smooth loss, whose minimum lies inside the set",
    "breast-cancer-hinge": "strongly correlated features",
    "breast-cancer-logistic": "strongly correlated features, smooth",
    "digits-hinge": "many features, of which most matter little",
    "digits-logistic": "many features, of which most matter little, smooth",
    "fair-hinge": "few features, noisy labels",
    "fair-logistic": "few features, noisy labels, smooth",
    "diabetes-absolute": "much unexplained spread",
    "diabetes-huber": "much unexplained spread, smooth",
    "engel-quantile": "spread that grows with the feature",
    "randhie-absolute": "a skewed target with many zeros",
    "randhie-quantile": "a high quantile of a skewed target",
    "drift": "every point is the same: only the optimisation can fail, by a noise that drives it off the border",
    "still": "the start is the minimum of every point's loss: only the noise can do harm",
}


def _drift() -> tuple[Drift, L2Ball]:
    return Drift(), L2Ball(np.zeros(1), 0.5)


def _still() -> tuple[FinitePopulation, L2Ball]:
    population = FinitePopulation(np.zeros((1, 5)), EuclideanDistance(), name="still", data_radius=0.0)
    return population, L2Ball(np.zeros(5), 0.5)


BANK: Mapping[str, BankProblem] = MappingProxyType(
    {
        **{
            id_: BankProblem(id=id_, title=title, kind=ProblemKind.SYNTHETIC, build=build, why=_WHY[id_])
            for id_, title, build in (
                ("drift", "linear loss, one point", _drift),
                ("still", "distance from the start, d = 5", _still),
            )
        },
        **{
            id_: BankProblem(id=id_, title=one.title, kind=one.kind, build=one.build, why=_WHY[id_])
            for id_, one in PROBLEMS.items()
        },
    }
)
"""All problems by their names, the synthetic ones first."""

LOSSES = ("Linear", "Logistic", "Hinge", "AbsoluteDeviation", "Quantile", "Huber", "EuclideanDistance")
"""The losses of the bank."""


def chosen(
    ids: Sequence[str] | None, losses: Sequence[str] | None, *, any_set: bool
) -> tuple[BankProblem, ...]:
    """Return the problems of these names (the synthetic ones, if None) that an optimiser can be given.

    Parameters
    ----------
    ids
        Their names.
    losses
        The losses that the optimiser is for; None for all.
    any_set
        Whether it is told the set; else the problems over balls about 0 are left.

    Raises
    ------
    InputError
        For an unknown name, a named problem that the optimiser cannot be given, or where none is left.
    """
    _require_known(ids, losses)
    wanted = (
        [BANK[id_] for id_ in ids] if ids else [p for p in BANK.values() if p.kind is ProblemKind.SYNTHETIC]
    )
    fitting = []
    for one in wanted:
        if losses is not None and one.loss_name not in losses:
            why = f"has the loss {one.loss_name}, and the optimiser is for {', '.join(losses)}"
        elif not any_set and not one.is_centred_ball:
            why = "is not over a ball about 0, and the optimiser takes no convex_set"
        else:
            fitting.append(one)
            continue
        if ids:
            raise InputError(f"problems={one.id!r} {why}; leave it out")
    if not fitting:
        raise InputError(f"losses={losses!r} leave no problem of the bank; name problems that fit")
    return tuple(fitting)


def _require_known(ids: Any, losses: Any) -> None:
    for name, given, known in (("losses", losses, LOSSES), ("problems", ids, tuple(BANK))):
        if given is not None and (isinstance(given, str) or not given):
            raise InputError(f"{name}={given!r} is no list of names; give at least one in a list")
        for one in given or ():
            if one not in known:
                raise InputError(f"{name}={one!r} is unknown; give some of {', '.join(known)}")
