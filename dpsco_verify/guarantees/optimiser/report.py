"""What the checks of an optimiser found, as one value: the table, the picture, the verdict and the exit code."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ParamSpec

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import AuditVerdict, Axis, Column, LinePlot, Scale, Series, SeriesStyle, Table
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.guarantees.result import GuaranteeResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The optimiser on a problem with n points: the mean excess risk of a few runs, and what was claimed of it.

    The first `runs` choose the worst instance and judge nothing; of the worst, fresh ones judge. `bound` is None where
    nothing is claimed, and `ratio` is the mean over the bound.

    Examples
    --------
    >>> Trial(problem="drift", n=100, dimension=1, excess=0.5, bound=0.1, runs=40).ratio
    5.0
    """

    problem: str
    n: int
    dimension: int
    excess: float
    bound: float | None
    runs: int

    @property
    def ratio(self) -> float | None:
        """The mean excess risk over the claimed bound."""
        return None if self.bound is None else self.excess / self.bound


@dataclass(frozen=True, kw_only=True)
class OptimiserReport:
    """What all checks of an optimiser found.

    Attributes
    ----------
    name
        The optimiser.
    results
        One a claim, in the order in which they were checked.
    trials
        The search for the worst instance.
    skipped
        Claims that were not checked, each with the reason; a claim that was made and not checked leaves the optimiser
        undecided.
    alpha
        The probability, at most, that an optimiser of which every claim is true is found violated.
    epsilon, delta, seed
        As they were given.
    seconds
        Wall-clock time.
    again
        Repeats the checks.

    Examples
    --------
    >>> start = lambda data, L, D, epsilon, delta, rng: np.zeros(data.shape[1])
    >>> report = check_optimiser(start, problems=["drift"], losses=["Linear"], sizes=[100], privacy=False)
    >>> [(result.kind, result.verdict.value) for result in report.results]
    [('deterministic_given_seed', 'not_violated'), ('in_set', 'not_violated'), ('permutation', 'not_violated')]
    """

    name: str
    results: tuple[GuaranteeResult, ...]
    trials: tuple[Trial, ...]
    skipped: tuple[tuple[str, str], ...]
    alpha: float
    epsilon: float
    delta: float
    seed: int
    seconds: float = field(default=0.0, compare=False)
    again: Callable[[], OptimiserReport] | None = field(default=None, repr=False, compare=False)

    __bool__ = no_truth_value("report.verdict is AuditVerdict.NOT_VIOLATED")

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: all but the way to repeat it."""
        return vars(self) | {"again": None}

    def reproduce(self) -> OptimiserReport:
        """Check the optimiser again: the same seed, hence the same report."""
        if self.again is None:
            raise InputError("again=None: this report does not hold its checks; make the call anew")
        return self.again()

    @property
    def verdict(self) -> AuditVerdict:
        """``violated`` if any claim is, else ``undecided`` if any could not be judged, else ``not_violated``."""
        verdicts = {result.verdict for result in self.results}
        if AuditVerdict.VIOLATED in verdicts:
            return AuditVerdict.VIOLATED
        if AuditVerdict.UNDECIDED in verdicts or self.skipped or not self.results:
            return AuditVerdict.UNDECIDED
        return AuditVerdict.NOT_VIOLATED

    @property
    def exit_code(self) -> ExitCode:
        """0 if no claim is violated, 1 if one is, 3 if one could not be judged."""
        return {
            AuditVerdict.NOT_VIOLATED: ExitCode.AS_EXPECTED,
            AuditVerdict.VIOLATED: ExitCode.NOT_AS_EXPECTED,
            AuditVerdict.UNDECIDED: ExitCode.UNDECIDED,
        }[self.verdict]

    def result(self, kind: str) -> GuaranteeResult:
        """Return what was found about a claim: ``risk``, ``privacy``, ``in_set``, ….

        Raises
        ------
        KeyError
            If it was not checked.
        """
        for result in self.results:
            if result.kind == kind:
                return result
        raise KeyError(kind)

    def plot(self) -> Figure:
        """Return a matplotlib figure of the search: the mean excess risk over the claimed bound, by n.

        Raises
        ------
        InputError
            If no risk was claimed.
        """
        from dpsco_verify.reporting.drawing.lines import draw_lines  # noqa: PLC0415  brings in matplotlib

        if not any(trial.bound is not None for trial in self.trials):
            raise InputError("risk=None: no excess risk was claimed, so there is none to draw; give risk")
        return draw_lines(bank_plot(self))

    @property
    def summary(self) -> str:
        """What was found, in one sentence."""
        bad = [r for r in self.results if r.verdict is AuditVerdict.VIOLATED]
        if bad:
            told = "; ".join(f"{r.kind}: {r.claim}, but {r.counterexample}" for r in bad)
            return f"{self.name} breaks {len(bad)} of {len(self.results)} claims, with confidence 1 − {self.alpha:.3g}: {told}"  # noqa: E501  a line that is printed
        if self.verdict is AuditVerdict.UNDECIDED:
            left = [r.kind for r in self.results if r.verdict is AuditVerdict.UNDECIDED]
            left += [kind for kind, _ in self.skipped]
            return f"{self.name}: undecided, as {', '.join(left) or 'nothing'} could not be judged"
        return (
            f"{self.name} keeps {len(self.results)} claims, as far as was looked, at level {self.alpha:.3g}"
        )

    def __str__(self) -> str:
        lines = [self.summary, ""]
        for r in self.results:
            what = r.counterexample if r.verdict is AuditVerdict.VIOLATED else f"{r.seen}; {r.detectable}"
            lines += [f"  {r.verdict.words:<12}  {r.kind}: {r.claim}", f"                {what}"]
        lines += [f"  not checked   {kind}: {reason}" for kind, reason in self.skipped]
        if self.trials:
            lines += ["", f"  {'problem':<24}{'n':>7}{'d':>4}{'excess risk':>14}{'claimed':>12}{'ratio':>9}"]
            for t in self.trials:
                bound = "" if t.bound is None else f"{t.bound:.4g}"
                ratio = "" if t.ratio is None else f"{t.ratio:.3f}"
                lines.append(
                    f"  {t.problem:<24}{t.n:>7}{t.dimension:>4}{t.excess:>14.4g}{bound:>12}{ratio:>9}"
                )
        return "\n".join(lines)


def bank_plot(report: OptimiserReport) -> LinePlot:
    """Return the figure of the search: the mean excess risk over the claimed bound, by n, a curve for each problem."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for trial in report.trials:
        if trial.ratio is not None:
            curves.setdefault(trial.problem, []).append((float(trial.n), trial.ratio))
    sizes = sorted({n for points in curves.values() for n, _ in points})
    series = [
        Series(name="claimed", x=tuple(sizes), y=tuple(1.0 for _ in sizes), style=SeriesStyle.BOUND),
        *(
            Series(
                name=problem,
                x=tuple(n for n, _ in points),
                y=tuple(ratio for _, ratio in points),
                style=SeriesStyle.LINE if len(points) > 1 else SeriesStyle.POINTS,
            )
            for problem, points in curves.items()
        ),
    ]
    return LinePlot(
        id="bank",
        title=f"{report.name}: mean excess risk over the claimed bound",
        caption=f"Of {report.trials[0].runs} runs of each instance, which choose the worst one and judge nothing.",
        x_axis=Axis(label="n", scale=Scale.LOG),
        y_axis=Axis(label="mean excess risk / bound"),
        series=tuple(series),
    )


def bank_table(report: OptimiserReport) -> Table:
    """Return the table of the search, a row for each instance."""
    columns = ("problem", "n", "d", "mean excess risk", "claimed bound", "ratio")
    rows = [(t.problem, t.n, t.dimension, t.excess, t.bound, t.ratio) for t in report.trials]
    return Table(
        id="bank",
        title="the search for the worst instance",
        columns=tuple(Column(name=name) for name in columns),
        rows=tuple(rows),
    )


P = ParamSpec("P")


def repeatable(check: Callable[P, OptimiserReport]) -> Callable[P, OptimiserReport]:
    """Let the report say how long its checks took, and repeat them."""

    @functools.wraps(check)
    def repeated(*arguments: P.args, **options: P.kwargs) -> OptimiserReport:
        started = time.perf_counter()
        report = check(*arguments, **options)
        return replace(
            report,
            seconds=time.perf_counter() - started,
            again=lambda: repeated(*arguments, **options),
        )

    return repeated
