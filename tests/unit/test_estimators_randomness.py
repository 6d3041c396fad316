"""The noise of the estimators has the rounded normal law exactly: doubles are trusted as far as they are right."""

from __future__ import annotations

import flint
import numpy as np
import pytest
from scipy import special

from dpsco_verify.estimators import randomness
from dpsco_verify.estimators.randomness import SystemSource

DEVIATION = 1.3e5


def inverse(u):
    """Return Φ⁻¹ at a double below ½, as a ball."""
    return -flint.arb(2).sqrt() * (2 * flint.arb(float(u))).erfcinv()


@pytest.mark.slow
def test_the_doubles_err_by_less_than_a_thousandth_of_what_is_allowed():
    u = np.concatenate(
        [np.geomspace(special.ndtr(-6.0), 0.49, 3000), 0.5 - np.geomspace(2.0**-54, 0.01, 500)]
    )
    with flint.ctx.workprec(160):
        errors = [
            abs(inverse(v) - flint.arb(float(z))) / (1 - float(z))
            for v, z in zip(u, special.ndtri(u), strict=True)
        ]
    assert max(float(error.upper()) for error in errors) < 2.0**-45


def bits_given(monkeypatch, halves):
    """Let the first words be these, with the sign that keeps Φ⁻¹(u)."""
    words = np.array([2 * half + 1 for half in halves], dtype=np.uint64)
    monkeypatch.setattr(randomness, "_words", lambda count: words[:count])


def test_what_is_read_from_doubles_is_what_balls_decide(monkeypatch):
    rng = np.random.default_rng(0)
    near = [int(special.ndtr(-(j + 0.5) / DEVIATION) * 2.0**64) for j in range(0, 400_000, 997)]
    halves = [*rng.integers(2**63, size=1000).tolist(), *near]
    bits_given(monkeypatch, halves)
    decided = []

    def counted(bits, deviation, decide=randomness._decided):
        decided.append(bits)
        return decide(bits, deviation)

    monkeypatch.setattr(randomness, "_decided", counted)
    found = SystemSource().rounded_normals((len(halves),), DEVIATION)
    assert set(decided) == set(near)  # and the 1,000 others from doubles
    monkeypatch.undo()
    for half, value in zip(halves[:1000], found, strict=False):
        assert value == randomness._decided(half, DEVIATION)


@pytest.mark.parametrize(("byte", "value"), [(b"\x00", -1.0), (b"\xff", 0.0)])
def test_at_a_half_integer_more_bits_decide(monkeypatch, byte, value):
    with flint.ctx.workprec(160):
        edge = (flint.arb(0.5).sqrt() * 0.5).erfc() / 2  # Φ(−½)
        half = int((edge * flint.arb(2) ** 64).floor().unique_fmpz())
    asked = []

    def urandom(count):
        asked.append(count)
        return byte * count

    monkeypatch.setattr(randomness.os, "urandom", urandom)
    assert randomness._decided(half, 1.0) == value
    assert asked == [8]


def test_beyond_six_deviations_doubles_would_skip_values_and_are_not_asked(monkeypatch):
    bits_given(monkeypatch, [5])
    far = {float(SystemSource().rounded_normals((1,), DEVIATION)[0]) for _ in range(8)}
    assert len(far) > 4
    assert all(-9.5 < value / DEVIATION < -8.5 for value in far)
