"""The plugin's options and ini values: one name, one meaning, one line when they cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsco_verify.choices import DEFAULT_PROFILE, ERROR_BUDGET, SAMPLES, Profile

_DEFAULTS = {
    "error_budget": f"{ERROR_BUDGET:g}",
    "profile": DEFAULT_PROFILE,
    "seed": "0",
    "report": "",
    "process": "own",
}
_HELP = {
    "error_budget": "The probability, at most, that any audit of the session alarms falsely (default: 1e-6).",
    "profile": "Samples per data set and audit: "
    + ", ".join(f"{name} {samples:,}" for name, samples in SAMPLES.items())
    + f" (default: {DEFAULT_PROFILE}).",
    "seed": "The root of all random numbers of the audits (default: 0).",
    "process": "Where an audit runs: in a process of its own, so that a mechanism that ends it fails the test, or in "
    "the same as the test, for what does not survive a fork (default: own).",
    "report": "Write one report of all audits of the session to this folder; replaced as a whole, or not at all.",
}
_METAVARS = {
    "error_budget": "ALPHA",
    "profile": "|".join(SAMPLES),
    "seed": "N",
    "report": "DIR",
    "process": "own|same",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the session was asked for.

    Attributes
    ----------
    error_budget
        The probability, at most, that any audit of the session alarms falsely; in (0, 1).
    profile
        How many samples an audit draws.
    seed
        The root seed, at least 0.
    report
        Where the session's report goes, from the root of the file system; None for nowhere.
    own_process
        Whether each audit has a process of its own, where the system can fork one.
    """

    error_budget: float
    profile: Profile
    seed: int
    report: Path | None
    own_process: bool

    @property
    def samples(self) -> int:
        """Samples per data set, at most, that an audit draws."""
        return SAMPLES[self.profile]


def add_options(parser: pytest.Parser) -> None:
    """Add the options ``--dpsco-…`` and the ini values ``dpsco_…``."""
    group = parser.getgroup("dpsco", "differential privacy audits (dpsco_verify)")
    for name, text in _HELP.items():
        group.addoption(_option(name), default=None, metavar=_METAVARS[name], help=text)
        parser.addini(f"dpsco_{name}", f"The same as {_option(name)}.", default="")


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings: the command line first, then the ini file, then the defaults.

    Raises
    ------
    pytest.UsageError
        In one line, for a value that cannot be used.
    """
    return Settings(
        error_budget=_error_budget(*_given(config, "error_budget")),
        profile=_profile(*_given(config, "profile")),
        seed=_seed(*_given(config, "seed")),
        report=_report(config),
        own_process=_own_process(*_given(config, "process")),
    )


def _option(name: str) -> str:
    return f"--dpsco-{name.replace('_', '-')}"


def _given(config: pytest.Config, name: str) -> tuple[str, str]:
    """Return under which name the value was given, and the value."""
    option = config.getoption(f"dpsco_{name}")
    if option is not None:
        return _option(name), str(option)
    ini = str(config.getini(f"dpsco_{name}")).strip()
    return (f"dpsco_{name}", ini) if ini else (_option(name), _DEFAULTS[name])


def _error_budget(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < 1.0:
        raise pytest.UsageError(
            f"{name}={text!r} is not a probability strictly between 0 and 1; give one, such as 1e-6"
        )
    return value


def _profile(name: str, text: str) -> Profile:
    if text not in SAMPLES:
        raise pytest.UsageError(f"{name}={text!r} is not a valid profile; give one of {', '.join(SAMPLES)}")
    return Profile(text)


def _seed(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise pytest.UsageError(f"{name}={text!r} is not a valid seed; give an integer of at least 0")
    return int(text)


def _own_process(name: str, text: str) -> bool:
    if text not in {"own", "same"}:
        raise pytest.UsageError(f"{name}={text!r} is not a valid process; give own or same")
    return text == "own"


def _report(config: pytest.Config) -> Path | None:
    name, text = _given(config, "report")
    if not text:
        if config.getoption("dpsco_report") is not None:
            raise pytest.UsageError(f"{name}={text!r} names no folder; give one, such as reports/privacy")
        return None
    # A path on the command line is the shell's, a path in a file is the file's.
    base = config.invocation_params.dir
    if name != _option("report"):
        base = config.inipath.parent if config.inipath is not None else config.rootpath
    return base / text
