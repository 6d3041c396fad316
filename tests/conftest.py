"""One thread; Hypothesis profiles; a run of the whole ledger for all tests of it; and functions that err.

The profiles are dev (every day), ci (derandomised), long (random, for a night) and explore (random, longer still).
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle

import numpy as np
import pytest
import scipy.special
from hypothesis import HealthCheck, settings

from dpsco_verify.execution.threads import ONE_THREAD, one_thread_from_now_on

# The workers of pytest-xdist are the parallelism, here and in the processes that tests start: threads of linear algebra
# that wait for one another take three times the processor time of one.
os.environ.update(ONE_THREAD)
one_thread_from_now_on()

# Thousands of tests and the libraries that they import are half a million objects that live to the end. To look through
# them for garbage again and again took a fifth of the processor time.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    """Look for garbage from now on, and among what the tests make alone."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


_slow_inputs_are_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=_slow_inputs_are_fine)
settings.register_profile(
    "ci", max_examples=20, deadline=None, derandomize=True, suppress_health_check=_slow_inputs_are_fine
)
for _name, _examples in (("long", 500), ("explore", 10_000)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        print_blob=True,
        suppress_health_check=_slow_inputs_are_fine,
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """Return the audit of the whole ledger at the quick profile, made once for all workers of pytest-xdist."""
    from dpsco_verify.choices import Profile
    from dpsco_verify.ledger.installed import installed_ledger
    from dpsco_verify.ledger.run import run_audit

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of the session, which all its workers share
    made = folder / "quick_run.pickle"
    with (folder / "quick_run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # ends with the file, and with a process that is killed
        if not made.exists():
            unfinished = made.with_suffix(".new")
            unfinished.write_bytes(pickle.dumps(run_audit(installed_ledger(), profile=Profile.QUICK, seed=0)))
            unfinished.rename(made)
        return pickle.loads(made.read_bytes())  # noqa: S301  ours


class _Wobbly:
    """A function of numpy's or scipy's whose results are off by a unit in the last place, by where they stand.

    So it is with a vector library whose whole lanes and remainder differ. Numbers that every library gets right stay:
    0, ±1, what is not finite; and where a unit would overflow or vanish.
    """

    def __init__(self, function):
        self._function = function
        self.__name__ = function.__name__

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __call__(self, *arguments, **options):
        result = self._function(*arguments, **options)
        if getattr(result, "dtype", None) != np.float64 or options.get("where", True) is not True:
            return result
        values = np.asarray(result)
        place = np.arange(values.size).reshape(values.shape)
        towards = np.array([-np.inf, np.nan, np.inf])[((place * 2654435761 + values.size * 40503) >> 3) % 3]
        stays = (
            np.isnan(towards)
            | (np.abs(values) == 1)
            | ~((np.abs(values) > 1e-300) & (np.abs(values) < 1e300))
        )
        moved = np.where(stays, values, np.nextafter(values, np.where(stays, values, towards)))
        if isinstance(result, np.ndarray):
            result[...] = moved
            return result
        return np.float64(moved)


_NUMPY = (
    "exp exp2 expm1 log log2 log10 log1p power float_power sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh cbrt logaddexp hypot arctan2"
)
_SPECIAL = (
    "expit logit xlogy xlog1py entr ndtr log_ndtr ndtri gammaln erf erfc erfcx betainc betaln log1p expm1"
)
if os.environ.get("DPSCO_TEST_WOBBLY_FUNCTIONS"):
    # A processor that nobody has: what pins the bits of such functions, or leaves them no room, fails.
    for _module, _names in ((np, _NUMPY), (scipy.special, _SPECIAL)):
        for _name in _names.split():
            setattr(_module, _name, _Wobbly(getattr(_module, _name)))
