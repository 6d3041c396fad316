"""Make the files of a statement: ``make new-statement PAPER=dwork2014 NAME=my-lemma``.

Nothing that is made can pass for verified, and the tests say what is missing: texts are empty, the verdict is
inconclusive, the witness has no checker, and there is no expectation.
"""

import re
import sys
from pathlib import Path

CERTIFICATES = '''"""Witnesses about ``{id}``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

from dpsco_verify.evidence.checker import Shows, Witness


class {kind}(Witness, frozen=True, kw_only=True):
    """The inequality, and its proof; then fields, and ``sides``, which computes both sides from them alone."""

    readings: ClassVar[dict[str, int]] = {{"printed": 0}}
    claim_id: ClassVar[str] = "{id}"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = ""
    argument: ClassVar[str] = ""
'''

STATEMENT = '''"""What the statement says, and where it stands ()."""

from __future__ import annotations

from dpsco_verify.evidence import Stance, Verdict
from dpsco_verify.ledger.statement import Context, Decision, OneUnit, Reading
from dpsco_verify.ledger.units import Handle, Units
from dpsco_verify.papers.{paper}.{folder}.certificates import {kind}


def examine() -> float:
    """Compute what decides the statement."""
    return 0.0


class {name}(OneUnit[None, float]):
    """``{id}``."""

    id = "{id}"
    title = ""
    reference = ""
    label = ""  # of the paper's source; it stands in the module's docstring too
    text = ""
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="",
            statement="",
            method="",
        ),
    )
    witness_kinds = ({kind},)

    def plan(self, reading: Reading[None], context: Context, units: Units) -> Handle[float]:
        """Plan the examination."""
        return units.add("examine", examine, {{}})

    def decide(self, reading: Reading[None], found: float) -> Decision:
        """Decide by what was found; what is certified or refuted has a witness."""
        return Decision(verdict=Verdict.INCONCLUSIVE, summary="nothing was examined", evidence={{}})
'''


def make(root, paper, name):
    """Make the folder of a statement, and its line in the paper's list; return the files."""
    home = root / "dpsco_verify" / "papers" / paper
    listed = home / "paper.py"
    if not listed.exists():
        known = sorted(path.parent.name for path in home.parent.glob("*/paper.py"))
        sys.exit(f"PAPER={paper!r} is not a paper; give one of {', '.join(known)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        sys.exit(f"NAME={name!r} is not an id; give words of a-z and 0-9 that hyphens join, such as my-lemma")
    folder, class_ = name.replace("-", "_"), name.title().replace("-", "")
    if (home / folder).exists():
        sys.exit(f"NAME={name!r} is taken: {home / folder} exists; give another")
    text = listed.read_text(encoding="utf-8")
    start = text.index("statements=(") + len("statements=(")
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    head = text[start : end - 1].rstrip().removesuffix(",")
    text = f"{text[:start]}{head},\n        {class_}(),\n    {text[end - 1 :]}"
    line = f"from dpsco_verify.papers.{paper}.{folder}.statement import {class_}\n"
    at = text.index("\nPAPER = ")
    listed.write_text(f"{text[:at].rstrip()}\n{line}\n{text[at:].lstrip()}", encoding="utf-8")
    words = {"paper": paper, "id": name, "folder": folder, "name": class_, "kind": f"{class_}Witness"}
    (home / folder).mkdir()
    made = {"__init__.py": '"""{id}."""\n', "certificates.py": CERTIFICATES, "statement.py": STATEMENT}
    for file, template in made.items():
        (home / folder / file).write_text(template.format(**words), encoding="utf-8")
    return [listed, *(home / folder / file for file in made)]


if __name__ == "__main__":
    for path in make(Path(__file__).parents[1], *sys.argv[1:]):
        print(path.relative_to(Path(__file__).parents[1]))
    print("what is missing: python -m pytest tests/contract/test_ledger_statements.py -k", sys.argv[2])
