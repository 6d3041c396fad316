"""The thin layer of `make mutate`: which tests run for a change, what ends them, and what the score counts."""

from __future__ import annotations

import faulthandler
import importlib
import signal
from pathlib import Path

import msgspec
import pytest

from mutation.__main__ import _Session
from mutation.mutants import Equivalent, Mutant, behaviour, difference, equivalents
from mutation.reach import EVERYTHING, Reached, nearest, statement_of
from mutation.report import score, table
from mutation.tree import BOTH, EVERYDAY, NO_TESTS, Tree, import_others
from mutation.trial import Depth, Outcome, Part, Result, run

ROOT = Path(__file__).parents[2]
CODE = "def half(x):\n    return x / 2\n"
TEST = """from dpsco_verify.part import half


def test_{0}():
    assert half({1}) == {1} / 2


def test_half_is_there():
    assert half
"""
FILES = {
    "dpsco_verify/__init__.py": "",
    "dpsco_verify/pytest_plugin.py": "",
    "dpsco_verify/part.py": CODE,
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\nmarkers = ["slow", "long"]\n',
    "tests/unit/test_four.py": TEST.format("four", 4),
    "tests/unit/test_zero.py": TEST.format("zero", 0),
    "tests/unit/test_other.py": "def test_other():\n    pass\n",
}
MUTANT = Mutant("dpsco_verify/part.py", "half", "an operator", 2, 13, "return x / 2", "return x * 2")
RESULT = Result(MUTANT, Outcome.SURVIVED, 1, 0.5, "1 passed", Depth.NEAREST, "hash")


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text, encoding="utf-8")
    faulthandler.cancel_dump_traceback_later()  # its thread is not in a fork, where cancelling would wait for it
    return Tree(tmp_path / "tree", tmp_path / "root", list(FILES))


def part(name, *, limit=10.0):
    return Part(f"tests/unit/test_{name}.py", [f"tests/unit/test_{name}.py::test_{name}"], 1.0, limit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "tests", "outcome"),
    [
        ("x * 2", ("zero", "four"), Outcome.KILLED),
        ("x * 2", ("zero",), Outcome.SURVIVED),
        ("x * 2", (), Outcome.UNREACHED),
        ("y / 2", ("zero",), Outcome.KILLED),
    ],
)
def test_a_change_is_noticed_by_a_test_that_fails(tree, after, tests, outcome):
    chosen = [part(name) for name in tests]
    found, files, _, _ = run(MUTANT, CODE.replace("x / 2", after), tree, chosen, budget=100.0)
    assert (found, files) == (outcome, len(tests))
    assert (tree.path / MUTANT.path).read_text(encoding="utf-8") == CODE


@pytest.mark.slow
def test_tests_left_out_leave_a_change_undecided(tree):
    chosen = [part("zero"), part("four")]
    assert run(MUTANT, CODE.replace("/", "*"), tree, chosen, budget=1.5)[:2] == (Outcome.UNDECIDED, 1)


@pytest.mark.long
def test_a_loop_without_end_ends_at_the_limit_of_its_test(tree):
    with tree.changed(MUTANT.path, "def half(x):\n    while True:\n        pass\n"):
        names = ["tests/unit/test_other.py", "tests/unit/test_zero.py"]
        ended = tree.pytest(names, markers=EVERYDAY, limits=dict.fromkeys(names, 0.3))
    with tree.changed(MUTANT.path, "import time\n\n\ndef half(x):\n    time.sleep(600.0)\n"):
        waited = tree.pytest(names, markers=EVERYDAY, limits=dict.fromkeys(names, 0.3), wall=3.0)
    assert (ended.code, waited.code) == (-signal.SIGPROF, None)
    unchanged = tree.pytest(names, markers=EVERYDAY, limits=dict.fromkeys(names, 5.0))
    assert unchanged.code == 0
    assert unchanged.seconds > 0
    assert tree.pytest(names, markers="slow").code == NO_TESTS


