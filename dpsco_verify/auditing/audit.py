"""Audit any mechanism: choose an event on one part of the samples, confirm it on the other, say what would be found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing.mechanism import Mechanism, mechanism_name
from dpsco_verify.auditing.one_pair import Progress, audit_pair
from dpsco_verify.auditing.pair_search import worst_pair_of
from dpsco_verify.auditing.pairs import recognised, require_pair
from dpsco_verify.auditing.portable import Portable
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.auditing.request import (
    MISSING,
    AuditRequest,
    checked_claim,
    checked_multiple,
    checked_pairs,
    checked_relation,
)
from dpsco_verify.auditing.result import AuditResult
from dpsco_verify.choices import (
    DEFAULT_PROFILE,
    ERROR_BUDGET,
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    PAIR_EXAMPLES,
    SAMPLES,
    ClassifierName,
    Relation,
    RelationName,
)
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.execution.time_limit import Deadline
from dpsco_verify.privacy.claims import PrivacyClaim
from dpsco_verify.validation import require_integer, require_open_interval, require_positive


def audit(
    mechanism: Mechanism,
    d: Any = MISSING,
    d_prime: Any = MISSING,
    *,
    pairs: Any = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    claim: PrivacyClaim | None = None,
    relation: Relation | RelationName | OwnRelation | None = None,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[DEFAULT_PROFILE],
    seed: int = 0,
    log_density: Callable[[Any, Any], ArrayLike] | None = None,
    time_limit: float = 60.0,
    total_time_limit: float | None = None,
    epsilon_of_interest: float | None = None,
    multiple_of_interest: float = MULTIPLE_OF_INTEREST,
    features: Mapping[str, Callable[[Any], ArrayLike]] | None = None,
    classifier: ClassifierName = "built-in",
    pair_examples: int = PAIR_EXAMPLES,
    floating_point: bool = False,
    name: str | None = None,
) -> AuditResult:
    """Audit a claimed privacy guarantee of a mechanism from its outputs on neighbouring data sets.

    Parameters
    ----------
    mechanism
        ``mechanism(dataset, size, rng)`` returning `size` independent outputs, or ``per_call(f)``.
    d, d_prime
        A pair of neighbouring data sets, which must differ. Or else
    pairs
        a list of pairs, which share the level equally and of which the first violation ends the audit; or a Hypothesis
        strategy of pairs, which is searched for the worst one; that is shrunk, and judged on fresh samples; or a
        function ``pairs(rng)`` that draws one pair, from rng alone, of which many are drawn, and the worst is judged as
        it is. Equal data sets that are drawn are passed over.
    epsilon, delta
        The claim, as (ε, δ)-differential privacy. Or else
    claim
        any claim of :mod:`dpsco_verify.privacy.claims`.
    relation
        ``replace-one``, ``add-remove``, ``zero-out`` or one of :mod:`dpsco_verify.auditing.relations`: refuse pairs
        that are not such neighbours. Without one the result's `neighbours` says which the pair seems to have, or that
        it has none; the verdict is the same.
    alpha
        The probability, at most, of finding a true claim violated, over all that the audit tries.
    samples
        Outputs a data set, at most; a violation that shows earlier is reported earlier.
    seed
        The root seed.
    log_density
        ``log_density(outputs, dataset)``, shape (size,), where the mechanism has one: its ratio becomes a feature.
    time_limit
        Seconds that one call of the mechanism may take.
    total_time_limit
        Seconds that the whole audit may take, the search for a pair at most half of them. Then it ends with what it has
        found: a violation stands, and anything else is ``undecided``, without a statement of what would have been
        found. A call or a search that is under way is left behind in its thread. In its absence there is no limit.
    epsilon_of_interest
        The verdict is ``not_violated`` only if an ε of this size, at the tested δ, would have been found; ``undecided``
        otherwise. In its absence
    multiple_of_interest
        decides, a number above 1: the verdict is ``not_violated`` only if a violation of at most so many times the
        claim would have been found, of its ε at the tested δ or of its δ at the tested ε; ``undecided`` otherwise, with
        `samples_needed`. A larger one lowers the bar. A claim of ε = δ = 0 is held to the multiples of ε = 0.5.
    features
        More features by name, each a function of the outputs as the mechanism returned them.
    classifier
        The learner of the likelihood ratio: ``built-in``, ``boosting`` or ``none``.
    pair_examples
        How many pairs of a strategy, or of a function, are tried.
    floating_point
        Whether outputs are judged as the doubles that they are. By default they are judged as the real numbers that
        they stand for, since hardly any noise added in doubles survives a look at its last bits (Mironov 2012); a
        leak there is then told in `notes` and does not turn the verdict.
    name
        How reports name the mechanism.

    Raises
    ------
    InputError
        For a bad argument, a data set that is missing, or a pair that is not one.
    MechanismError
        If the mechanism does nothing but raise, hangs, changes its data set, ignores the generator or returns what
        cannot be judged.

    Notes
    -----
    Neyman and Pearson's event is estimated among features of the outputs (see :mod:`dpsco_verify.auditing.features`)
    and judged by a betting e-process (:mod:`dpsco_verify.inference.privacy_event_test`), valid at every time. If that
    has decided nothing when all `samples` are drawn, a test of this fixed number is made once
    (:mod:`dpsco_verify.inference.fixed_size_test`). They share `alpha`, which is that of one call: to call again with
    more samples is another audit, and the two err with the sum of their levels.

    Examples
    --------
    A count with noise for ε = 1, held to that and to less:

    >>> def noisy_count(dataset, size, rng):
    ...     return len(dataset) + rng.laplace(size=size)
    >>> right = audit(noisy_count, [31, 47], [31], epsilon=1.0, relation="add-remove")
    >>> print(right.verdict, round(right.mdv.epsilon, 1))
    not_violated 1.2
    >>> wrong = audit(noisy_count, [31, 47], [31], epsilon=0.5, relation="add-remove")
    >>> print(wrong.verdict, 0.5 < wrong.epsilon_lower <= 1.0)
    violated True
    """
    request = AuditRequest(
        mechanism=mechanism,
        pairs=checked_pairs(d, d_prime, pairs),
        claim=checked_claim(epsilon, delta, claim),
        relation=None if relation is None else checked_relation(relation),
        alpha=require_open_interval("alpha", alpha, 0.0, 1.0),
        samples=require_integer("samples", samples, minimum=FEWEST_SAMPLES),
        seed=require_integer("seed", seed, minimum=0),
        log_density=log_density,
        time_limit=require_positive("time_limit", time_limit),
        total_time_limit=(
            None if total_time_limit is None else require_positive("total_time_limit", total_time_limit)
        ),
        epsilon_of_interest=(
            None
            if epsilon_of_interest is None
            else require_positive("epsilon_of_interest", epsilon_of_interest)
        ),
        multiple_of_interest=checked_multiple(multiple_of_interest),
        features=dict(features or {}),
        classifier=classifier,
        pair_examples=require_integer("pair_examples", pair_examples, minimum=1),
        floating_point=floating_point,
        name=name if name is not None else mechanism_name(mechanism),
    )
    return _run(request)


def _run(request: AuditRequest) -> AuditResult:
    started = time.perf_counter()
    deadline = Deadline(request.total_time_limit)
    if isinstance(request.pairs, list):
        pairs, tried = request.pairs, len(request.pairs)
        for number, (d, d_prime) in enumerate(pairs):
            require_pair(d, d_prime, request.relation, name=f"pairs[{number}]" if len(pairs) > 1 else "")
    else:
        pair, tried = worst_pair_of(request, deadline.half())
        pairs = [pair]
    results, samples = _audited(request, pairs, deadline)
    worst = max(results, key=_badness)
    verdicts = {result.verdict for result in results}
    verdict = next(
        v for v in (AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED, AuditVerdict.NOT_VIOLATED) if v in verdicts
    )
    return replace(
        worst,
        verdict=verdict,
        alpha=request.alpha,
        p_value=min(1.0, *(result.p_value * len(pairs) for result in results)),
        # A pair that was not carried on counts with no evidence at all, 0.
        log_e_value=float(np.logaddexp.reduce([r.log_e_value for r in results]) - math.log(len(pairs))),
        samples=samples,
        pairs=len(pairs),
        pairs_tried=tried,
        searched=not isinstance(request.pairs, list),
        notes=(*worst.notes, *_notes_of_strangers(results, but=worst)),
        seconds=time.perf_counter() - started,
        again=Portable(partial(_run, request)),
    )


def _audited(
    request: AuditRequest, pairs: list[tuple[Any, Any]], deadline: Deadline
) -> tuple[list[AuditResult], int]:
    """Return the results of the pairs that were carried to an end, and the outputs a data set that all took together.

    Each pair has its part of the level, whatever becomes of the others. All pass a round before any enters the next,
    the most promising first, and the first violation ends the audit: so it costs the earlier, smaller rounds of the
    other pairs, and seldom more.
    """
    level = request.alpha / len(pairs)
    under_way = {
        number: audit_pair(request, pair, alpha=level, number=number, deadline=deadline)
        for number, pair in enumerate(pairs)
    }
    standing = dict.fromkeys(under_way, Progress(0.0, 0))
    results: list[AuditResult] = []
    while under_way:
        for number in sorted(under_way, key=lambda k: -standing[k].growth):
            try:
                standing[number] = next(under_way[number])
            except StopIteration as ended:
                del under_way[number]
                del standing[number]
                results.append(ended.value)
                if ended.value.verdict is AuditVerdict.VIOLATED:
                    under_way.clear()
                    break
    return results, sum(r.samples for r in results) + sum(p.samples for p in standing.values())


def _notes_of_strangers(results: list[AuditResult], *, but: AuditResult) -> list[str]:
    """Return what is to be said of pairs, beside the one that is shown, that are not neighbours at all."""
    told = []
    for number, result in enumerate(results):
        if result is not but and result.neighbours is not None:
            words, none = recognised(result.witness.d, result.witness.d_prime)
            told += [f"pairs[{number}]: {words}"] if none else []
    return told


def _badness(result: AuditResult) -> tuple[int, float, float]:
    """Order results: the strongest evidence first; without any, the one that would have found the least."""
    rank = {AuditVerdict.VIOLATED: 2, AuditVerdict.UNDECIDED: 1, AuditVerdict.NOT_VIOLATED: 0}[result.verdict]
    weakness = math.inf if result.mdv is None else result.mdv.epsilon
    return rank, result.log_e_value if rank == 2 else weakness, result.log_e_value
