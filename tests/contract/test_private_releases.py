"""What hands out a private output never has a seed unless its caller gives one.

The line is drawn here, package by package: what releases outputs of the user's data, and what only judges. A verifier
may have default seeds, because nothing that it draws protects anybody, and a report is to be repeatable. A new package
has to be put on one side.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import types

import click
import numpy as np
import pytest

import dpsco_verify
from dpsco_verify.algorithm import private_sgd, run_ensemble
from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Linear
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

RELEASES = {"algorithm", "related", "adapters", "estimators"}
JUDGES = {
    "arrays",
    "auditing",
    "choices",
    "cli",  # its commands are looked at one by one
    "comparison",
    "errors",
    "evidence",
    "execution",
    "faults",  # mechanisms that are wrong on purpose
    "gating",
    "geometry",
    "guarantees",
    "inference",
    "ledger",
    "papers",
    "plugin",
    "privacy",
    "problems",
    "processor",
    "pytest_plugin",
    "reporting",
    "store",
    "strategies",
    "validation",
}
JUDGES_WITHIN = {
    "dpsco_verify.algorithm.canaries",  # audits runs on points of its own
    "dpsco_verify.algorithm.__main__",  # compiles the kernel on data of its own
    "dpsco_verify.algorithm.conformance",  # judges implementations
}
COMMANDS_THAT_RELEASE = {"run"}
SOURCES = ("seed", "rng", "tape", "random_state", "generator", "entropy")
GENERATORS = {
    "default_rng",
    "SeedSequence",
    "RandomState",
    "PCG64",
    "PCG64DXSM",
    "MT19937",
    "Philox",
    "SFC64",
    "Random",
    "stream",
}


def releasing_modules():
    for package in sorted(RELEASES):
        try:
            root = importlib.import_module(f"dpsco_verify.{package}")
        except ModuleNotFoundError:
            continue
        yield root
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if not any(found.name == name or found.name.startswith(f"{name}.") for name in JUDGES_WITHIN):
                yield importlib.import_module(found.name)


def callables_of(module):
    """Yield what a module defines and can be called, the methods of its classes included."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__ or not callable(value):
            continue
        yield name, value
        if inspect.isclass(value):
            for method, attribute in vars(value).items():
                function = getattr(attribute, "__func__", attribute)  # of a class method or a static one
                if inspect.isfunction(function):
                    yield f"{name}.{method}", function


def is_a_source(parameter):
    return any(parameter == name or parameter.endswith(f"_{name}") for name in SOURCES)


def default_seeds(module):
    """Return the parameters that have a source of randomness as their default."""
    found = []
    for name, function in callables_of(module):
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        found += [
            f"{module.__name__}.{name}({p.name}={p.default!r})"
            for p in parameters
            if is_a_source(p.name) and p.default is not p.empty and p.default is not None
        ]
    return found


def sown_generators(module, source=None):
    """Return the lines that make a generator of constants, or of whatever is left where there is no other source."""
    tree = ast.parse(inspect.getsource(module) if source is None else source)
    return [
        f"{module.__name__}, line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in GENERATORS
        and any(
            isinstance(part, ast.Constant) and part.value is not None
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]
            for part in ast.walk(argument)
        )
    ]


def commands_with_a_default_seed(group):
    return {
        name
        for name, command in group.commands.items()
        for option in command.params
        if is_a_source(option.name) and option.to_info_dict()["default"] is not None
    }


def test_every_package_stands_on_one_side():
    there = {found.name for found in pkgutil.iter_modules(dpsco_verify.__path__)} - {"__main__"}
    assert there <= RELEASES | JUDGES
    assert not RELEASES & JUDGES


@pytest.mark.slow
def test_nothing_that_releases_has_a_default_seed():
    modules = list(releasing_modules())
    seen = {name for module in modules for name, _ in callables_of(module)}
    assert {
        "private_sgd",
        "run_ensemble",
        "run_on_file",
        "Request",
        "System.fit",
        "AlgorithmMechanism",
    } <= seen
    assert [line for module in modules for line in default_seeds(module)] == []
    assert [line for module in modules for line in sown_generators(module)] == []


def test_no_command_that_releases_has_a_default_seed():
    assert set(main.commands) >= COMMANDS_THAT_RELEASE
    assert commands_with_a_default_seed(main) & COMMANDS_THAT_RELEASE == set()


# --- the net has no hole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "def release(data, *, seed=0): ...",
        "def release(data, noise_seed=7): ...",
        "class Release:\n    def fit(self, data, rng=object()): ...",
        "class Release:\n    @classmethod\n    def fit(cls, data, random_state=0): ...",
        "class Release:\n    def __init__(self, random_state=42): ...",
    ],
)
def test_a_default_seed_is_seen(source):
    module = types.ModuleType("made")
    exec(source, vars(module))  # noqa: S102  the test's own source
    assert default_seeds(module)


@pytest.mark.parametrize(
    "line",
    [
        "np.random.default_rng(0)",
        "default_rng(seed=0)",
        "default_rng(0 if seed is None else seed)",
        "Generator(PCG64(1))",
        "random.Random('secret')",
    ],
)
def test_a_sown_generator_is_seen(line):
    assert sown_generators(types.ModuleType("made"), line)


@pytest.mark.parametrize("line", ["default_rng()", "default_rng(SeedSequence())", "default_rng(seed)"])
def test_entropy_and_the_caller_s_own_seed_are_no_sown_generators(line):
    assert not sown_generators(types.ModuleType("made"), line)


def test_a_command_s_default_seed_is_seen():
    group = click.Group("made", commands=[click.Command("run", params=[click.Option(["--seed"], default=0)])])
    assert commands_with_a_default_seed(group) == {"run"}


# --- and what is asked without a source refuses ---------------------------------------------------------------------


@pytest.mark.parametrize("run", [private_sgd, run_ensemble])
def test_the_algorithm_asks_for_a_source(run):
    data = np.full((20, 2) if run is private_sgd else (3, 20, 2), 0.5)
    with pytest.raises(InputError, match="rng=None and tape=None"):
        run(data, loss=Linear(), convex_set=L2Ball(np.zeros(2), 1.0), step_size=0.1, sigma=1.0, lipschitz=1.0)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_the_systems_ask_for_a_source(system):
    task = Task(Linear(), L2Ball(np.zeros(2), 1.0), 1.0)
    with pytest.raises(TypeError, match="rng"):
        system.fit(np.full((20, 2), 0.5), task=task, budget=PrivacyBudget(1.0, 1e-6))
