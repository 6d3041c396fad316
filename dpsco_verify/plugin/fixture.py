"""The callable behind the fixture ``assert_private``; the audit itself is imported at its first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dpsco_verify.auditing import AuditResult, CanaryAudit
    from dpsco_verify.guarantees import GuaranteeResult
    from dpsco_verify.guarantees.optimiser import OptimiserReport
    from dpsco_verify.plugin.settings import Settings
    from dpsco_verify.plugin.shares import AuditedTest
    from dpsco_verify.privacy.claims import PrivacyClaim


G = TypeVar("G", bound="GuaranteeResult | OptimiserReport")

_NOT_GIVEN: Any = object()
"""Stands for a data set that was not given, since None may be one."""


class AssertPrivate:
    """Assert that a mechanism keeps the privacy guarantee that it claims; what ``assert_private`` is.

    Parameters
    ----------
    test
        The running test's account of levels.
    settings
        The session's settings.
    """

    def __init__(self, test: AuditedTest, settings: Settings) -> None:
        self._test = test
        self._settings = settings
        self._calls = 0

    def __call__(
        self,
        mechanism: Callable[..., Any],
        d: Any = _NOT_GIVEN,
        d_prime: Any = _NOT_GIVEN,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        claim: PrivacyClaim | None = None,
        pairs: Any = None,
        relation: str | None = None,
        samples: int | None = None,
        name: str | None = None,
        **options: Any,
    ) -> AuditResult:
        """Audit `mechanism` and fail the test unless the claim stands.

        Parameters
        ----------
        mechanism
            ``mechanism(dataset, size, rng)`` returning `size` independent outputs, or ``per_call(f)``.
        d, d_prime, pairs, relation, epsilon, delta, claim
            As :func:`dpsco_verify.auditing.audit` takes them.
        samples
            Outputs a data set, at most; by default what ``--dpsco-profile`` says.
        name
            How messages and the report name the mechanism.
        options
            What else :func:`dpsco_verify.auditing.audit` takes, such as ``log_density``, ``time_limit`` or
            ``multiple_of_interest``; but the level and the seed, which are the session's.

        Returns
        -------
        AuditResult
            The result, whose verdict is ``not_violated``.

        Raises
        ------
        AssertionError
            If the claim is violated; the message shows the witness and the command that repeats the audit.
        pytest.fail.Exception
            If the audit could not decide; the message says what to raise.
        InputError
            For a bad argument, or (``MechanismError``) a mechanism that cannot be audited, such as one that ends its
            process.
        AuditBrokeOffError
            If the audit itself fails; that is not a verdict.
        """
        __tracebackhide__ = True
        from dpsco_verify.plugin.assertion import run_audit  # noqa: PLC0415  the same
        from dpsco_verify.plugin.shares import AskedAudit  # noqa: PLC0415  pytest is to start at once

        self._calls += 1
        data_sets = {"d": d, "d_prime": d_prime}
        arguments = {
            **{key: data for key, data in data_sets.items() if data is not _NOT_GIVEN},
            "epsilon": epsilon,
            "delta": delta,
            "claim": claim,
            "pairs": pairs,
            "relation": relation,
            "samples": self._settings.samples if samples is None else samples,
            "name": name,
        }
        asked = AskedAudit(
            test=self._test, number=self._calls, settings=self._settings, own_samples=samples is not None
        )
        return run_audit(asked, mechanism, arguments, options)

    def guarantee(self, guarantee: Callable[..., G], *arguments: Any, **options: Any) -> G:
        """Check a guarantee of another kind than privacy and fail the test unless it stands; ``assert_guarantee``.

        Parameters
        ----------
        guarantee
            A function of :mod:`dpsco_verify.guarantees`, or
            :func:`~dpsco_verify.guarantees.optimiser.check_optimiser`.
        arguments, options
            What it takes; but the level and the seed, which are the session's.

        Returns
        -------
        GuaranteeResult or OptimiserReport
            The result, whose verdict is ``not_violated``.

        Raises
        ------
        AssertionError
            If the guarantee is violated; the message shows the counterexample and the command that repeats the check.
        pytest.fail.Exception
            If the check could not decide.
        InputError
            For a bad argument, or a function that cannot be judged.
        """
        __tracebackhide__ = True
        from dpsco_verify.plugin.guarantees import run_guarantee  # noqa: PLC0415  the same
        from dpsco_verify.plugin.shares import AskedAudit  # noqa: PLC0415  pytest is to start at once

        self._calls += 1
        asked = AskedAudit(test=self._test, number=self._calls, settings=self._settings, own_samples=False)
        return run_guarantee(asked, guarantee, arguments, options)

    def canaries(self, scores_in: Any, scores_out: Any, **options: Any) -> CanaryAudit:
        """Audit a training run by the scores of its canaries, and fail the test unless the claim stands.

        Parameters
        ----------
        scores_in, scores_out, options
            As :func:`dpsco_verify.auditing.audit_canaries` takes them; but the level and the seed are the session's.
            One run shows little at small levels: set ``--dpsco-error-budget``.

        Returns
        -------
        CanaryAudit
            The result, whose verdict is ``not_violated``.

        Raises
        ------
        AssertionError
            If the claim is violated.
        pytest.fail.Exception
            If the audit could not decide.
        InputError
            For a bad argument.
        """
        __tracebackhide__ = True
        from dpsco_verify.plugin.canaries import run_canaries  # noqa: PLC0415  the same
        from dpsco_verify.plugin.shares import AskedAudit  # noqa: PLC0415  pytest is to start at once

        self._calls += 1
        asked = AskedAudit(test=self._test, number=self._calls, settings=self._settings, own_samples=False)
        return run_canaries(asked, scores_in, scores_out, options)
