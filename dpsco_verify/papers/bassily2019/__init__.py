"""Bassily, Feldman, Talwar and Thakurta 2019: noisy mini-batch SGD."""