@pytest.mark.long
def test_only_the_chosen_tests_run_and_in_their_order(tree):
    both = part("zero").tests + part("four").tests
    names = [name.partition("::")[0] for name in sorted(both)]
    assert list(tree.pytest(names, markers=EVERYDAY, chosen=both).tests) == both
    assert list(tree.pytest(names, markers=EVERYDAY, chosen=both[1:]).tests) == both[1:]
    (tree.path / names[0]).write_text(
        f"import pytest\npytestmark = pytest.mark.slow\n{TEST.format('four', 4)}"
    )
    assert [name.partition("::")[0] for name in tree.pytest(names, markers=BOTH).tests] == [
        *names[1:] * 2,
        *names[:1] * 2,
    ]


def test_what_others_import_is_there_before_a_run_and_the_product_is_not(tmp_path, monkeypatch):
    (tmp_path / "tests" / "support").mkdir(parents=True)
    (tmp_path / "tests" / "support" / "ours.py").touch()
    text = "import nowhere, wave\nfrom json import decoder\nimport ours\ndef f():\n    import inner\n"
    (tmp_path / "part.py").write_text(f"{text}from part import a\n")
    asked = []
    monkeypatch.setattr(importlib, "import_module", lambda name: asked.append(name) or _raise(name))
    import_others(tmp_path, ["part.py"])
    assert asked == ["json", "json.decoder", "nowhere", "wave"]


def _raise(name):
    if name == "nowhere":
        raise ModuleNotFoundError(name)


def test_what_runs_a_statement_comes_first_and_the_quick_of_it():
    lines = {"a.py": {"": "6", "slow": "30", "quick": "10", "other": "40"}, "b.py": {"": "2"}}
    reached = Reached(0, 9.0, "", {"quick": 1.0, "slow": 2.0, "other": 0.5}, lines)
    assert reached.running("a.py", range(4, 6)) == ["quick", "slow"]
    assert reached.running("a.py", range(5, 6)) == ["slow"]
    assert reached.running("a.py", range(1, 2)) == ["other", "quick", "slow"]  # while it was imported
    assert reached.running("b.py", range(1, 2)) == []
    assert reached.running("a.py", range(7, 9)) is None
    assert reached.running("c.py", range(1, 2)) is None


def test_a_copy_follows_its_tree(tree, tmp_path):
    (tmp_path / "root" / MUTANT.path).write_text("changed = True\n", encoding="utf-8")
    names = [name for name in FILES if name != "tests/unit/test_zero.py"]
    again = Tree(tmp_path / "tree", tmp_path / "root", names)
    assert (again.path / MUTANT.path).read_text(encoding="utf-8") == "changed = True\n"
    assert not (again.path / "tests/unit/test_zero.py").exists()
    assert (again.path / "tests/unit/test_four.py").exists()


