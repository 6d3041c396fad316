"""Audit one training run by canaries: ``python audit.py`` for the right one, ``python audit.py 1`` … ``5`` for a fault.

To copy it into a project that trains with Opacus, jax_privacy or anything else: draw the coins, add the gradients of
the canaries that are in to the per-example gradients before they are clipped, keep every noisy update, score, open the
coins. The claim is the curve of your accountant, or ``epsilon=…, delta=…, family="gaussian"``.
"""

import sys

import numpy as np
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.pld import PLDAccountant
from dp_sgd import DIMENSION, FAULTS, FIRST, RIGHT, Settings, train

from dpsco_verify.auditing import audit_canaries
from dpsco_verify.auditing.canaries import SealedCoins, canary_gradients
from dpsco_verify.privacy.claims import PrivacyCurve

CANARIES, DELTA, LEVEL = 2000, 1e-5, 0.05
# Which canaries are in which layer: in each no more than it has parameters.
LAYERS = ((slice(0, 1700), slice(0, FIRST)), (slice(1700, None), slice(FIRST, None)))


def claimed(settings):
    """Return the curve that the accountant claims for the whole run."""
    accountant = PLDAccountant()
    step = PoissonSampledDpEvent(settings.rate, GaussianDpEvent(settings.noise))
    accountant.compose(step, settings.steps)
    orders = np.linspace(0, 1.5 * accountant.get_epsilon(DELTA), 25)
    return PrivacyCurve(
        lambda e: min(1.0, accountant.get_delta(e)), orders=orders, label="the accountant's curve"
    )


def gradients_of_canaries(settings, seed):
    """Gradients in one layer each, orthogonal there, so that a layer without noise shows by all of its canaries.

    They are longer than the clipping norm: a right training cuts them to it.
    """
    found = np.zeros((CANARIES, DIMENSION))
    for own, layer in LAYERS:
        mine = found[own, layer]
        mine[:] = canary_gradients(*mine.shape, norm=20 * settings.clip, seed=seed)
    return found


def scores_of(updates, expected, gradients, settings):
    """Two kinds of scores, each a logarithm of a likelihood ratio for the canary against none.

    The first expects a canary in Poisson samples, at the rate that is told or at four times that; the second in one
    batch of every epoch, always the same. An update is the canary's gradient at the clipping norm, or not, beside noise
    of the variance that is seen in the layer at this step.
    """
    gain = np.zeros((len(gradients), len(updates)))
    for own, layer in LAYERS:
        u, e = updates[:, layer], expected[:, layer]
        rest = (u - e * ((u * e).sum(axis=1) / (e * e).sum(axis=1))[:, None]) / settings.clip
        mine = gradients[own, layer]
        along = mine / np.linalg.norm(mine, axis=1, keepdims=True) @ rest.T
        gain[own] = (along - 0.5) / rest.var(axis=1)
    by_slot = gain.reshape(len(gradients), -1, round(1 / settings.rate)).sum(axis=1)
    rates = settings.rate * np.array([1, 4])
    sampled = [np.logaddexp(np.log1p(-q), np.log(q) + gain).sum(axis=1) for q in rates]
    return {
        "Poisson samples": np.logaddexp.reduce(sampled, axis=0),
        "the same batches": np.logaddexp.reduce(by_slot, axis=1),
    }


def audit(fault=RIGHT, *, seed=0, settings=Settings()):  # noqa: B008  frozen
    """Train once, and return the audits by both kinds of scores, which share the level."""
    coins = SealedCoins(CANARIES, seed=seed)
    gradients = gradients_of_canaries(settings, seed)
    _, updates, expected = train(*coins.put_in(gradients), settings, np.random.default_rng([seed, 1]), fault)
    found = scores_of(updates, expected, gradients, settings)
    # Coins open once: both kinds together, each of which then has half of the level.
    scores_in, scores_out = coins.open(np.stack(list(found.values()), axis=1))
    claim = claimed(settings)
    return [
        audit_canaries(
            scores_in[:, i], scores_out[:, i], claim=claim, delta=DELTA, alpha=LEVEL / 2, name=kind
        )
        for i, kind in enumerate(found)
    ]


if __name__ == "__main__":
    which = RIGHT if len(sys.argv) == 1 else FAULTS[int(sys.argv[1]) - 1]
    print(which)  # noqa: T201  what the user asked for
    for result in audit(which):
        print(f"  {result.verdict.words}: {result.summary}")  # noqa: T201  the same
