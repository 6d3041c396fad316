"""The version of code changes with whatever it can reach, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from dpsco_verify.store import code, sources
from dpsco_verify.store.code import code_files, code_version

pytestmark = pytest.mark.slow  # the everyday part has two minutes


PACKAGE = {
    "__init__.py": '"""A package."""\n',
    "a/__init__.py": "from own_package.a.one import One\n"
    "from own_package.a.two import Two as Second\n"
    "__all__ = ['One']\n",
    "a/one.py": "class One: ...\n",
    "a/two.py": "class Two: ...\n",
    "a/three.py": "from own_package.a import One\n",
    "b/__init__.py": "from own_package.b import one\nfrom . import two\n",
    "b/one.py": "A = 1\n",
    "b/two.py": "A = 1\n",
    "b/three.py": "A = 1\n",
    "busy/__init__.py": "from own_package.busy.x import X\nREGISTRY = (X,)\n",
    "busy/x.py": "X = 1\n",
    "busy/y.py": "Y = 1\n",
    "data/__init__.py": "",
    "data/reader.py": "from pathlib import Path\nTEXT = Path(__file__).with_name('table.txt')\n",
    "data/table.txt": "1 2 3\n",
    "uses_one.py": "from own_package.a import One\n",
    "uses_second.py": "from own_package.a import Second\n",
    "uses_three.py": "from own_package.a import three\n",
    "uses_late.py": "def f():\n    from own_package.a.two import Two\n    return Two\n",
    "uses_handed_module.py": "from own_package.b import one\n",
    "uses_handed_relative.py": "from own_package.b import two\n",
    "uses_types.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from own_package.a.two import Two\n",
    "uses_module.py": "import own_package.a.one\n",
    "uses_package.py": "import own_package.a as p\n",
    "uses_star.py": "from own_package.a import *\n",
    "uses_relative.py": "from .a.two import Two\nfrom . import uses_one\n",
    "uses_busy.py": "from own_package.busy.y import Y\n",
    "uses_name.py": "import importlib\nm = importlib.import_module('own_package.a.two')\n",
    "uses_any_name.py": "import importlib\ndef f(name):\n    return importlib.import_module(name)\n",
    "uses_data.py": "from own_package.data.reader import TEXT\n",
    "uses_library.py": "import numpy\nfrom scipy import special\n",
    "uses_missing.py": "try:\n    import no_such_library_anywhere\nexcept ImportError:\n    pass\n",
    "uses_nothing.py": "import math\n",
    "circle_a.py": "from own_package.circle_b import b\n",
    "circle_b.py": "from own_package.circle_a import a\n",
}
PAST = time.time() - 10 * 365 * 86400


def forget():
    for cached in (sources.source_of, sources._path_of, code._reached_from, code._version):
        cached.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a user's own, and a function that writes a file of it as if it had been there for long."""
    root = tmp_path / "own_package"

    def write(name, text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (PAST, PAST))
        forget()
        return path

    for name, text in PACKAGE.items():
        write(name, text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    forget()


def version(module):
    return code_version(frozenset([f"own_package.{module}"]))


REACHES = {
    "uses_one": {"uses_one.py", "a/one.py"},
    "uses_second": {"uses_second.py", "a/two.py"},
    "uses_three": {"uses_three.py", "a/three.py", "a/one.py"},
    "uses_late": {"uses_late.py", "a/two.py"},
    "uses_handed_module": {"uses_handed_module.py", "b/one.py"},
    "uses_handed_relative": {"uses_handed_relative.py", "b/two.py"},
    "uses_types": {"uses_types.py", "a/two.py"},
    "uses_module": {"uses_module.py", "__init__.py", "a/__init__.py", "a/one.py", "a/two.py"},
    "uses_package": {"uses_package.py", "__init__.py", "a/__init__.py", "a/one.py", "a/two.py"},
    "uses_star": {"uses_star.py", "a/__init__.py", "a/one.py", "a/two.py"},
    "uses_relative": {"uses_relative.py", "a/two.py", "uses_one.py", "a/one.py"},
    "uses_busy": {"uses_busy.py", "busy/__init__.py", "busy/x.py", "busy/y.py"},
    "uses_name": {"uses_name.py", "__init__.py", "a/__init__.py", "a/one.py", "a/two.py"},
    "uses_any_name": {name for name in PACKAGE if name.endswith(".py")},
    "uses_data": {"uses_data.py", "data/reader.py"},
    "uses_nothing": {"uses_nothing.py"},
    "circle_a": {"circle_a.py", "circle_b.py"},
}


@pytest.mark.parametrize("module", REACHES)
def test_what_a_module_reaches(package, tmp_path, module):
    root = (tmp_path / "own_package").resolve()
    found = {path.relative_to(root).as_posix() for path in code_files(frozenset([f"own_package.{module}"]))}
    assert found == REACHES[module]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_the_version_changes_with_what_is_reached_and_with_nothing_else(package, every):
    before = {module: version(module) for module in REACHES}
    for name, text in list(PACKAGE.items())[::every]:
        package(name, text + "\n# changed\n")
        for module, reached in REACHES.items():
            # Who may read the files beside it depends on all of them.
            beside = module in {"uses_data", "uses_any_name"} and name.startswith("data/")
            assert (version(module) != before[module]) == (name in reached or beside), (module, name)
        package(name, text)
    assert {module: version(module) for module in REACHES} == before


def test_a_name_that_is_handed_on_from_elsewhere_is_another(package):
    before = version("uses_one")
    package(
        "a/__init__.py",
        "from own_package.a.two import Two as One\nfrom own_package.a.one import One as Second\n",
    )
    assert version("uses_one") != before


def test_another_name_of_the_same_file_is_another(package):
    package("a/one.py", "class One: ...\nclass Other: ...\n")
    before = version("uses_one")
    package(
        "a/__init__.py",
        "from own_package.a.one import Other as One\nfrom own_package.a.two import Two as Second\n",
    )
    assert version("uses_one") != before


@pytest.mark.parametrize("done", ["Second.x = 1", "Second()", "del Second"])
def test_a_package_that_begins_to_do_things_counts_whole(package, done):
    before = version("uses_one")
    package("a/__init__.py", f"{PACKAGE['a/__init__.py']}{done}\n")
    assert version("uses_one") != before


def test_the_versions_of_the_libraries_count(package, monkeypatch):
    library, nothing = version("uses_library"), version("uses_nothing")
    monkeypatch.setattr(code, "_distributions", lambda name: f"{name} 99")
    forget()
    assert version("uses_library") != library
    monkeypatch.setattr(code, "library_versions", lambda: {"numpy": "99"})
    forget()
    assert version("uses_nothing") != nothing


def test_a_library_that_appears_counts(package, tmp_path):
    before = version("uses_missing")
    forget()
    assert version("uses_missing") == before
    added = tmp_path / "no_such_library_anywhere.py"
    added.write_text("x = 1\n")
    os.utime(added, (PAST, PAST))
    forget()
    assert version("uses_missing") != before


def test_a_source_that_was_written_after_the_process_began_matches_no_other_process(package, monkeypatch):
    before = version("uses_one")
    path = package("a/one.py", PACKAGE["a/one.py"])
    os.utime(path)
    forget()
    doubted = version("uses_one")
    assert doubted != before
    forget()
    assert version("uses_one") == doubted  # the same process remembers
    monkeypatch.setattr(code, "_DOUBT", "another process")
    forget()
    assert version("uses_one") not in {before, doubted}


def test_code_whose_source_is_not_found_matches_no_other_process(package, monkeypatch):
    nowhere = frozenset(["own_package.nowhere_at_all"])
    before = code_version(nowhere)
    monkeypatch.setattr(code, "_DOUBT", "another process")
    forget()
    assert code_version(nowhere) != before


def test_the_version_is_the_same_in_another_process(package, tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from dpsco_verify.store import code_version\n"
        "modules = ['own_package.uses_star', 'dpsco_verify.papers.arora2020.kl_bound.statement']\n"
        "print(code_version(frozenset(modules)))\n"
    )
    # Of two seeds one at least is not this process's own.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    found = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": seed},
    ).stdout
    modules = frozenset(["own_package.uses_star", "dpsco_verify.papers.arora2020.kl_bound.statement"])
    assert found.strip() == str(code_version(modules))


