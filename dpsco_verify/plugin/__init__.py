"""The parts of the pytest plugin; importing this imports nothing heavy, so that every pytest run starts at once."""

CARRIED = "dpsco_verify"
"""The attribute of a test's report that carries its audits between processes."""
