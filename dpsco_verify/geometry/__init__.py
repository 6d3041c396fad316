"""Convex sets and their projections; potentials, conjugates, Bregman divergences."""

from dpsco_verify.geometry.affine_subspace import AffineSubspace
from dpsco_verify.geometry.box import Box
from dpsco_verify.geometry.bregman import bregman_divergence, bregman_projection, conjugate_divergence
from dpsco_verify.geometry.convex_set import ConvergenceError, ConvexSet
from dpsco_verify.geometry.half_space import HalfSpace
from dpsco_verify.geometry.intersection import Intersection
from dpsco_verify.geometry.l1_ball import L1Ball
from dpsco_verify.geometry.l2_ball import L2Ball
from dpsco_verify.geometry.lp_ball import LpBall
from dpsco_verify.geometry.potentials import Euclidean, NegativeEntropy, PNorm, Potential
from dpsco_verify.geometry.simplex import Simplex
from dpsco_verify.geometry.whole_space import WholeSpace

__all__ = [
    "AffineSubspace",
    "Box",
    "ConvergenceError",
    "ConvexSet",
    "Euclidean",
    "HalfSpace",
    "Intersection",
    "L1Ball",
    "L2Ball",
    "LpBall",
    "NegativeEntropy",
    "PNorm",
    "Potential",
    "Simplex",
    "WholeSpace",
    "bregman_divergence",
    "bregman_projection",
    "conjugate_divergence",
]
