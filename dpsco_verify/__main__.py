"""``python -m dpsco_verify`` is ``dpsco-verify``."""

from dpsco_verify.cli import main

if __name__ == "__main__":
    main(prog_name="dpsco-verify")
