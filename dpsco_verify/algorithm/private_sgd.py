"""Algorithm 1 of the paper, one run, to be read beside the pseudo-code: the oracle.

The pseudo-code's lines stand as comments. Everything that it leaves open, or says in two ways, is a named
option (:mod:`dpsco_verify.algorithm.options`). The fast path is :mod:`dpsco_verify.algorithm.ensemble`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.options import Averaging, Options
from dpsco_verify.algorithm.run_spec import StepSize, check_run, check_subgradient
from dpsco_verify.algorithm.tape import Tape, choose_tape
from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """All that a run did.

    Attributes
    ----------
    iterates
        ``w_1, …, w_{T+1}``, shape (T + 1, d).
    draws
        The drawn indices, 0-based, shape (T, m).
    fresh
        Which of the draws were fresh, shape (T, m).
    """

    iterates: FloatArray
    draws: IntArray
    fresh: BoolArray


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run returns.

    Attributes
    ----------
    output
        ``ŵ``, shape (d,); None where the literal averaging is undefined.
    iterations
        The number T of passes through the loop; the counter τ ends at T + 1.
    distinct_points
        ``|F|`` at the stop.
    gradient_queries
        The number of subgradients computed.
    undefined_indices
        The 1-based data indices in F that name no iterate (literal averaging only).
    transcript
        All iterates and draws, where asked for.
    """

    output: FloatArray | None
    iterations: int
    distinct_points: int
    gradient_queries: int
    undefined_indices: tuple[int, ...] = ()
    transcript: Transcript | None = None

    @property
    def counter(self) -> int:
        """The final value of the pseudo-code's counter τ."""
        return self.iterations + 1


def private_sgd(
    data: ArrayLike,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: StepSize,
    sigma: float,
    lipschitz: float,
    rng: np.random.Generator | None = None,
    tape: Tape | None = None,
    initial_point: ArrayLike | None = None,
    options: Options | None = None,
    transcript: bool = False,
) -> Run:
    """Run Algorithm 1 (``alg:private_SGD``) once.

    Parameters
    ----------
    data
        The n points, shape (n, k).
    loss, convex_set
        ``f`` and ``W``.
    step_size, sigma, lipschitz
        ``η`` (constant or schedule), the noise parameter ``σ`` and the stated bound ``L`` on the subgradients.
    rng, tape
        The source of draws and noise: exactly one of the two.
    initial_point
        ``w_1``; by default the minimiser of ``½‖w‖²`` over W.
    options
        The reading; by default the corrected one.
    transcript
        Whether to return all iterates and draws.

    Raises
    ------
    InputError
        For fewer than two points, data that are not finite, parameters that are not positive and finite (σ may
        be 0), an initial point outside W, or a subgradient longer than L.
    """
    spec = check_run(data, loss, convex_set, step_size, sigma, lipschitz, initial_point, options)
    source = choose_tape(rng, tape, spec, runs=1)
    w = spec.initial_point

    F: set[int] = set()  # F_1 = ∅
    tau = 1  # τ = 1
    queries = 0
    iterates, draws, fresh_flags, fresh_times = [w], [], [], []
    total = np.zeros_like(w)
    while len(F) < spec.stop_at:  # while |F_τ| ≤ n/2
        batch, normals = source.next()
        indices = batch[0]  # sample y_τ uniformly from [n]
        xi = spec.noise_scale * normals[0]
        eta = spec.step_size_at(tau)
        fresh = np.array([int(y) not in F for y in indices])
        if not fresh.any():  # if {y_τ} ∩ F_τ ≠ ∅
            w_next = convex_set.project(w - eta * xi)  # w_{τ+1} = P(w_τ − η_τ ξ_τ), F_{τ+1} = F_τ
        else:
            g = np.zeros_like(w)
            for y in indices[fresh]:
                subgradient = loss.subgradient(w, spec.data[y])
                check_subgradient(subgradient, spec.lipschitz)
                g = g + subgradient
                queries += 1
            g = g / float(fresh.sum())
            w_next = convex_set.project(w - eta * (g + xi))  # w_{τ+1} = P(w_τ − η_τ(∇f(w_τ, x_{y_τ}) + ξ_τ))
            F = F | {int(y) for y in indices}  # F_{τ+1} = F_τ ∪ {y_τ}
            total = total + w
            fresh_times.append(tau)
        draws.append(indices)
        fresh_flags.append(fresh)
        w = w_next
        iterates.append(w)
        tau = tau + 1  # τ = τ + 1

    undefined: tuple[int, ...] = ()
    output: FloatArray | None
    if spec.options.averaging is Averaging.FRESH_TIMES:
        output = total / float(len(fresh_times))
    else:
        # The paper counts data from 1: the index j names the iterate w_j, which exists for j ≤ T + 1 = τ.
        undefined = tuple(sorted(j + 1 for j in F if j + 1 > tau))
        output = None
        if not undefined:
            total = np.zeros_like(w)
            for j in sorted(F):
                total = total + iterates[j]
            output = total / float(len(F))
    return Run(
        output=output,
        iterations=tau - 1,
        distinct_points=len(F),
        gradient_queries=queries,
        undefined_indices=undefined,
        transcript=Transcript(iterates=np.stack(iterates), draws=np.stack(draws), fresh=np.stack(fresh_flags))
        if transcript
        else None,
    )
