"""The output of Algorithm 1 (``alg:private_SGD``): which iterates it averages."""
