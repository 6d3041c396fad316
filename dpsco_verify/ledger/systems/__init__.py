"""Shared parts of the statements about systems of :mod:`dpsco_verify.related`, whatever their paper."""
