"""The museum's mechanisms, wrong and right, one family a file; all draw from the generator alone."""
