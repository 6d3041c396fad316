"""Output perturbation (label related:output-perturbation): a regularised minimiser with noise of exponential norm."""
