"""The bootstrap of a statistic: resamples in chunks, with progress and stop, same bits for any threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import parallel
from engine.bootstrap import intervals
from engine.bootstrap.expression import variance
from engine.bootstrap.intervals import Interval
from engine.bootstrap.statistics import Rows, Statistic
from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from engine.units import unit_of

Floats = NDArray[np.float64]
CHUNK_VALUES = 1 << 18  # of statistics' cost a chunk: some milliseconds, and arrays of 2 MB
MAX_GROUPS = 1000  # of rows that are left out together; of fewer rows each is left out alone
TELL_S = 0.03  # between two looks at the monitor
RESAMPLING, LEAVING_OUT, SAMPLING = "resampling", "leaving rows out", "sampling"
JACKKNIFE_KEY, SAMPLES_KEY = 1, 2  # of seeds, beside 0 of the resamples


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic with its values on resamples of the rows.

    Attributes
    ----------
    value : float
        Of the rows themselves; NaN where it is not defined.
    replicates : float64 (n_replicates,)
        Of each resample drawn so far; not finite where it is not defined.
    left_out : float64 (n_groups,)
        Without each row, or without each of `MAX_GROUPS` groups of many rows; empty until that is done.
    n_rows, n_wanted, seed : int
    stopped : bool
        It was stopped before everything was done.
    """

    value: float
    replicates: Floats
    left_out: Floats
    n_rows: int
    n_wanted: int
    seed: int
    stopped: bool = False

    @cached_property
    def defined(self) -> Floats:
        """The replicates that have a value."""
        return self.replicates[np.isfinite(self.replicates)]

    @cached_property
    def _ascending(self) -> Floats:
        """`defined` in order, sorted once: of a million, each end of each interval would take 10 ms else."""
        return np.sort(self.defined)

    @property
    def n_undefined(self) -> int:
        """Resamples for which the statistic is not defined, such as a correlation with a constant."""
        return len(self.replicates) - len(self.defined)

    @cached_property
    def standard_error(self) -> float:
        """Standard deviation of the replicates; NaN of fewer than two."""
        if len(self.defined) < intervals.MIN_REPLICATES:
            return np.nan
        unit = unit_of(self.defined)
        return unit * float(np.sqrt(variance(self.defined / unit))[0])

    @property
    def bias(self) -> float:
        """How much larger the replicates are than the value, on the average."""
        if not len(self.defined) or not np.isfinite(self.value):
            return np.nan
        unit = unit_of(self.defined)
        return unit * float((self.defined / unit - self.value / unit).mean())

    def interval(self, kind: str, level: float) -> Interval:
        """Return an interval of one of `intervals.KINDS`; where there is none it says why.

        Raises
        ------
        ParameterError
            `level` is not between 0 and 1, or there is no such kind.
        """
        if not 0 < level < 1:
            raise ParameterError(f"the level is {level}; enter a share between 0 and 1, such as 0.95")
        if kind not in intervals.KINDS:
            raise ParameterError(f"the interval is {kind!r}; choose one of {', '.join(intervals.KINDS)}")
        if not np.isfinite(self.value):
            return intervals.no_interval("the value itself is not defined")
        if len(self.defined) < intervals.MIN_REPLICATES:
            return intervals.no_interval("fewer than two resamples have a value")
        if kind == intervals.PERCENTILE:
            return intervals.percentile_interval(self._ascending, level)
        if kind == intervals.BASIC:
            return intervals.basic_interval(self.value, self._ascending, level)
        if not len(self.left_out):
            return intervals.no_interval("rows were not left out yet")
        return intervals.bca_interval(self.value, self._ascending, self.left_out, level)


