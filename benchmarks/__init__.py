"""How fast the fast paths are: ``python -m benchmarks`` (or ``make bench``), figures as ratios within one run."""
