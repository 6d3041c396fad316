"""Mutation testing: single changes of the product, drawn at random, and which of them no test notices."""
