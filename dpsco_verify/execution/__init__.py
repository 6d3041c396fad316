"""Seeds, units of work, and where they are executed."""

from dpsco_verify.choices import ExecutorKind
from dpsco_verify.execution.choice import ExecutorChoice, make_executor
from dpsco_verify.execution.errors import OtherEnvironmentError, SchedulerError, UnitEndsWorkersError
from dpsco_verify.execution.executing import Memory, execute
from dpsco_verify.execution.performance import Performance
from dpsco_verify.execution.seeds import stream
from dpsco_verify.execution.serial import SerialExecutor
from dpsco_verify.execution.work import Outcome, Progress, WorkUnit

__all__ = [
    "ExecutorChoice",
    "ExecutorKind",
    "Memory",
    "OtherEnvironmentError",
    "Outcome",
    "Performance",
    "Progress",
    "SchedulerError",
    "SerialExecutor",
    "UnitEndsWorkersError",
    "WorkUnit",
    "execute",
    "make_executor",
    "stream",
]
