"""The inequality ``e^x − 1 ≤ 2x`` for 0 ≤ x ≤ 1.256, from the proof of Theorem 5.1 (``thm:dp_guarantee``)."""
