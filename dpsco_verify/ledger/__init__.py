"""The ledger: what a paper, a statement, a reading, a section and a decision are, and how a run decides them."""
