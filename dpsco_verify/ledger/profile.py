"""How much work a run does."""

from __future__ import annotations

import enum


class Profile(enum.StrEnum):
    """The profiles, by rising effort: for every push, for a release, and for a scheduled run."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


SAMPLES = {Profile.QUICK: 10_000, Profile.STANDARD: 100_000, Profile.DEEP: 1_000_000}
"""How many outputs a data set, at most, the audit of a user's mechanism draws."""
