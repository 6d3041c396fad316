"""``python -m dpsco_verify.algorithm`` compiles the kernel into its cache, so that no first run waits for that."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.ensemble import run_ensemble
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Linear


def main() -> None:
    """Run Algorithm 1 once on two points: the compiler works at the first run."""
    run_ensemble(
        np.ones((1, 2, 1)),
        loss=Linear(),
        convex_set=L2Ball(np.zeros(1), 1.0),
        step_size=1.0,
        sigma=1.0,
        lipschitz=1.0,
        rng=np.random.default_rng(0),
        engine="compiled",
    )


if __name__ == "__main__":
    main()
