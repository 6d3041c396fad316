"""An audit that a test asks for, before it is made: who pays for it, and its seed."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.execution import stream
from dpsco_verify.plugin.settings import Settings
from dpsco_verify.plugin.shares import AuditedTest


@dataclass(frozen=True, kw_only=True)
class AskedAudit:
    """An audit that is about to be made.

    Attributes
    ----------
    test
        The account that pays for it.
    number
        Its number in this run of the test, from 1.
    settings
        The session's settings.
    own_samples
        Whether the test itself says how many samples, not the profile.
    """

    test: AuditedTest
    number: int
    settings: Settings
    own_samples: bool

    @property
    def seed(self) -> int:
        """The audit's root seed: made of the session's seed, the test's name and the audit's number alone."""
        generator = stream(self.settings.seed, f"pytest/{self.test.name}", chunk=self.number)
        return int(generator.integers(1 << 53))
