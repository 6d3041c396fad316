"""Bubeck and Cesa-Bianchi 2012: mirror descent without privacy."""
