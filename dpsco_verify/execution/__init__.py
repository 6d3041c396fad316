"""Seeds, units of work, and where they are executed."""

from dpsco_verify.execution.seeds import stream
from dpsco_verify.execution.work import Outcome, Progress, SerialExecutor, WorkUnit, execute, make_executor

__all__ = ["Outcome", "Progress", "SerialExecutor", "WorkUnit", "execute", "make_executor", "stream"]
