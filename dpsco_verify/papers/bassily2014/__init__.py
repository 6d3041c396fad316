"""Bassily, Smith and Thakurta 2014: noisy SGD for empirical risk."""