def bootstrap(
    statistic: Statistic, n_replicates: int = 1000, *, seed: int, n_jobs: int | None = None,
    monitor: FitMonitor | None = None,
) -> Bootstrap:  # fmt: skip
    """Resample the rows of a statistic with equal chance, and leave them out one by one for BCa.

    Events tell the phase, and `so_far` returns the `Bootstrap` by then. A stop keeps what is done.

    Raises
    ------
    ParameterError
        `n_replicates` is no whole number from 2 on.
    DataError
        There are fewer than two rows.
    """
    n_rows = statistic.n_rows
    _check_count(n_replicates, "resamples")
    if n_rows < 2:
        raise DataError(f"there is {n_rows} row to resample; two at least are needed")
    value = float(statistic.of(np.arange(n_rows)[None])[0])
    groups, chunk = _groups(n_rows, seed), max(CHUNK_VALUES // statistic.cost, 1)
    teller = _Teller(monitor or NULL_MONITOR, n_replicates + len(groups))
    empty = np.empty(0)

    def so_far(replicates: Floats, left_out: Floats = empty, stopped: bool = False) -> Bootstrap:
        return Bootstrap(value, replicates, left_out, n_rows, n_replicates, seed, stopped)

    draw = partial(_of_resamples, statistic, seed, n_replicates, chunk)
    replicates = _in_chunks(draw, n_replicates, chunk, n_jobs, teller.begin(RESAMPLING, 0, so_far))
    if len(replicates) < n_replicates:
        return so_far(replicates, stopped=True)
    leave_out = partial(_without_groups, statistic, groups, chunk)
    left_out = _in_chunks(
        leave_out, len(groups), chunk, n_jobs,
        teller.begin(LEAVING_OUT, n_replicates, lambda _left_out: so_far(replicates)),
    )  # fmt: skip
    is_whole = len(left_out) == len(groups)
    return so_far(replicates, left_out if is_whole else empty, stopped=not is_whole)


def repeated_samples(
    draw: Callable[[np.random.Generator, int, int], Floats], n_rows: int, n_samples: int, *, seed: int,
    n_jobs: int | None = None, monitor: FitMonitor | None = None,
) -> Floats:  # fmt: skip
    """Return a statistic's value on fresh samples from a known distribution, those done before a stop.

    Parameters
    ----------
    draw : callable
        ``draw(rng, n_samples, n_rows)`` draws samples and returns the value of each.
    monitor : FitMonitor, optional
        Its events' `so_far` returns the values by then.
    """
    _check_count(n_samples, "samples")
    chunk = max(CHUNK_VALUES // n_rows, 1)
    teller = _Teller(monitor or NULL_MONITOR, n_samples)

    def draw_chunk(chunk_idx: int) -> Floats:
        n = min(chunk, n_samples - chunk_idx * chunk)
        return draw(_rng(seed, SAMPLES_KEY, chunk_idx), n, n_rows)

    return _in_chunks(draw_chunk, n_samples, chunk, n_jobs, teller.begin(SAMPLING, 0, np.asarray))


def _check_count(n: int, noun: str) -> None:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < intervals.MIN_REPLICATES:
        raise ParameterError(f"the number of {noun} is {n!r}; enter a whole number from 2")


def _rng(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def resampled_rows(seed: int, chunk_idx: int, n_resamples: int, n_rows: int) -> Rows:
    """Return the rows of a chunk's resamples: int64 (n_resamples, n_rows)."""
    return _rng(seed, 0, chunk_idx).integers(0, n_rows, (n_resamples, n_rows))


def _of_resamples(statistic: Statistic, seed: int, n_replicates: int, chunk: int, chunk_idx: int) -> Floats:
    n = min(chunk, n_replicates - chunk_idx * chunk)
    return statistic.of(resampled_rows(seed, chunk_idx, n, statistic.n_rows))


def _groups(n_rows: int, seed: int) -> list[Rows]:
    """Return the rows that are left out together; those of one size follow each other."""
    if n_rows <= MAX_GROUPS:
        return list(np.arange(n_rows)[:, None])
    return np.array_split(_rng(seed, JACKKNIFE_KEY).permutation(n_rows), MAX_GROUPS)


def _without_groups(statistic: Statistic, groups: list[Rows], chunk: int, chunk_idx: int) -> Floats:
    """Return the statistic without each group of a chunk; samples of one size are worked out together."""
    values, sized = [], dict[int, list[Rows]]()
    for group in groups[chunk_idx * chunk : (chunk_idx + 1) * chunk]:
        sized.setdefault(len(group), []).append(group)
    for same in sized.values():
        is_kept = np.ones((len(same), statistic.n_rows), np.bool_)
        is_kept[np.arange(len(same))[:, None], np.array(same)] = False
        values.append(statistic.of(np.nonzero(is_kept)[1].reshape(len(same), -1)))
    return np.concatenate(values)


class _Teller:
    """Tells a monitor how far the work is, at most about thirty times a second."""

    def __init__(self, monitor: FitMonitor, n_steps: int) -> None:
        self._monitor, self._n_steps = monitor, n_steps
        self._began, self._told = time.monotonic(), -np.inf
        self._phase, self._done_before = "", 0
        self._so_far: Callable[[Floats], Any] = np.asarray
        self.is_stopped = False

    def begin(self, phase: str, done: int, so_far: Callable[[Floats], Any]) -> _Teller:
        """Go on with another phase, before which so many steps were done."""
        self._phase, self._done_before, self._so_far = phase, done, so_far
        self._told = -np.inf  # the first values of a phase are told at once
        return self

    def tell(self, values: Floats, is_last: bool = False) -> None:
        """Tell of a phase's values by now, if it is time; copies only what is told."""
        now = time.monotonic()
        if not is_last and now - self._told < TELL_S:
            return
        self._told, done = now, self._done_before + len(values)
        so_far = partial(self._so_far, values.copy())
        event = IterationEvent(
            self._phase, done, self._n_steps, done / self._n_steps, now - self._began, so_far=so_far
        )
        self.is_stopped = self._monitor.on_iteration(event) or self.is_stopped


def _in_chunks(
    work: Callable[[int], Floats], n_values: int, chunk: int, n_jobs: int | None, teller: _Teller
) -> Floats:
    """Return the values of all chunks, or of those done when it was stopped."""
    found, n_done = np.empty(n_values), 0

    def poll() -> None:
        teller.tell(found[:n_done])

    results = parallel.map_tasks(work, range(-(-n_values // chunk)), n_jobs, poll)
    for values in results:
        found[n_done : n_done + len(values)] = values
        n_done += len(values)
        teller.tell(found[:n_done], is_last=n_done == n_values)
        if teller.is_stopped:
            break
    results.close()  # type: ignore[attr-defined]
    return found[:n_done].copy()
