"""The lemma before Theorem 4.4 (``lem:stopping_time_conv``): the losses at fresh points bound the risk."""
