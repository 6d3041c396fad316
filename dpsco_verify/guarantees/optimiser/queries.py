"""How many gradients a run asks for: counted in the loss, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from dpsco_verify.execution import stream
from dpsco_verify.guarantees.optimiser.fits import Claim, Optimiser, Place, RefusedError
from dpsco_verify.guarantees.optimiser.risk import Instance
from dpsco_verify.guarantees.result import GuaranteeResult, exact
from dpsco_verify.problems import Loss
from dpsco_verify.problems.losses.loss import CountedLoss
from dpsco_verify.validation import require_positive


def judge_queries(
    optimiser: Optimiser, places: Sequence[Instance], claim: Claim, *, seed: int
) -> GuaranteeResult | str:
    """Judge, exactly, whether no run asks for more gradients than claimed; or say why that cannot be seen."""
    if not optimiser.takes_loss or optimiser.program is not None:
        return "it takes no loss, whose gradients could be counted"
    worst_ratio, told, counted = 0.0, "", 0
    for instance in places:
        bound = require_positive(
            f"gradient_queries on {instance.words}", claim.at(instance.place, instance.n)
        )
        loss = CountedLoss(instance.problem.population.loss)
        rng = stream(seed, f"optimiser/queries/{instance.problem.id}/{instance.n}")
        place = Place(
            task=instance.place.task,
            epsilon=instance.place.epsilon,
            delta=instance.place.delta,
            loss=cast(Loss, loss),
        )
        try:
            optimiser.run(instance.problem.population.sample(rng, (1, instance.n)), place, rng)
        except RefusedError:
            continue
        counted += 1
        if loss.queries / bound > worst_ratio or not told:
            worst_ratio = loss.queries / bound
            told = f"on {instance.words} a run asked for {loss.queries:,} gradients, of {bound:,.6g} claimed"
    if not counted:
        return "it refused all instances"
    return exact(
        name=optimiser.name,
        claim="no run asks for more gradients than claimed",
        seen=told,
        counterexample=told if worst_ratio > 1.0 else None,
        detectable=f"any excess in the {counted} runs that were counted would have been seen",
        samples=counted,
        seed=seed,
    )
