"""How much work a run does."""

from __future__ import annotations

import enum


class Profile(enum.StrEnum):
    """The profiles, by rising effort: for every push, for a release, and for a scheduled run."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"
