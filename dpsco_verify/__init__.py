"""Verification of differentially private stochastic convex optimization."""

__all__ = ["__version__", "audit"]


def __getattr__(name: str) -> object:
    # By their names, when they are asked for: the package costs nothing to import, and what hangs on it does not hang
    # on the auditor. The stub beside this file has the types.
    if name in __all__:
        from importlib.metadata import EntryPoint, version  # noqa: PLC0415  25 ms

        if name == "__version__":
            return version("dpsco-verify")
        return EntryPoint(name, "dpsco_verify.auditing:audit", "").load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
