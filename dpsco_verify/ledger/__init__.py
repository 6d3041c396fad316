"""The ledger: what a paper, a statement, a reading, a section and a decision are, and how a run decides them.

Here is what a paper's own module needs to say what it states, and how each reading is decided.
"""

from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.ledger.statement import Context, Decision, OneUnit, Reading
from dpsco_verify.ledger.units import Handle, Outcomes, Units

__all__ = [
    "Context",
    "Decision",
    "Discrepancy",
    "Handle",
    "OneUnit",
    "Outcomes",
    "PaperEntry",
    "Reading",
    "Units",
    "package_expectations",
]
