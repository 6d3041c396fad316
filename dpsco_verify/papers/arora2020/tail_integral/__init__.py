"""The tail at all later times, from the proof of Theorem 4.1 (``thm:bins_and_balls``)."""
