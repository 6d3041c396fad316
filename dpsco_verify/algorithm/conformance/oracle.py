"""Algorithm 1 of this package as an implementation to be checked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpsco_verify.algorithm.conformance.observation import ConformanceError, ObservedRun
from dpsco_verify.algorithm.options import Options
from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """:func:`~dpsco_verify.algorithm.private_sgd` under a reading; subgradients beyond L are refused."""

    options: Options = field(default_factory=Options)

    def __call__(
        self,
        data: FloatArray,
        rng: np.random.Generator,
        *,
        batch_size: int = 1,
        **arguments: Any,
    ) -> ObservedRun:
        """Run once, as :class:`~dpsco_verify.algorithm.conformance.Implementation` says."""
        options = replace(self.options, batch_size=batch_size)
        run = private_sgd(data, rng=rng, options=options, transcript=True, **arguments)
        if run.transcript is None:
            raise ConformanceError("transcript=None although it was asked for; mend private_sgd")
        return ObservedRun(iterates=run.transcript.iterates, output=run.output, draws=run.transcript.draws)
