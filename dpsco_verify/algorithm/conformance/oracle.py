"""Algorithm 1 of this package as an implementation to be checked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dpsco_verify.algorithm.conformance.observation import ConformanceError, ObservedRun
from dpsco_verify.algorithm.options import Options
from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """:func:`~dpsco_verify.algorithm.private_sgd` under a reading; subgradients beyond L are refused."""

    options: Options = field(default_factory=Options)

    def __call__(
        self,
        data: FloatArray,
        rng: np.random.Generator,
        *,
        loss: Loss,
        convex_set: ConvexSet,
        step_size: float,
        sigma: float,
        lipschitz: float,
        initial_point: FloatArray,
        batch_size: int = 1,
    ) -> ObservedRun:
        """Run once."""
        run = private_sgd(
            data,
            loss=loss,
            convex_set=convex_set,
            step_size=step_size,
            sigma=sigma,
            lipschitz=lipschitz,
            rng=rng,
            initial_point=initial_point,
            options=replace(self.options, batch_size=batch_size),
            transcript=True,
        )
        if run.transcript is None:
            raise ConformanceError("transcript=None although it was asked for; mend private_sgd")
        return ObservedRun(iterates=run.transcript.iterates, output=run.output, draws=run.transcript.draws)
