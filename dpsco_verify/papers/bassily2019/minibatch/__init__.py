"""Noisy mini-batch SGD, plain and smoothed (labels related:minibatch-sgd, related:smoothed-minibatch-sgd)."""
