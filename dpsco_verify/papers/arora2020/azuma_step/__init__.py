"""The Azuma exponent in the proof of Theorem 5.1 (``thm:dp_guarantee``)."""
