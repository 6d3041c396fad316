"""The remark after Theorem 5.3 (label ``thm:main_result``): which parameters give (ε̄, δ̄)-differential privacy."""
