"""Search a Hypothesis strategy of neighbouring data sets for the pair on which a score is largest, and shrink it.

The search uses the interface that Hypothesis documents, in a thread of its own: Hypothesis keeps what it knows of the
test under way by thread, so a search works in plain code, in a pytest test and within another ``@given`` test alike,
and leaves their settings, reports and statistics alone.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import math
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dpsco_verify.auditing.records import same_data
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer

try:
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity, configuration
    from hypothesis.errors import Unsatisfiable
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError(
        "a search for the worst pair needs Hypothesis; install it with: pip install dpsco-verify[strategies]"
    ) from error

_KEPT = 0.9
"""The part of the best score that the shrunk pair keeps."""
_POLL = 0.1
_FIRST = "dpsco_verify_first_pairs"
_GRACE = 2.0


class WorstPair(NamedTuple):
    """The pair that was found, its own score, and how many pairs were scored."""

    d: Any
    d_prime: Any
    score: float
    examples: int


def search_worst_pair(
    strategy: SearchStrategy[tuple[Any, Any]],
    score: Callable[[Any, Any], float],
    *,
    seed: int = 0,
    max_examples: int = 100,
    max_shrinks: int | None = None,
    enough: float = math.inf,
) -> WorstPair:
    """Return the simplest pair that scores at least 90 % of the best score found, or the best where none is positive.

    Parameters
    ----------
    strategy
        Of pairs ``(d, d_prime)``, such as those of :mod:`dpsco_verify.strategies.neighbours`.
    score
        How bad a pair is, −∞ and +∞ allowed. It leaves the data sets as they are. No pair that was accepted is scored
        again, so a score that has noise does no harm beyond its noise.
    seed
        The same seed gives the same pair, if the score is deterministic.
    max_examples
        How many pairs are scored before the best of them is shrunk.
    max_shrinks
        How many pairs are tried to shrink it; as many as `max_examples` if left out.
    enough
        A score from which on a pair is bad enough, and no further ones are drawn.

    Raises
    ------
    InputError
        If the strategy yields no pair, or what is not one, or if a score is NaN.

    Notes
    -----
    What `score` raises is raised here as it is, and at once. The score guides the search through Hypothesis's
    ``target``. Hypothesis also draws constants that it reads from the modules that are loaded, which would make the
    pair depend on what else was imported; it does not during a search. Nothing is printed and nothing stored.
    """
    if not isinstance(strategy, SearchStrategy):
        raise InputError(
            f"strategy={strategy!r} is not a Hypothesis strategy; give one of pairs of data sets"
        )
    if not callable(score):
        raise InputError(f"score={score!r} is not callable; give a function of two data sets")
    limit = require_integer("max_examples", max_examples, minimum=1)
    shrinks = limit if max_shrinks is None else require_integer("max_shrinks", max_shrinks, minimum=0)
    search = _Search(strategy, score, require_integer("seed", seed, minimum=0), limit, shrinks, enough)
    with _isolated():
        return search.result()


def with_first_pairs(
    strategy: SearchStrategy[tuple[Any, Any]], pairs: list[tuple[Any, Any]]
) -> SearchStrategy[tuple[Any, Any]]:
    """Return the strategy with pairs that a search scores before it draws any; half of its pairs at most."""
    vars(strategy)[_FIRST] = pairs
    return strategy


class _WorstPairFound(Exception):  # noqa: N818  not an error: how a property tells Hypothesis to shrink
    """The pair is bad enough."""


class _Over(BaseException):  # not an Exception: Hypothesis would shrink the pair that raised it
    """The search is to end here."""


class _Search:
    """Two runs of Hypothesis over one sequence of pairs: the first finds the best score, the second shrinks a pair."""

    def __init__(
        self,
        strategy: SearchStrategy[tuple[Any, Any]],
        score: Callable[[Any, Any], float],
        seed: int,
        max_examples: int,
        max_shrinks: int,
        enough: float,
    ) -> None:
        self._strategy = strategy
        self._score = score
        self._seed = seed
        self._first = list(vars(strategy).get(_FIRST, ()))[: max_examples // 2]
        self._max_examples = max_examples - len(self._first)
        self._max_shrinks = max_shrinks
        self._enough = enough
        self._scored: list[WorstPair] = []
        self._examples = 0
        self._cancelled = threading.Event()
        self._done = threading.Event()
        self._failure: BaseException | None = None

    def result(self) -> WorstPair:
        arguments = (self._work,)
        # The context holds numpy's error state, among others.
        threading.Thread(target=contextvars.copy_context().run, args=arguments, daemon=True).start()
        try:
            while not self._done.wait(_POLL):
                pass
        except BaseException:
            self._cancelled.set()
            self._done.wait(_GRACE)
            raise
        if self._failure is not None:
            raise self._failure
        return self._worst._replace(examples=self._examples)

    def _work(self) -> None:
        _isolated.enter_thread()
        try:
            self._find()
        except BaseException as error:  # noqa: BLE001  raised again in the caller's thread
            self._failure = error
        finally:
            _isolated.leave_thread()
            self._done.set()

    def _find(self) -> None:
        first: list[WorstPair] = []
        for pair in self._first:
            if not self._cancelled.is_set():
                first.append(self._evaluate(pair))
                if first[-1].score >= self._enough:
                    # These are the plainest pairs: there is nothing to shrink.
                    self._worst = first[-1]
                    return
        self._run(self._take, Phase.generate, Phase.target)
        if not self._scored:
            raise InputError(_NO_PAIR)
        self._worst = max((*first, *self._scored), key=lambda pair: pair.score)
        if self._worst.score > 0 and self._max_shrinks:
            shrinking = _Shrinking(self._scored, self._worst, self._max_shrinks, self._evaluate)
            self._run(shrinking.take, Phase.generate, Phase.target, Phase.shrink)
            self._worst = shrinking.smallest

    def _take(self, pair: Any) -> None:
        found = self._evaluate(pair)
        self._scored.append(found)
        if found.score >= self._enough:
            raise _Over
        _guide(found.score)

    def _evaluate(self, pair: Any) -> WorstPair:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"strategy drew {pair!r}, which is not a pair; give a strategy of (d, d_prime)")
        d, d_prime = pair
        self._examples += 1
        value = float(self._score(d, d_prime))
        if math.isnan(value):
            raise InputError(
                "score=nan for a pair of the strategy; return a number, −inf for what tells nothing"
            )
        return WorstPair(d, d_prime, value, self._examples)

    def _run(self, take: Callable[[Any], None], *phases: Phase) -> None:
        """Run Hypothesis, with the same seed each time; what `take` raises ends the run, save _WorstPairFound."""
        failures: list[BaseException] = []

        def property_of(pair: Any) -> None:
            if self._cancelled.is_set():
                raise _Over
            try:
                take(pair)
            except (_WorstPairFound, _Over):
                raise
            except BaseException as error:  # noqa: BLE001  raised again below
                failures.append(error)
                raise _Over from None

        settings = hypothesis.settings(
            max_examples=self._max_examples,
            phases=phases,
            derandomize=False,
            database=None,
            deadline=None,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            backend="hypothesis",
        )
        run = hypothesis.seed(self._seed)(settings(hypothesis.given(self._strategy)(property_of)))
        with contextlib.suppress(_WorstPairFound, _Over):
            try:
                run()
            except Unsatisfiable:
                raise InputError(_NO_PAIR) from None
        if failures:
            # Here it keeps its cause and context.
            raise failures[0]


_NO_PAIR = "strategy yields no pair of data sets; loosen its filters and assumptions"


class _Shrinking:
    """Tells Hypothesis which pairs are still bad enough, and never judges one in two ways.

    The second run repeats the first one's pairs, in their order, up to the first that is bad enough: their scores are
    known. Hypothesis then asks for smaller ones, and comes back to those that were accepted to be sure of them.
    """

    def __init__(
        self,
        scored: list[WorstPair],
        best: WorstPair,
        max_shrinks: int,
        evaluate: Callable[[Any], WorstPair],
    ) -> None:
        self._known = iter(scored)
        self._threshold = _KEPT * best.score
        self._left = max_shrinks
        self._evaluate = evaluate
        self._accepted: list[WorstPair] = []
        self._best = best

    @property
    def smallest(self) -> WorstPair:
        return self._accepted[-1] if self._accepted else self._best

    def take(self, pair: Any) -> None:
        if self._accepted:
            self._shrink(pair)
        else:
            self._repeat(pair)

    def _repeat(self, pair: Any) -> None:
        known = next(self._known, None)
        if known is None or not same_data(tuple(pair), known[:2]):
            known = self._evaluate(pair)
        if known.score >= self._threshold:
            self._accept(known)
        _guide(known.score)

    def _shrink(self, pair: Any) -> None:
        for known in reversed(self._accepted):
            if same_data(tuple(pair), known[:2]):
                self._accept(known)
        if self._left == 0:
            raise _Over
        self._left -= 1
        found = self._evaluate(pair)
        if found.score >= self._threshold:
            self._accept(found)

    def _accept(self, pair: WorstPair) -> None:
        self._accepted.append(pair)
        raise _WorstPairFound


def _guide(score: float) -> None:
    """Let Hypothesis climb, which takes finite numbers alone."""
    if score > -math.inf:
        hypothesis.target(min(score, sys.float_info.max))


class _Isolation:
    """Keeps Hypothesis from writing to the working directory, and from drawing constants of whatever is imported.

    Hypothesis has no setting for either. What a version of it does not have is left alone. The searches that run at one
    time share one of these, as the folder is the process's; only their own threads go without the constants.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches = 0
        self._undo = contextlib.ExitStack()
        self._thread = threading.local()
        self._generators: list[Any] = []

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._searches += 1
            if self._searches == 1:
                self._isolate()
        try:
            yield
        finally:
            with self._lock:
                self._searches -= 1
                if not self._searches:
                    self._undo.close()

    def enter_thread(self) -> None:
        """Mark the running thread as a search's, and let it use the generator of one that has ended.

        Hypothesis registers one for each new thread, and has all garbage collected for that.
        """
        self._thread.searches = True
        with contextlib.suppress(AttributeError, IndexError):
            _threadlocal()._hypothesis_global_random = self._generators.pop()  # noqa: SLF001  there is no other way

    def leave_thread(self) -> None:
        """Keep the running thread's generator for the next one."""
        with contextlib.suppress(AttributeError):
            self._generators.append(_threadlocal()._hypothesis_global_random)  # noqa: SLF001  the same

    def _isolate(self) -> None:
        folder = self._undo.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self._undo.callback(
            configuration.set_hypothesis_home_dir, getattr(configuration, "__hypothesis_home_directory", None)
        )
        configuration.set_hypothesis_home_dir(folder)
        with contextlib.suppress(ImportError, AttributeError):
            providers: Any = importlib.import_module("hypothesis.internal.conjecture.providers")
            none, usual = providers.Constants(), providers._get_local_constants  # noqa: SLF001  there is no other way
            self._undo.callback(setattr, providers, "_get_local_constants", usual)
            mine = self._thread
            providers._get_local_constants = lambda: none if hasattr(mine, "searches") else usual()  # noqa: SLF001  the same


def _threadlocal() -> Any:
    """Return what Hypothesis keeps for each thread."""
    core: Any = importlib.import_module("hypothesis.core")
    return core.threadlocal


_isolated = _Isolation()
