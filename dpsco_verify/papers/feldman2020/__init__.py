"""Feldman, Koren and Talwar 2020: phases, and privacy by iteration."""
