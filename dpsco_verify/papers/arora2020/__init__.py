"""Arora, Marinov and Ullah 2020: noisy one-pass SGD and mirror descent."""
