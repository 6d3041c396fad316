"""The errors that are the caller's to mend, as opposed to faults of the program.

Every message is one sentence that carries ``name=value``, what is allowed, and what to do. The command line
turns each of these into one line on stderr and exit code 2.
"""


class InputError(ValueError):
    """An argument, a data set or a file that cannot be used as it is."""


class RegimeError(InputError):
    """Parameters outside the side conditions of the theorem whose schedule was asked for."""