def test_the_statements_of_the_ledger_do_not_reach_each_other():
    """One statement's change redoes its units, and those of the statements that are about the same objects."""
    from dpsco_verify.choices import Profile
    from dpsco_verify.inference.budget import Share
    from dpsco_verify.ledger.installed import installed_ledger
    from dpsco_verify.ledger.statement import Context
    from dpsco_verify.ledger.units import Units

    reached = {}
    for claim in installed_ledger().claims:
        share = Share(claim_id=claim.key, alpha=1e-7) if claim.reading.weight > 0 else None
        units = Units(claim.key, seed=0)
        claim.statement.plan(claim.reading, Context(profile=Profile.QUICK, seed=0, share=share), units)
        for unit in units:
            reached[unit.function.__module__] = code_files(frozenset([unit.function.__module__]))
    assert len(reached) > 10
    ledger = sources.source_of("dpsco_verify.ledger.ledger")
    entries = {
        sources.source_of(f"dpsco_verify.papers.{p.paper.id}.paper").path for p in installed_ledger().papers
    }
    for module, files in reached.items():
        assert ledger.path not in files, module
        assert entries.isdisjoint(files), module
        assert not any("cli" in path.parts or "reporting" in path.parts for path in files), module
        # No paper's code depends on another's.
        if module.startswith("dpsco_verify.papers."):
            own = module.split(".")[2]
            of_papers = {
                path.parts[path.parts.index("papers") + 1] for path in files if "papers" in path.parts
            }
            assert of_papers - {"__init__.py"} == {own}, module


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("stopping_tail.law", "bounded_mean"),
        ("stopping_tail.law", "goodness_of_fit"),
        ("utility.measure", "bounded_mean"),
        ("utility.search", "bounded_mean"),
        ("single_step.empirical", "privacy_event_test"),
    ],
)
def test_a_statement_reaches_the_test_by_which_it_decides(module, test):
    files = code_files(frozenset([f"dpsco_verify.papers.arora2020.{module}"]))
    assert sources.source_of(f"dpsco_verify.inference.{test}").path in files
