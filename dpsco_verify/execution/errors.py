"""The errors that arise between a unit of work and the process that executes it."""

from __future__ import annotations

from dpsco_verify.errors import InputError

DEATHS = 3
"""A unit that ends this many workers is not tried again."""


class WorkersEndedError(Exception):
    """A call has ended each worker that it was given to; the executor does not know what the call was for."""


class UnitEndsWorkersError(InputError):
    """A unit of work has ended each worker that it was given to."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"unit={name!r} ended its worker process {DEATHS} times (killed, crashed, or out of memory); give it more "
            "memory or fewer --jobs, or leave its claim out with --ignore"
        )


class OtherEnvironmentError(InputError):
    """A worker of a cluster runs other code or libraries than the process that hands out the work."""


class SchedulerError(InputError):
    """The scheduler of a cluster cannot be reached, or was lost."""
