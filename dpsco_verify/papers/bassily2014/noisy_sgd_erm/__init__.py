"""Noisy SGD for the empirical risk (label related:noisy-sgd-erm), with n² steps or fewer."""
