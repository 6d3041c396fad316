"""``python -m dpsco_verify.algorithm`` compiles the kernel into its cache, so that no first run waits for that."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.algorithm.ensemble import run_ensemble
from dpsco_verify.algorithm.kernel import plan_run, steps_compiled
from dpsco_verify.algorithm.options import Options
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Linear


def main() -> None:
    """Run Algorithm 1 once on two points, and take a step: the compiler works at the first run."""
    ball = L2Ball(np.zeros(1), 1.0)
    run_ensemble(
        np.ones((1, 2, 1)),
        loss=Linear(),
        convex_set=ball,
        step_size=1.0,
        sigma=1.0,
        lipschitz=1.0,
        rng=np.random.default_rng(0),
        engine="compiled",
    )
    plan = plan_run(loss=Linear(), convex_set=ball, options=Options(), n=1)
    assert plan is not None  # noqa: S101  the kernel knows them
    steps_compiled(
        np.ones((1, 1, 1)),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        plan=plan,
        order=np.zeros((1, 1), dtype=np.int64),
        batches=np.ones(1, dtype=np.int64),
        step_sizes=np.ones(1),
        noise=None,
        scale=1.0,
        longest=math.inf,
    )


if __name__ == "__main__":
    main()