@pytest.mark.slow
def test_the_nearest_tests_have_the_fewest_imports_between(tmp_path):
    orders = "dpsco_verify/privacy/claims/orders.py"
    texts = {
        "tests/unit/test_far.py": "from dpsco_verify.auditing import audit\n",
        "tests/cli/test_orders.py": "def test():\n    from dpsco_verify.privacy.claims import orders\n",
        "tests/unit/test_claims.py": "from dpsco_verify.privacy.claims import PureDP\n",
        "tests/property/test_pure.py": "from dpsco_verify.privacy.claims import PureDP\n",
        "tests/unit/test_none.py": "from dpsco_verify.errors import InputError\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = nearest(orders, tmp_path, list(texts))
    assert found[0] == "tests/cli/test_orders.py"
    assert found[1:3] == ["tests/unit/test_claims.py", "tests/property/test_pure.py"]
    assert found[3:] == ["tests/unit/test_far.py"]
    (tmp_path / "tests/unit/test_none.py").write_text(
        "from dpsco_verify.ledger.installed import installed_ledger\n"
    )
    statement = "dpsco_verify/papers/bassily2014/noisy_sgd_erm/statement.py"
    (tmp_path / "tests/cli/test_orders.py").write_text(f"{EVERYTHING})")
    assert nearest(statement, tmp_path, list(texts)) == [
        "tests/cli/test_orders.py",
        "tests/unit/test_none.py",
    ]


def test_the_statement_around_a_line():
    text = "@decorated\ndef f(\n    x=1,\n):\n    if (\n        x\n    ):\n        return [\n            x\n        ]\n"
    lines = {line: statement_of(text, line) for line in range(1, 11)}
    assert {lines[line] for line in (1, 2, 3, 4)} == {range(1, 5)}
    assert {lines[line] for line in (5, 6, 7)} == {range(5, 8)}
    assert {lines[line] for line in (8, 9, 10)} == {range(8, 11)}
    assert statement_of("match x:\n    case 1:\n        y\n", 3) == range(3, 4)


def test_what_only_annotations_caches_or_spaces_change_is_no_change():
    assert behaviour("@functools.lru_cache(maxsize=2)\ndef f(): pass") == behaviour("def f(): pass")
    assert behaviour("@property\ndef f(): pass") != behaviour("def f(): pass")
    assert behaviour("def f(x: int | None) -> int: return x") == behaviour("def f(x: int & None): return  x")
    assert behaviour("def f(x=1): return x") != behaviour("def f(x=2): return x")
    assert difference("a\n  b\nc\n", "a\n  d\nc\n") == ("b", "d")


def test_the_score_leaves_out_what_is_listed_and_counts_what_is_undecided():
    outcomes = [Outcome.KILLED] * 8 + [Outcome.TIMED, Outcome.UNDECIDED, Outcome.UNREACHED]
    results = [RESULT] + [msgspec.structs.replace(RESULT, outcome=outcome) for outcome in outcomes]
    missed, sentence = score(results, [])
    assert [result.outcome for result in missed] == [Outcome.SURVIVED, Outcome.UNDECIDED, Outcome.UNREACHED]
    # (9, 12): the ends solve P(K >= 9) = P(K <= 9) = 0.025.
    assert "noticed 75.0%, 95 % interval 42.8% to 94.5%" in sentence
    listed = Equivalent(MUTANT.path, "half", "return x / 2", "return x * 2", "never called")
    missed, sentence = score(results, [listed])
    assert missed == []
    assert "3 equivalent, which do not count; noticed 100.0%" in sentence
    assert score(results, [msgspec.structs.replace(listed, after="return x - 2")])[0] != []
    assert "-return x / 2\n+return x * 2" in table([RESULT])
    assert RESULT.then(msgspec.structs.replace(RESULT, outcome=Outcome.UNREACHED)).outcome is Outcome.SURVIVED


class Looked:
    """What tests reach, of which `left` files are still to be looked at."""

    def __init__(self, left):
        self.left = left

    def missing(self):
        return self.left


@pytest.mark.parametrize(
    ("depth", "left", "asked"),
    [
        (Depth.NEAREST, [], [Depth.NEAREST]),
        (Depth.EVERYDAY, [], [Depth.EVERYDAY]),
        (Depth.ALL, [], [Depth.EVERYDAY, Depth.ALL]),
        (Depth.EVERYDAY, ["a file"], [Depth.NEAREST, Depth.EVERYDAY]),
    ],
)
def test_the_nearest_files_are_asked_while_it_is_not_known_what_tests_run(
    monkeypatch, tmp_path, depth, left, asked
):
    session = object.__new__(_Session)
    session._depth, session._known, session._suite, session._budget = depth, {}, "hash", 1.0
    session._tree, session._kept = None, tmp_path / "results"
    session._reach = dict.fromkeys((Depth.EVERYDAY, Depth.ALL), Looked(left))
    monkeypatch.setattr(session, "_tests", lambda mutant, depth: [depth])
    seen = []
    monkeypatch.setattr(
        "mutation.__main__.run",
        lambda *arguments, budget: seen.extend(arguments[3]) or (Outcome.SURVIVED, 1, 0.5, "1 passed"),
    )
    assert session.result(MUTANT, CODE).outcome is Outcome.SURVIVED
    assert seen == asked
    assert len(session._kept.read_bytes().splitlines()) == len(asked)


def test_every_listed_change_is_one_of_the_present_code():
    for each in equivalents():
        lines = [line.strip() for line in (ROOT / each.path).read_text(encoding="utf-8").splitlines()]
        before = each.before.splitlines()
        assert any(lines[i : i + len(before)] == before for i in range(len(lines))), each
        assert each.reason
        assert each.before != each.after
