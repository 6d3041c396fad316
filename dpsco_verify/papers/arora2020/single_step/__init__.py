"""Lemma 5.2: the privacy of a single step."""
