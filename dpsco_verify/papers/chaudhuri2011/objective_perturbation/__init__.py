"""Objective perturbation (label related:objective-perturbation): the minimiser of a randomly tilted objective."""
