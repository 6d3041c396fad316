"""The rate of the abstract."""
