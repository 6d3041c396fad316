"""Chaudhuri, Monteleoni and Sarwate 2011: output and objective perturbation."""
