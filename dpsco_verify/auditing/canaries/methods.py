"""The methods by name, each with the theorem that it rests on."""

from __future__ import annotations

import enum

from dpsco_verify.errors import InputError


class Method(enum.StrEnum):
    """How canaries' scores are judged.

    * ``one-run-f-dp``: one run, a fair coin a canary, any claim; the sharpest of those proven for one run, the default;
    * ``one-run-dp``: one run, a fair coin a canary, claims of (ε, δ)-DP;
    * ``clopper-pearson``: many runs, one score each, which are independent; any claim, groups of any size.

    Scores that come step by step, each with a coin of its own, are judged by
    :class:`dpsco_verify.auditing.canaries.SequentialCanaryAudit`.

    Examples
    --------
    >>> [method.value for method in Method]
    ['one-run-f-dp', 'one-run-dp', 'clopper-pearson']
    """

    ONE_RUN_F_DP = "one-run-f-dp"
    ONE_RUN_DP = "one-run-dp"
    CLOPPER_PEARSON = "clopper-pearson"

    @classmethod
    def _missing_(cls, value: object) -> Method:
        raise InputError(f"method={value!r} is unknown; give one of {', '.join(cls)}")

    @property
    def theorem(self) -> str:
        """What it rests on, in words."""
        return _THEOREMS[self]


_THEOREMS = {
    Method.ONE_RUN_F_DP: (
        "the number of right guesses in one run of an f-DP mechanism, by a recursion over its tails "
        "(after Mahloujifar, Melis and Chaudhuri 2025)"
    ),
    Method.ONE_RUN_DP: (
        "the number of right guesses in one run of an (ε, δ)-DP mechanism (Steinke, Nasr and Jagielski 2023)"
    ),
    Method.CLOPPER_PEARSON: (
        "the rates beyond thresholds at fixed ranks of independent scores (Clopper and Pearson 1934), the level shared "
        "by all thresholds"
    ),
}
