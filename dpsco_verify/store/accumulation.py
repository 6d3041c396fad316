"""The e-values of a run, stored, and multiplied with those of the runs before it in the store."""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_verify.store.database import damaged
from dpsco_verify.store.e_values import Accumulated, EValue, RunEvidence, accumulate
from dpsco_verify.store.evidence_store import EvidenceStore
from dpsco_verify.store.observations import EventObservations, MeanObservations


def earlier_evidence(
    store: EvidenceStore, *, claim: str, null_hypothesis: str, code: str
) -> tuple[RunEvidence, ...]:
    """Return what the finished runs in the store say against a null hypothesis, in the order in which they ended.

    Raises
    ------
    StoreError
        If the store is damaged.
    """
    found = []
    for run, profile, seed, log_e_value, observations in store.e_values(
        claim=claim, null_hypothesis=null_hypothesis, code=code
    ):
        if not isinstance(observations, MeanObservations | EventObservations):
            raise damaged(store.path, f"an e-value of run {run}: its observations are none")
        found.append(
            RunEvidence(
                run=run, profile=profile, seed=seed, log_e_value=log_e_value, observations=observations
            )
        )
    return tuple(found)


def accumulate_in_store(
    store: EvidenceStore,
    run: int,
    *,
    claim: str,
    code: str,
    profile: str,
    seed: int,
    e_values: Mapping[str, EValue],
    with_earlier: bool,
) -> dict[str, Accumulated]:
    """Store a run's e-values by their null hypotheses' names, and return each one's product over the runs in the store.

    Without `with_earlier` they are stored all the same, for later runs, and each stands for itself.
    """
    found = {}
    for name, e_value in sorted(e_values.items()):
        earlier = (
            earlier_evidence(store, claim=claim, null_hypothesis=name, code=code) if with_earlier else ()
        )
        current = RunEvidence(
            run=run,
            profile=profile,
            seed=seed,
            log_e_value=e_value.log_e_value,
            observations=e_value.observations,
        )
        found[name] = accumulate(earlier, current, alpha=e_value.alpha)
        store.add_e_value(
            run,
            claim=claim,
            null_hypothesis=name,
            code=code,
            seed=seed,
            log_e_value=e_value.log_e_value,
            observations=e_value.observations,
        )
    return found
