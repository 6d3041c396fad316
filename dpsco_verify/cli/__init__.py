"""The command line, one command a file; it imports what it needs when it needs it, so that ``--help`` is instant."""

from dpsco_verify.cli.group import main

__all__ = ["main"]
