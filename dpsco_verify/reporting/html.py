"""``index.html``: one self-contained page for people.

It loads nothing: styles and figures are inside, the figures compressed to a third. It runs one script of its own, which
unpacks them and filters the readings; a content security policy in the page names its digest and forbids all other
scripts, so that text of a record could do no harm even if it were not escaped. Without scripts the figures are links to
their files, and all else is there; on paper nothing is left out.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpsco_verify.evidence import CONSEQUENCE_MEANING, VERDICT_MEANING, AuditRecord, Finding, Plot, Table
from dpsco_verify.reporting import accumulation, comparison, errata, museum, numbers, standing, summary, text
from dpsco_verify.reporting.drawing import inline
from dpsco_verify.reporting.maths import typeset
from dpsco_verify.reporting.naming import PAGE, Names, link
from dpsco_verify.reporting.vocabulary import vocabulary

_GATE_WORDS = {0: ("passed", "Passed"), 1: ("failed", "Failed"), 3: ("undecided", "Undecided")}


@dataclass(frozen=True)
class HtmlReport:
    """The page."""

    name: str = "html"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (PAGE,)

    def render(self, record: AuditRecord, *, beside: frozenset[str]) -> dict[str, bytes]:
        """Return the page; it links to the files that stand beside it."""
        names = Names(record)
        departures = summary.departures(record)
        say = vocabulary(record)
        gate_class, gate_word = _GATE_WORDS.get(record.exit_code, ("failed", "Failed"))
        # Prefixes count through the page, so no two figures share an id.
        prefixes = {path: f"f{i}-" for i, path in enumerate(_figure_paths(record, names))}

        def figures(finding: Finding) -> list[tuple[Plot, str, str]]:
            return [
                (plot, path, _packed(inline(plot, prefix=prefixes[path])))
                for path, plot in names.figures(finding)
            ]

        compared = [
            (plot, path, _packed(inline(plot, prefix=prefixes[path])))
            for path, plot in names.comparison_figures()
        ]
        page = (
            _environment()
            .get_template("report.html")
            .render(
                record=record,
                names=names,
                chapters=standing.chapters(record),
                claims=summary.claims(record),
                title=summary.title(record),
                stands=standing.headline(record) if record.papers else "",
                headline=summary.headline(record),
                tally={v: n for v, n in summary.tally(record.claims).items() if n or v in say.verdicts},
                gate=summary.gate(record),
                gate_class=gate_class,
                gate_word=gate_word,
                departures=departures,
                failing=[f for f in summary.failing(record) if f.as_expected],
                errata=errata,
                museum=museum,
                comparison=comparison,
                compared=compared,
                say=say,
                consequences=CONSEQUENCE_MEANING,
                meanings={verdict: VERDICT_MEANING[verdict] for verdict in say.verdicts},
                scopes=summary.scopes(record),
                scope_meaning=summary.SCOPE_MEANING,
                words_of=say.words,
                words_of_shown=[(v.value, say.words[v]) for v in say.verdicts],
                stances=[(s.value, s.value) for s in dict.fromkeys(f.stance for f in record.claims)],
                papers=[(paper.id, paper.title) for paper in record.papers],
                # The file is ours, and the policy names its digest.
                script=Markup(_script()),  # noqa: S704  see the line above
                script_digest=_digest(_script()),
                outcome=summary.outcome,
                expectation=summary.expectation,
                reason=summary.reason,
                figures=figures,
                tables=accumulation.tables,
                numeric_column=_numeric_column,
                files=sorted(f for f in beside if "/" not in f and f != PAGE and link(f, beside)),
                link=lambda path: link(path, beside),
            )
        )
        return {PAGE: page.encode()}


@cache
def _script() -> str:
    return resources.files("dpsco_verify.reporting").joinpath("templates/report.js").read_text()


def _packed(drawn: str) -> str:
    """Return markup as the page's script unpacks it; the drawing module has escaped the text in it."""
    return base64.b64encode(gzip.compress(drawn.encode(), mtime=0)).decode()


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dpsco_verify.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "scalar": numbers.format_scalar,
        "exact": numbers.exact,
        "seconds": numbers.format_seconds,
        "line": text.one_line,
        "printable": text.printable,
        "words": text.words,
        "maths": typeset,
        "capitalize_first": lambda value: value[:1].upper() + value[1:],
    }
    environment.tests["numeric"] = _is_number
    return environment


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numeric_column(table: Table, index: int) -> bool:
    """Whether a column holds numbers and gaps only, which are then set flush right."""
    cells = [row[index] for row in table.rows if row[index] is not None]
    return bool(cells) and all(_is_number(cell) for cell in cells)


def _figure_paths(record: AuditRecord, names: Names) -> list[str]:
    own = [path for finding in record.claims for path, _ in names.figures(finding)]
    return [*own, *(path for path, _ in names.comparison_figures())]
