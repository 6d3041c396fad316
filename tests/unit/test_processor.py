"""The kind of processor: seen as the libraries see it, in the keys of the store, and played at its lower levels."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import threadpoolctl

from dpsco_verify.execution.environment import environment
from dpsco_verify.processor import _NUMBA_SWITCHES, _linear_algebra, levels, main, processor

SEEN = """
import json, numpy, sys
from dpsco_verify.execution import WorkUnit
from dpsco_verify.execution.environment import environment
from dpsco_verify.processor import processor
from dpsco_verify.store import unit_key
print(json.dumps({
    "features": numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
    "processor": processor(),
    "environment": environment(),
    "key": unit_key(WorkUnit(name="unit", function=json.dumps))[0].hex(),
    "numba is loaded": "numba" in sys.modules,
    "processor as numba says": (processor.cache_clear(), __import__("numba"), processor())[-1],
}))
"""


@functools.cache
def seen(**switches):
    """Return what a process sees that was started with these switches."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-W", "error", "-c", SEEN],
        env=os.environ | switches,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


SWITCHES = {
    "numba compiles for another": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "the C library chooses otherwise": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"},
}
if len(levels()) > 1:
    _name = "NPY_DISABLE_CPU_FEATURES"
    SWITCHES["numpy dispatches on nothing"] = {_name: next(iter(levels().values()))[_name]}


NUMBA = "numba compiles for another"
BY_DAY = [what if what == NUMBA else pytest.param(what, marks=pytest.mark.long) for what in SWITCHES]
"""That numpy dispatches on less is seen at the levels as well."""


@pytest.mark.slow
@pytest.mark.parametrize("what", BY_DAY)
def test_the_store_has_other_keys_on_another_kind_of_processor(what):
    here, other = seen(), seen(**SWITCHES[what])
    assert here["processor"] == processor()
    assert here["environment"] == environment()
    for name in ("processor", "environment", "key"):
        assert here[name] != other[name]


@pytest.mark.slow
@pytest.mark.parametrize("what", BY_DAY)
def test_what_numba_compiles_for_is_what_it_says(what):
    found = seen(**SWITCHES[what])
    assert found["processor as numba says"] == found["processor"]


@pytest.mark.slow
def test_numba_need_not_be_loaded_to_know_what_it_compiles_for():
    found = seen()
    assert found["processor as numba says"] == found["processor"]
    if not _NUMBA_SWITCHES & os.environ.keys():
        assert not seen()["numba is loaded"]
    assert seen(**SWITCHES[NUMBA])["numba is loaded"]


@pytest.mark.slow
def test_a_library_that_another_package_loads_changes_nothing(monkeypatch):
    """cvxpy brings a BLAS of its own, which only processes that import it have."""
    loaded = threadpoolctl.threadpool_info()
    other = {"user_api": "blas", "internal_api": "openblas", "version": "0.3.15", "architecture": "Haswell"}
    paths = {"wheels": "/x/scs.libs/libopenblas.so", "system": "/usr/lib/libblas.so"}
    before = _linear_algebra()
    assert before
    for path in paths.values():
        found = [*loaded, other | {"filepath": path}]
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda found=found: found)
        assert _linear_algebra() == before
    # Numpy and scipy may be built against the system's, with nothing of their own.
    found = [other | {"filepath": paths["system"]}]
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: found)
    assert _linear_algebra() == ["openblas 0.3.15 Haswell"]


@pytest.mark.slow
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_levels_take_the_features_away_from_the_last_to_the_first(every):
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    assert len(levels()) == len(features) + 1
    numbered = list(enumerate(levels().items()))
    looked_at = numbered if every else [numbered[k] for k in sorted({0, len(numbered) - 1})]
    for count, (name, switches) in looked_at:
        found = seen(**switches)
        assert found["features"] == features[:count]
        assert name == features[count - 1] if count else name not in features
        if "NUMBA_CPU_NAME" in switches:
            assert f"numba {switches['NUMBA_CPU_NAME']} " in found["processor"]
    assert not switches
    assert len({seen(**switches)["key"] for _, (_, switches) in looked_at}) == len(looked_at)


@pytest.mark.slow
def test_a_command_runs_at_every_level_and_one_failure_is_a_failure(capfd):
    program = "import os, sys; print(os.environ.get('NPY_DISABLE_CPU_FEATURES')); sys.exit({})"
    # The suite itself may run at a lower level, whose switches the highest of its own leaves as they are.
    disabled = [(os.environ | switches).get("NPY_DISABLE_CPU_FEATURES") for switches in levels().values()]
    assert main([sys.executable, "-c", program.format(0)]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == [str(one) for one in disabled]
    assert all(name in err for name in levels())
    fails_at_the_lowest = f"3 * (os.environ.get('NPY_DISABLE_CPU_FEATURES') == {disabled[0]!r})"
    assert main([sys.executable, "-c", program.format(fails_at_the_lowest)]) == 3
    capfd.readouterr()
    assert main(["--lowest", sys.executable, "-c", program.format(0)]) == 0
    assert capfd.readouterr().out.splitlines() == [str(disabled[0])]
    assert main([]) == 0
