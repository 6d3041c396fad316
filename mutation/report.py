"""The score of a sample, with its interval, and the table of what was not noticed."""

from __future__ import annotations

from collections import Counter

from scipy.stats import binomtest

from mutation.mutants import Equivalent
from mutation.trial import NOTICED, Result


def score(results: list[Result], equivalent: list[Equivalent]) -> tuple[list[Result], str]:
    """Return what was not noticed and is not listed as equivalent, and the sentence with the score."""
    listed = {(each.path, each.definition, each.before, each.after) for each in equivalent}

    def is_listed(result: Result) -> bool:
        mutant = result.mutant
        return (mutant.path, mutant.definition, mutant.before, mutant.after) in listed

    judged = [result for result in results if result.outcome in NOTICED or not is_listed(result)]
    noticed = [result for result in judged if result.outcome in NOTICED]
    counts = Counter(str(result.outcome) for result in judged)
    parts = [f"{number} {name}" for name, number in counts.most_common()]
    if len(judged) < len(results):
        parts.append(f"{len(results) - len(judged)} equivalent, which do not count")
    sentence = f"{len(results)} mutants: {', '.join(parts) or 'none'}"
    if judged:
        low, high = binomtest(len(noticed), len(judged)).proportion_ci(0.95, method="exact")
        sentence += f"; noticed {len(noticed) / len(judged):.1%}, 95 % interval {low:.1%} to {high:.1%}"
    return [result for result in judged if result.outcome not in NOTICED], sentence


def table(missed: list[Result]) -> str:
    """Return the mutants that no test noticed, each as a difference."""
    blocks = []
    for result in sorted(missed, key=lambda result: result.mutant.name):
        mutant = result.mutant
        difference = [f"-{line}" for line in mutant.before.splitlines()]
        difference += [f"+{line}" for line in mutant.after.splitlines()]
        place = f"{mutant.path}:{mutant.line}" + (f", `{mutant.definition}`" if mutant.definition else "")
        tried = f"{result.outcome}, {result.files} test files"
        blocks.append("\n".join([f"## {place}", "", tried, "", "```diff", *difference, "```", ""]))
    return "\n".join(blocks)
