"""The auditor on the zoos of DP-Sniper, StatDP and DP-Auditorium, beside what those testers find.

DP-Sniper's figures are of its own program, StatDP's of the procedure that it published (:mod:`benchmarks.statdp`), in
the same run and from as many outputs, 1.3·10⁶ in all at level 0.05. DP-Auditorium's zoo has 10⁴ outputs a data set.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.power_limit import Law, most_power, samples_for
from benchmarks.record import Row, row
from benchmarks.size import Size
from benchmarks.statdp import log_p_value
from benchmarks.zoo_cases import AUDITORIUM, SNIPER, STAT, Case
from benchmarks.zoo_laws import LAWS
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit, epsilon_lower_bound

GROUP = "zoos"
_LEAST_P = 1e-300
"""Smaller p-values than this count as this: doubles, in which StatDP's own program and our levels are, end there."""
_NEAR = 100.0
"""How many times StatDP's our p-value may be."""
_SMALL = 1e-6
_FEW, _MANY = 10_000, 1_000_000


def limits(size: Size) -> Iterator[Row]:
    """Yield how many outputs a data set any test needs to refute half of ε, and what it can do with ours."""
    for case, law in _finite()[:: size.of(1, 5)]:
        powers = [most_power(law, 0.5 * case.true, samples, _SMALL) for samples in (_FEW, _MANY)]
        needed = samples_for(law, 0.5 * case.true, _SMALL, power=0.5)
        note = "power at most " + ", ".join(
            f"{power:.2g} with {n:,}" for power, n in zip(powers, (_FEW, _MANY), strict=True)
        )
        yield row("zoo limits", f"any test, power ½: {case.name}", [float(needed)], unit="outputs", note=note)


def rows(size: Size) -> Iterator[Row]:
    """Yield our bounds beside DP-Sniper's, and how many of each zoo's faults are found."""
    many, few, seeds = size.of(_MANY, 2_000), size.of(_FEW, 1_000), range(size.of(3, 1))
    yield from _bounds(many, seeds)
    finite = [case for case, _ in _finite()]
    for samples in (few, many):
        powers = [most_power(law, 0.5 * case.true, samples, _SMALL) for case, law in _finite()]
        found = [
            [_audited(case, 0.5 * case.true, _SMALL, samples, seed) for case in finite] for seed in seeds
        ]
        name = f"half of ε refuted at α = 1e-6 by {samples:,} samples, of {len(finite)}"
        note = f"no test finds more than {sum(powers):.3g} on average"
        yield _count(name, finite, found, at_least=float(sum(power >= 0.5 for power in powers)), note=note)
    samples = size.of(650_000, 1_000)
    stat = [[_audited(case, case.claim, 0.05, samples, seed) for case in STAT] for seed in seeds]
    yield _count("StatDP's faults found, of 11", STAT, stat, at_least=11)
    yield _p_values(samples, seeds)
    # Audits of so few outputs are quick, and a mean that divides by a noisy number is not found at every seed.
    more = range(size.of(24, 1))
    auditorium = [[_audited(case, case.claim, 0.05, few, seed) for case in AUDITORIUM] for seed in more]
    hits = sum(_found(result) for of_seed in auditorium for result in of_seed)
    note = f"{hits / len(more):.3g} on average"
    yield _count("DP-Auditorium's faults found, of 7", AUDITORIUM, auditorium, at_least=7, note=note)


def _p_values(samples: int, seeds: Sequence[int]) -> Row:
    """Return of how many of StatDP's mechanisms our p-value is at most a hundred times its own, for each seed."""
    counts, notes = [], []
    for seed in seeds:
        near = 0
        for number, case in enumerate(STAT):
            rng = np.random.default_rng((seed, number))
            log_p = log_p_value(case.mechanism, case.pair, case.view, case.claim, samples, rng)
            log_p = max(log_p, math.log(_LEAST_P))
            # A test ends when it is sure enough for its level, so that a p-value shows at a level of its size alone.
            wanted = _NEAR * math.exp(log_p)
            met = wanted >= 1.0 or _found(_audited(case, case.claim, wanted, samples, seed))
            near += met
            notes += [] if met else [f"{case.name} (StatDP {math.exp(log_p):.1e}, seed {seed})"]
        counts.append(float(near))
    note = f"beyond: {', '.join(notes)}" if notes else ""
    return row(GROUP, "p at most a hundred times StatDP's, of 11", counts, unit="1", at_least=11.0, note=note)


def _found(result: AuditResult) -> bool:
    return result.verdict is AuditVerdict.VIOLATED


def _finite() -> list[tuple[Case, Law]]:
    return [(case, LAWS[case.name]()) for case in SNIPER if math.isfinite(case.true)]


def _bounds(samples: int, seeds: Sequence[int]) -> Iterator[Row]:
    lost, slower = [], []
    for case in SNIPER:
        started = time.process_time()
        found = [
            epsilon_lower_bound(case.mechanism, case.pair, alpha=0.1, samples=samples, seed=seed)
            for seed in seeds
        ]
        seconds = (time.process_time() - started) / len(seeds)
        note = f"true {case.true:.3g}, published {case.published:.3g}; {seconds:.1f} s, DP-Sniper {case.peer_seconds} s"
        yield row(GROUP, f"lower bound: {case.name}", found, unit="1", at_least=case.peer, note=note)
        lost += [case.name] if sorted(found)[len(found) // 2] < case.peer else []
        slower += [case.name] if seconds > case.peer_seconds else []
    note = f"below: {', '.join(lost)}" if lost else ""
    won = float(len(SNIPER) - len(lost))
    yield row(GROUP, "lower bounds at least DP-Sniper's, of 20", [won], unit="1", at_least=20.0, note=note)
    note = "processor's time against its seconds on another day" + (
        f"; more: {', '.join(slower)}" if slower else ""
    )
    quick = float(len(SNIPER) - len(slower))
    yield row(GROUP, "in no more time than DP-Sniper, of 20", [quick], unit="1", at_least=20.0, note=note)


def _audited(case: Case, claim: float, alpha: float, samples: int, seed: int) -> AuditResult:
    return audit(case.mechanism, *case.pair, epsilon=claim, alpha=alpha, samples=samples, seed=seed)


def _count(
    name: str,
    cases: Sequence[Case],
    results: Sequence[Sequence[AuditResult]],
    *,
    at_least: float,
    note: str = "",
) -> Row:
    """Return how many of the cases are found, for each seed, and which are missed by all of them."""
    found = [[_found(result) for result in of_seed] for of_seed in results]
    missed = [case.name for k, case in enumerate(cases) if not any(of_seed[k] for of_seed in found)]
    note = "; ".join(part for part in (note, f"never found: {', '.join(missed)}" if missed else "") if part)
    counts = [float(sum(of_seed)) for of_seed in found]
    return row(GROUP, name, counts, unit="1", at_least=at_least, note=note)
