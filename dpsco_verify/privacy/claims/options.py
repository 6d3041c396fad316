"""A privacy claim from the options of a command line or a configuration file."""

from __future__ import annotations

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims.approximate import ApproximateDP
from dpsco_verify.privacy.claims.claim import PrivacyClaim
from dpsco_verify.privacy.claims.gaussian import GaussianDP
from dpsco_verify.privacy.claims.pure import PureDP
from dpsco_verify.privacy.claims.renyi import RenyiDP
from dpsco_verify.privacy.claims.zero_concentrated import ZeroConcentratedDP

_ALLOWED = "give epsilon (with or without delta), rho, mu, or renyi_alpha with renyi_epsilon"


def claim_from(
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    renyi_alpha: float | None = None,
    renyi_epsilon: float | None = None,
) -> PrivacyClaim:
    """Return the one claim that the options make.

    Parameters
    ----------
    epsilon, delta
        ε-DP; with a `delta` other than 0, (ε, δ)-DP.
    rho
        ρ-zCDP.
    mu
        μ-GDP.
    renyi_alpha, renyi_epsilon
        (α, ε)-Rényi differential privacy.

    Raises
    ------
    InputError
        Unless exactly one notion is given, whole; the message names what was given.

    Examples
    --------
    >>> print(claim_from(epsilon=1.0, delta=1e-6), "|", claim_from(rho=0.5), "|", claim_from(mu=1.0))
    (1, 1e-06)-DP | 0.5-zCDP | 1-GDP
    """
    options = {
        "epsilon": epsilon,
        "delta": delta,
        "rho": rho,
        "mu": mu,
        "renyi_alpha": renyi_alpha,
        "renyi_epsilon": renyi_epsilon,
    }
    given = {name: value for name, value in options.items() if value is not None}
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    if not given:
        raise InputError(f"epsilon=None, as all other options: nothing is claimed; {_ALLOWED}")
    notions = [{"epsilon", "delta"}, {"rho"}, {"mu"}, {"renyi_alpha", "renyi_epsilon"}]
    if sum(bool(notion & given.keys()) for notion in notions) > 1:
        raise InputError(f"{said} make more than one claim; {_ALLOWED}")
    if rho is not None:
        return ZeroConcentratedDP(rho)
    if mu is not None:
        return GaussianDP(mu)
    if epsilon is not None:
        return PureDP(epsilon) if delta is None or delta == 0 else ApproximateDP(epsilon, delta)
    if renyi_alpha is not None and renyi_epsilon is not None:
        return RenyiDP(renyi_alpha, renyi_epsilon)
    raise InputError(f"{said} is half a claim; {_ALLOWED}")
