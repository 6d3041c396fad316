"""Algorithm 1 of the paper and its single step as mechanisms; what is claimed of them is in ``algorithm_claims``."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpsco_verify.algorithm import Options, noisy_step, run_ensemble
from dpsco_verify.algorithm.run_spec import RunSpec, StepSize, check_run
from dpsco_verify.algorithm.tape import Tape, choose_tape
from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, WholeSpace
from dpsco_verify.problems import Loss
from dpsco_verify.validation import require_finite_array, require_integer, require_positive


class Release(enum.StrEnum):
    """What is seen of a run: the output ŵ, or all iterates ``w_1, …, w_{T+1}``."""

    OUTPUT = "output"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, kw_only=True)
class AlgorithmMechanism:
    """Algorithm 1 as a mechanism for :func:`dpsco_verify.auditing.audit`; a data set is an array of n points, (n, k).

    Attributes
    ----------
    loss, convex_set, step_size, sigma, lipschitz, initial_point, options
        As for :func:`dpsco_verify.algorithm.private_sgd`.
    release
        What is seen of a run.
    steps
        Transcripts are arrays of shape (steps + 1, d): longer runs are cut there, which is post-processing, and shorter
        ones are continued by NaN. By default twice the number of points at which a run stops.
    """

    loss: Loss
    convex_set: ConvexSet
    step_size: StepSize
    sigma: float
    lipschitz: float
    initial_point: ArrayLike | None = None
    options: Options = field(default_factory=Options)
    release: Release = Release.OUTPUT
    steps: int | None = None

    def __post_init__(self) -> None:
        """Check what does not depend on the data."""
        if self.release not in set(Release):
            raise InputError(f"release={self.release!r} is unknown; give one of {', '.join(Release)}")
        object.__setattr__(self, "release", Release(self.release))
        if self.steps is not None:
            require_integer("steps", self.steps, minimum=1)

    def __call__(self, dataset: ArrayLike, size: int, rng: np.random.Generator) -> FloatArray:
        """Return `size` outputs, shape (size, d), or transcripts, shape (size, steps + 1, d)."""
        if self.release is Release.TRANSCRIPT:
            return self.transcripts(dataset, size, rng=rng)
        points = np.asarray(dataset, dtype=np.float64)
        return run_ensemble(
            np.broadcast_to(points, (size, *points.shape)),
            loss=self.loss,
            convex_set=self.convex_set,
            step_size=self.step_size,
            sigma=self.sigma,
            lipschitz=self.lipschitz,
            initial_point=self.initial_point,
            options=self.options,
            rng=rng,
        ).outputs

    def transcripts(
        self,
        dataset: ArrayLike,
        size: int,
        *,
        rng: np.random.Generator | None = None,
        tape: Tape | None = None,
    ) -> FloatArray:
        """Return `size` transcripts, from a generator or from a tape of as many runs."""
        spec = _checked(self, dataset)
        source = choose_tape(rng, tape, spec, runs=size)
        steps = 2 * spec.stop_at if self.steps is None else self.steps
        iterates = np.full((size, steps + 1, self.convex_set.dimension), np.nan)
        iterates[:, 0] = spec.initial_point
        seen = np.zeros((size, spec.n), dtype=np.bool_)
        running = np.arange(size)
        for t in range(1, steps + 1):
            indices, normals = source.next()
            indices, rows = indices[running], running[:, np.newaxis]
            iterates[running, t] = noisy_step(
                iterates[running, t - 1],
                spec.data[indices],
                ~seen[rows, indices],
                spec.noise_scale * normals[running],
                loss=self.loss,
                convex_set=self.convex_set,
                step_size=spec.step_size_at(t),
                lipschitz=spec.lipschitz,
            )
            seen[rows, indices] = True
            running = running[seen[running].sum(axis=-1) < spec.stop_at]
            if not running.size:
                break
        return iterates


@dataclass(frozen=True, kw_only=True)
class SingleStepMechanism:
    """One iteration from a given point, the first output of the paper's ``M_i`` (Section 5), as a mechanism.

    Attributes
    ----------
    loss, convex_set, step_size, sigma, lipschitz, options
        As for :func:`dpsco_verify.algorithm.private_sgd`; the step size is a number.
    point
        ``w``, shape (d,).
    seen
        The indices, from 0, of the points that have been seen; a batch of such points alone is a noise-only step.
    """

    loss: Loss
    convex_set: ConvexSet
    step_size: float
    sigma: float
    lipschitz: float
    point: ArrayLike
    seen: Sequence[int] = ()
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        """Check what does not depend on the data."""
        require_positive("step_size", self.step_size)

    def __call__(self, dataset: ArrayLike, size: int, rng: np.random.Generator) -> FloatArray:
        """Return `size` times ``w⁺``, shape (size, d)."""
        spec = _checked(self, dataset)
        indices, normals = choose_tape(rng, None, spec, runs=size).next()
        return noisy_step(
            np.broadcast_to(spec.initial_point, (size, self.convex_set.dimension)),
            spec.data[indices],
            self._fresh(spec.n)[indices],
            spec.noise_scale * normals,
            loss=self.loss,
            convex_set=self.convex_set,
            step_size=self.step_size,
            lipschitz=spec.lipschitz,
        )

    def log_density(self, outputs: Any, dataset: ArrayLike) -> FloatArray:
        """Return the log-density of the outputs, shape (size,): n normal laws in equal parts.

        Raises
        ------
        InputError
            With a projection, batches of several points, or no noise: then there is no density, or none here.
        """
        spec = _checked(self, dataset)
        if not isinstance(self.convex_set, WholeSpace) or self.options.batch_size != 1 or spec.sigma == 0.0:
            raise InputError(
                f"convex_set={self.convex_set!r}, batch_size={self.options.batch_size}, sigma={spec.sigma:g}: only "
                "the unprojected step of one point with noise has a density here; leave log_density out"
            )
        w = np.asarray(outputs, dtype=np.float64).reshape(len(outputs), -1)
        gradients = self.loss.subgradient(
            np.broadcast_to(spec.initial_point, (spec.n, w.shape[1])), spec.data
        )
        means = spec.initial_point - self.step_size * np.where(
            self._fresh(spec.n)[:, np.newaxis], gradients, 0.0
        )
        scale = self.step_size * spec.noise_scale
        squares = np.square((w[:, np.newaxis] - means) / scale).sum(axis=-1)
        constant = np.log(spec.n) + w.shape[1] * (np.log(scale) + 0.5 * np.log(2.0 * np.pi))
        return np.asarray(logsumexp(-0.5 * squares, axis=-1) - constant, dtype=np.float64)

    def _fresh(self, n: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        fresh = np.ones(n, dtype=np.bool_)
        for index in self.seen:
            position = require_integer("seen", index, minimum=0)
            if position >= n:
                raise InputError(f"seen={list(self.seen)} holds an index beyond n={n}; give indices from 0")
            fresh[position] = False
        return fresh


def _checked(mechanism: AlgorithmMechanism | SingleStepMechanism, dataset: ArrayLike) -> RunSpec:
    start = (
        require_finite_array("point", mechanism.point, shape=(mechanism.convex_set.dimension,))
        if isinstance(mechanism, SingleStepMechanism)
        else mechanism.initial_point
    )
    m = mechanism
    return check_run(dataset, m.loss, m.convex_set, m.step_size, m.sigma, m.lipschitz, start, m.options)
