"""One-pass SGD with privacy by iteration (label related:iteration-sgd)."""
