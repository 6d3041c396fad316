"""Hold a private optimiser to its claims on a bank of hard problems."""

from dpsco_verify.guarantees.optimiser.bank import BANK, BankProblem
from dpsco_verify.guarantees.optimiser.check import check_optimiser
from dpsco_verify.guarantees.optimiser.report import OptimiserReport, Trial

__all__ = ["BANK", "BankProblem", "OptimiserReport", "Trial", "check_optimiser"]
