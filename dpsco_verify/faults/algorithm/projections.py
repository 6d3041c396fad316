"""Wrong projections."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.algorithm import run
from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def _onto(point: FloatArray, radius: float) -> FloatArray:
    length = float(np.linalg.norm(point))
    return point if length <= radius else point * (radius / length)


def _noisy_step(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    return state.w - state.step_size * (g + xi)


def missing(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return the step without a projection."""
    return _noisy_step(state, g, xi)


def missing_on_repeats(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return steps of noise alone without a projection."""
    return run.step(state, g, xi) if g.any() else _noisy_step(state, g, xi)


def onto_diameter(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return the projection onto the ball whose radius is the diameter."""
    return _onto(_noisy_step(state, g, xi), 2.0 * state.radius)


def onto_half_radius(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return the projection onto the ball whose diameter is the radius."""
    return _onto(_noisy_step(state, g, xi), 0.5 * state.radius)


def onto_box(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return each coordinate clipped: the projection onto the box about the ball."""
    return np.clip(_noisy_step(state, g, xi), -state.radius, state.radius)


def onto_sphere(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return the step scaled to the length of the radius, from the inside too."""
    point = _noisy_step(state, g, xi)
    return point * (state.radius / float(np.linalg.norm(point)))


def before_noise(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return ``P(w − ηg) − ηξ``: noise added after the projection."""
    return state.convex_set.project(state.w - state.step_size * g) - state.step_size * xi


def before_step(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return ``P(w) − η(g + ξ)``."""
    return state.convex_set.project(state.w) - state.step_size * (g + xi)


def of_output(state: State) -> FloatArray:
    """Return the projected average, where no iterate was projected."""
    return state.convex_set.project(run.output(state))


PROJECTION_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-no-projection",
        title="no projection",
        source="Algorithm 1, lines 5 and 8",
        truth="iterates leave W",
        implementation=PlainRun(step=missing),
        caught_by=("iterates-in-set",),
        unseen_by=(("gradient", "its problems have a W that no step leaves"),),
    ),
    AlgorithmExhibit(
        id="algorithm-no-projection-on-repeats",
        title="no projection on repeat draws",
        source="Algorithm 1, line 5",
        truth="iterates leave W by the noise's length",
        implementation=PlainRun(step=missing_on_repeats),
        caught_by=("iterates-in-set",),
        unseen_by=(("projection", "the noise alone carries the iterate out, and no further than noise may"),),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-onto-diameter",
        title="diameter taken for radius",
        source="Section 4: D is W's diameter, in Theorem thm:utility_guarantee a bound on its norms",
        truth="iterates leave W",
        implementation=PlainRun(step=onto_diameter),
        caught_by=("iterates-in-set", "projection"),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-onto-half-radius",
        title="radius taken for diameter",
        source="Section 4: D is W's diameter, in Theorem thm:utility_guarantee a bound on its norms",
        truth="iterates never reach half of W's width",
        implementation=PlainRun(step=onto_half_radius),
        caught_by=("projection",),
        unseen_by=(("iterates-in-set", "the smaller ball lies in W"),),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-onto-box",
        title="each coordinate clipped to the radius",
        source="Algorithm 1, lines 5 and 8: P is the Euclidean projection onto W",
        truth="iterates leave the ball at the box's corners",
        implementation=PlainRun(step=onto_box),
        caught_by=("iterates-in-set",),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-onto-sphere",
        title="always scaled to the radius, from the inside too",
        source="Algorithm 1, lines 5 and 8: P is the Euclidean projection onto W",
        truth="iterates stay on the sphere",
        implementation=PlainRun(step=onto_sphere),
        caught_by=("projection",),
        unseen_by=(("iterates-in-set", "the sphere lies in W"),),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-after-projection",
        title="noise added after the projection",
        source="Algorithm 1, lines 5 and 8: P(w − η(g + ξ))",
        truth="iterates leave W by the noise's length",
        implementation=PlainRun(step=before_noise),
        caught_by=("iterates-in-set",),
        unseen_by=(
            ("projection", "a step ends where it should but for its noise, which it allows for"),
            ("noise-scale", "its W is one that no step leaves, where the order makes no difference"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-before-step",
        title="projection before the step",
        source="Algorithm 1, lines 5 and 8: P(w − η(g + ξ))",
        truth="the last step of each run, and the iterates on the way, leave W",
        implementation=PlainRun(step=before_step),
        caught_by=("iterates-in-set",),
    ),
    AlgorithmExhibit(
        id="algorithm-projection-of-output",
        title="output projected, iterates not",
        source="Algorithm 1, lines 5 and 8",
        truth="iterates leave W",
        implementation=PlainRun(step=missing, output=of_output),
        caught_by=("iterates-in-set",),
        unseen_by=(("average", "its W holds all averages"),),
    ),
)
