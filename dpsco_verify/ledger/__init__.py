"""The ledger: claims, readings, verdicts; one folder a statement of the paper; the baseline and the gate."""
