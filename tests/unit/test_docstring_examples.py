"""Every public function and class has an example in its docstring, and each prints what it says."""

from __future__ import annotations

import doctest
import importlib
import sys

import numpy as np
import pytest

import dpsco_verify

PACKAGES = (
    "dpsco_verify.auditing",
    "dpsco_verify.auditing.canaries",
    "dpsco_verify.guarantees",
    "dpsco_verify.guarantees.optimiser",
    "dpsco_verify.privacy",
    "dpsco_verify.privacy.whole_run",
    "dpsco_verify.estimators",
)
FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1


def public(name):
    package = importlib.import_module(name)
    return {key: getattr(package, key) for key in package.__all__}


# An object that two packages export has its examples once; aliases of types and constants have none.
EXPORTED = {
    f"{package}.{name}": (package, found)
    for package in PACKAGES
    for name, found in public(package).items()
    if isinstance(getattr(found, "__module__", None), str) and found.__module__.startswith("dpsco_verify.")
}


def examples(package, found):
    """Return the examples of an object, whose names are those of its package, and numpy's."""
    names = public(package) | {"np": np}
    return doctest.DocTestParser().get_doctest(found.__doc__ or "", names, found.__name__, None, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("package", "found"), EXPORTED.values(), ids=EXPORTED)
def test_the_example_prints_what_it_says(package, found):
    test = examples(package, found)
    assert test.examples, "has no example"
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=sys.stdout.write)
    assert result.failed == 0


def test_a_wrong_output_is_seen():
    def wrong():
        """
        >>> np.arange(2) + 1
        array([1, 3])
        """

    test = examples("dpsco_verify.privacy", wrong)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lambda _: None).failed == 1


def test_the_package_s_own_names_are_among_them():
    assert dpsco_verify.audit is EXPORTED["dpsco_verify.auditing.audit"][1]
    assert dpsco_verify.__all__ == ["__version__", "audit"]
