"""The words of ``dpsco-verify gate``: its help, how to repeat an audit, and options for Python's keywords."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsco_verify.errors import InputError

if TYPE_CHECKING:
    from dpsco_verify.evidence import AuditRecord
    from dpsco_verify.gating.config import GateConfig
    from dpsco_verify.gating.guarantees import PlannedGuarantee
    from dpsco_verify.gating.plan import Planned, PlannedCanaries

MORE = """\b
MODULE:MECHANISM is mechanism(dataset, size, rng) and returns `size`
independent outputs: an array of shape (size, ...) or a list. The working
folder can be imported from.

\b
PAIR is module:name of a tuple (d, d_prime), a list of such tuples, a
Hypothesis strategy of them, a function that gives one, or a function of a
numpy generator that draws one; or a JSON file that holds
{"d": ..., "d_prime": ...} or a list of these.

\b
A program (--command) is started once. Each line of its standard input is a
request, {"dataset": ..., "size": n, "seed": s}; it answers with n lines on
its standard output, each one output as a JSON value: a number, a string,
true, false, null or an array of these. Numbers are doubles; NaN, Infinity
and -Infinity may be bare or strings (in data sets they are strings). All its
randomness comes from the seed, from 0 to 2^53 - 1; or else say --unseeded.
It flushes each answer, and ends when its standard input does.

\b
A configuration (--config) runs many audits on one error budget:
  [gate]
  error_budget = 1e-6             # seed = 0, profile = "quick"
  [[gate.audit]]
  mechanism = "mymodule:laplace"  # or command = "./prog"
  pair = "mymodule:pair"          # or a list of names
  epsilon = 1.0                   # delta; or rho, mu,
                                  # renyi_alpha and renyi_epsilon
  # relation, samples, name, weight, time_limit, total_time_limit,
  # epsilon_of_interest, multiple_of_interest, pair_examples, per_call,
  # floating_point, seeded, expect; relation may be
  # "mymodule:relation", of your own
In pyproject.toml the same tables stand under tool.dpsco-verify.

\b
--canaries audits training that you ran yourself, by the scores of canaries: a
CSV file with the columns score and coin (1 in, 0 out), or an NPZ file with
scores and coins, or scores_in and scores_out. Each canary was in by a fair
coin. In a configuration: [[gate.canaries]] with scores = "scores.csv", a
claim, and method, family, guesses, name, weight, expect, epsilon_of_interest
or multiple_of_interest. One run shows little at small error budgets.

\b
Other guarantees stand in a configuration, on the same error budget:
  [[gate.guarantee]]
  kind = "tail_at_most"           # or another function of
                                  # dpsco_verify.guarantees
  function = "mymodule:steps"     # or command = "./prog"
  arguments = { threshold = 100, probability = 0.01 }
  [[gate.optimiser]]
  function = "mymodule:fit"       # or command = "./prog"
  risk = "mymodule:risk"
  losses = ["Linear"]
  # privacy, gradient_queries, invariances, problems, sizes, ...
  # name, weight, time_limit, seeded, expect

\b
--optimiser holds a private optimiser to its claims on the problems that
`dpsco-verify problems` lists: MODULE:MECHANISM is then
fit(data, L, D, epsilon, delta, rng), and loss and convex_set if it takes
them; it returns a point. A program is sent the same as its data set. --risk
is bound(n, d, L, D, epsilon, delta); --epsilon and --delta are what it has
to spend. It needs no --pair.

\b
--estimate asks for no claim: for each pair it prints a lower bound on epsilon
at --delta, with its event, all with confidence 1 - error budget together.

