"""Algorithm 1 and mirror descent compiled: many runs at hardly more than the cost of their random numbers.

Nothing here imports the compiler before the first run that needs it.
"""

from dpsco_verify.algorithm.kernel.driver import CompiledRuns, Progress, run_compiled
from dpsco_verify.algorithm.kernel.kinds import MirrorPlan, Plan, plan_mirror, plan_run
from dpsco_verify.algorithm.kernel.mirror_driver import mirror_compiled
from dpsco_verify.algorithm.kernel.steps_driver import steps_compiled

__all__ = [
    "CompiledRuns",
    "MirrorPlan",
    "Plan",
    "Progress",
    "mirror_compiled",
    "plan_mirror",
    "plan_run",
    "run_compiled",
    "steps_compiled",
]
