"""Lemma 3.2 of Dwork, Rothblum and Vadhan (2010), as the proof of Theorem 5.1 (``thm:dp_guarantee``) uses it."""