\b
Exit codes: 0 every audit as expected: no claim violated but those of which
expect = "violated" says so; 1 at least one is not; 2 wrong usage or bad
input, or a mechanism that cannot be audited; 3 undecided; 70 broken off: the
process that judged was ended, as by a mechanism that exits, or a fault of the
program. Below 64 only what was judged as a whole.
"""

_KEYWORDS = (
    "command",
    "pair",
    "select",
    "epsilon",
    "delta",
    "rho",
    "mu",
    "renyi_alpha",
    "renyi_epsilon",
    "relation",
    "samples",
    "error_budget",
    "seed",
    "time_limit",
    "total_time_limit",
    "epsilon_of_interest",
    "multiple_of_interest",
    "name",
    "canaries",
    "method",
    "family",
    "guesses",
    "risk",
    "losses",
    "problems",
    "sizes",
)
_GIVEN = re.compile(rf"(?<![\w-])({'|'.join(_KEYWORDS)})=")
_IN_ANY_MESSAGE = {
    "wrap a function that has its own randomness in per_call(f, rng=False)": "name a function of the data set alone, "
    "with --per-call",
    "wrap a function that has its own randomness in per_call": "name a function of the data set alone, with --per-call",
    "or per_call(f)": "or with --per-call a function that returns one output",
    "per_call=True": "--per-call",
    "floating_point=True": "--floating-point",
    "seeded=False": "--unseeded",
    "a larger total_time_limit": "a larger --total-time-limit",
    "a larger time_limit": "a larger --time-limit",
    "total_time_limit=": "--total-time-limit=",
    " time_limit=": " --time-limit=",
}


def of_the_scores(record: AuditRecord) -> Iterator[str]:
    """Yield what canaries' scores look like, which is no guarantee."""
    for finding in record.claims:
        found = finding.evidence
        if "area_under_roc" in found:
            rates = ", ".join(
                f"TPR {quantity.value:.3g} at FPR {name.rpartition('_')[2]}"
                for name, quantity in found.items()
                if name.startswith("true_positive_rate_at_")
            )
            area = found["area_under_roc"].value
            yield f"{finding.title}: AUROC {area:.3g}, {rates}; of these scores, and no guarantee"


def option_name(keyword: str) -> str:
    """Return the option that stands for a keyword."""
    return f"--{keyword.replace('_', '-')}"


def in_options(error: InputError) -> str:
    """Return what an error says, with options where it names keywords.

    What a mechanism itself has said is not touched: only phrases of our own are in such messages.
    """
    from dpsco_verify.auditing import MechanismError

    text = str(error)
    if not isinstance(error, MechanismError):
        text = _GIVEN.sub(lambda match: f"{option_name(match[1])}=", text)
    return _phrased(text)


def with_options(record: AuditRecord) -> AuditRecord:
    """Return the record with options where the notes in its summaries name keywords."""
    import msgspec

    claims = tuple(msgspec.structs.replace(f, summary=_phrased(f.summary)) for f in record.claims)
    return msgspec.structs.replace(record, claims=claims)


def _phrased(text: str) -> str:
    for phrase, instead in _IN_ANY_MESSAGE.items():
        text = text.replace(phrase, instead)
    return text


def command_of(
    one: Planned | PlannedCanaries | PlannedGuarantee, chosen: GateConfig, config: Path | None
) -> str:
    """Return the command that repeats an audit."""
    import msgspec

    from dpsco_verify.cli.gate_optimiser import words_of
    from dpsco_verify.gating.entries import AuditEntry, GuaranteeEntry

    words = ["dpsco-verify", "gate"]
    entry: Any = one.entry
    if config is not None:
        words += ["--config", str(config), "--select", one.key, "--profile", chosen.profile.value]
    elif isinstance(entry, GuaranteeEntry):
        words += words_of(entry)
    else:
        if isinstance(entry, AuditEntry):
            entry = msgspec.structs.replace(entry, samples=chosen.samples(entry))
            words += [] if entry.mechanism is None else [entry.mechanism]
        for field in msgspec.structs.fields(entry):
            value = getattr(entry, field.name)
            if field.name != "mechanism" and value != field.default:
                words += _option("canaries" if field.name == "scores" else field.name, value)
    words += [*_option("error_budget", chosen.error_budget), *_option("seed", chosen.seed)]
    return shlex.join(words)


def _option(name: str, value: object) -> list[str]:
    option = "--unseeded" if name == "seeded" else option_name(name)
    if isinstance(value, bool):
        return [option]
    return [word for one in (value if isinstance(value, tuple) else (value,)) for word in (option, str(one))]
