from dpsco_verify.auditing.audit import audit as audit

__version__: str
