"""How much of ``utility`` each profile does."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.choices import Profile


@dataclass(frozen=True, kw_only=True)
class Work:
    """The sizes and noises of the cells with their runs; the trials of the search, with their runs and sizes."""

    sizes: tuple[int, ...]
    sigmas: tuple[float, ...]
    runs: int
    trials: int
    search_runs: int
    confirm_runs: int
    largest_n: int


WORK = {
    Profile.QUICK: Work(
        sizes=(16, 64, 256),
        sigmas=(0.1, 1.0),
        runs=200,
        trials=24,
        search_runs=50,
        confirm_runs=1000,
        largest_n=128,
    ),
    Profile.STANDARD: Work(
        sizes=(16, 64, 256, 1024),
        sigmas=(0.1, 1.0, 10.0),
        runs=400,
        trials=80,
        search_runs=100,
        confirm_runs=4000,
        largest_n=400,
    ),
    Profile.DEEP: Work(
        sizes=(16, 33, 64, 128, 256, 512, 1024, 2048),
        sigmas=(0.01, 0.1, 1.0, 3.0, 10.0),
        runs=1000,
        trials=1000,
        search_runs=200,
        confirm_runs=20_000,
        largest_n=2000,
    ),
}
