"""What ``make docs`` has built is whole, and the build is as strict as it says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

import dpsco_verify.auditing
import dpsco_verify.estimators
import dpsco_verify.guarantees
import dpsco_verify.privacy
from dpsco_verify.cli import main

DOCS = Path(__file__).parent
BUILT = DOCS / "_build"


def test_the_manual_page_has_every_command_and_option():
    # troff's escaped hyphens, and its font changes
    page = (BUILT / "man" / "dpsco-verify.1").read_text(encoding="utf-8").replace("\\-", "-")
    for name, command in main.commands.items():
        assert f"dpsco-verify {name}" in page
        for parameter in command.params:
            for flag in (flag for flag in parameter.opts if flag.startswith("--")):
                assert flag in page, (name, flag)


@pytest.mark.parametrize(
    "package",
    [dpsco_verify.auditing, dpsco_verify.guarantees, dpsco_verify.privacy, dpsco_verify.estimators],
    ids=lambda package: package.__name__,
)
def test_every_public_name_has_its_place(package):
    inventory = InventoryFile.loads((BUILT / "html" / "objects.inv").read_bytes(), uri="")
    own = [
        name for kind in inventory.data.values() for name in kind if name.startswith(f"{package.__name__}.")
    ]
    listed = {name.rpartition(".")[2] for name in own}
    assert set(package.__all__) - listed == set()


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("[the page](docs/other.md#there)", True),
        ("[no page](docs/nowhere.md)", False),
        ("[no place](docs/other.md#nowhere)", False),
        ("{py:func}`dpsco_verify.auditing.audit`", True),
        ("{py:func}`dpsco_verify.auditing.no_such_function`", False),
    ],
)
def test_a_link_that_leads_nowhere_ends_the_build(tmp_path, text, passes):
    (tmp_path / "docs").mkdir()
    shutil.copy(DOCS / "conf.py", tmp_path / "docs")
    (tmp_path / "docs" / "index.md").write_text("# Index\n\n```{toctree}\nother\n../page\n```\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## There\n\n")
    (tmp_path / "page.md").write_text(f"# Page\n\n{text}\n")
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-c", tmp_path / "docs", "-b", "dummy"]
    done = subprocess.run(  # noqa: S603  ours
        [*build, tmp_path, tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is passes, done.stderr
