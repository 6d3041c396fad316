"""Phased SGD and phased ERM (labels related:phased-sgd, related:phased-erm): Gaussian noise on each phase's output."""
