"""The number of gradient queries: "linear time" in Section 6 (``sec:other_appr``) and the abstract."""
