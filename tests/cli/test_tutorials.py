"""The tutorials, done as they are written: files are made, commands are run, and they print what is shown.

A block of code after a line that ends with the name of a file, as in "In `counts.py`:", is that file. In a console
block what follows a command is what it prints, where "..." stands for anything. All of a tutorial happens in one
folder, in an environment of its own that has this one's packages by their path, so that nothing is downloaded. Its
programs are copies of this process, which saves what a dozen interpreters import; `make test-long` starts those.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shutil
import sysconfig
import venv
from pathlib import Path

import pytest

from forked_programs import ForkedPrograms

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"(?:^([^\n]*)\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w./-]+)`[^`]*:$")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
END = "\x1e"

pytestmark = pytest.mark.slow


@pytest.fixture(params=["in copies", pytest.param("in interpreters", marks=pytest.mark.long)])
def shell(request, tmp_path):
    """Return what runs commands one after the other in one shell, and returns what each prints."""
    for name in (
        "dpsco_verify.estimators",
        "sklearn.datasets",
        "sklearn.model_selection",
        "sklearn.pipeline",
    ):
        importlib.import_module(name)  # which each copy would import otherwise
    venv.create(tmp_path / "venv", with_pip=False)
    home = tmp_path / "venv" / "bin"
    site = next((tmp_path / "venv" / "lib").glob("python*")) / "site-packages"
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    program = home / "dpsco-verify"
    program.write_text(f"#!{home}/python\nfrom dpsco_verify.cli import main\nmain()\n")
    program.chmod(0o755)
    shutil.copytree(
        ROOT / "examples", tmp_path / "here" / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    offline = {f"PIP_{name}": "1" for name in ("NO_INDEX", "NO_DEPS", "QUIET")}
    offline["PIP_NO_BUILD_ISOLATION"] = "0"  # which is how pip is told so
    # A reader's own machine, wherever the tests run: a hosted one sets CI, where expectations are not chosen.
    hosted = ("PYTHON", "PIP_", "PYTEST", "CI", "GITHUB_", "GITLAB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hosted)}
    programs = ForkedPrograms(tmp_path / "programs", real=home / "python", packages=site)
    first = programs.folder if request.param == "in copies" else home
    environment = kept | offline | {"PATH": f"{first}:{home}:/usr/bin:/bin", "COLUMNS": "80", "NO_COLOR": "1"}
    environment["PYTHONDONTWRITEBYTECODE"] = (
        "1"  # a module may be changed twice within a second, and keep its size
    )

    def run(commands):
        script = "".join(f"{command}\n_said=$?; printf '{END}'; (exit $_said)\n" for command in commands)
        said = programs.run(
            ["/bin/bash", "-c", f"exec 2>&1\n{script}"], cwd=tmp_path / "here", env=environment
        )
        return said.split(END)[:-1]

    yield run, tmp_path / "here"
    programs.close()


def session(block):
    """Return the commands of a console block, and what is shown after each."""
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", piece, re.DOTALL).groups() for piece in pieces]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_tutorial_is_done_as_it_is_written(page, shell):
    run, folder = shell
    text = page.read_text(encoding="utf-8")
    done = 0
    for before, language, block in BLOCK.findall(text):
        done += 1
        if language == "console":
            commands, shown = zip(*session(block), strict=True)
            for command, want, got in zip(commands, shown, run(commands), strict=True):
                same = doctest.OutputChecker().check_output(want, got, FLAGS)
                assert same, f"$ {command}\n{got}\n--- and not\n{want}"
        else:
            name = FILE.search(before)
            assert name, f"no command runs this block, and no file holds it:\n{block}"
            file = folder / name[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block, encoding="utf-8")
    assert done == text.count("\n```") / 2


def test_what_a_command_prints_is_compared():
    ((command, shown),) = session("$ echo one \\\n    two\none 2\n")
    assert command == "echo one \\\n    two"
    assert not doctest.OutputChecker().check_output(shown, "one two\n", FLAGS)
