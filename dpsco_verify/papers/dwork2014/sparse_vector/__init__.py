"""The sparse vector technique: AboveThreshold, Sparse and NumericSparse (theorems 3.23 to 3.27)."""
