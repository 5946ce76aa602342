"""Noise, bias and variance for each value of one setting: why there is a best depth, or k, or rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from engine.base import Learner, check_X
from engine.errors import ParameterError
from engine.monitor import FitMonitor
from engine.resampling import tasks
from engine.resampling.decomposition import Moments, SquaredErrorParts, ZeroOneParts, codes_of
from engine.resampling.draws import QueryRows, TrainingSets
from engine.resampling.refits import check_some_done
from engine.resampling.tasks import Failed, Refitter
from engine.staged import StagedAnswers

ROUNDS = "n_estimators"  # the setting whose smaller values are the first steps of a larger one
FEWEST_FITS = 2  # of one there is no variance

Floats = NDArray[np.float64]
Make = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Begun:
    """How far a value is: another call goes on from it, to the last bit as if it were one.

    Attributes
    ----------
    n_over : int
        Training sets that are over: the first ones, also where a fit failed.
    moments : Moments
        Of the fits that did not fail.
    error : str
        Why the first fit that failed did; "" where none did.
    """

    n_over: int
    moments: Moments
    error: str = ""

    def plus(self, result: Floats | Failed) -> Begun:
        """Return it with the next training set's answer, or why there is none."""
        if isinstance(result, Failed):
            return Begun(self.n_over + 1, self.moments, self.error or str(result))
        return Begun(self.n_over + 1, self.moments.plus(result), self.error)


@dataclass(frozen=True, eq=False)
class SettingCurve:
    """The decomposition of the error for each value of a setting.

    Attributes
    ----------
    name : str
    values : tuple
    parts : tuple of SquaredErrorParts or ZeroOneParts or None
        Of every value; None where fewer than two fits are done.
    n_sets : int
        Training sets that there were to be.
    errors : mapping of int to str
        Why fits failed: of each value the first reason, by the place of the value.
    is_staged : bool
        The values are stages of one fit a training set.
    stopped : bool
    begun : tuple of Begun
        How far every value is.
    """

    name: str
    values: tuple[Any, ...]
    parts: tuple[SquaredErrorParts | ZeroOneParts | None, ...]
    n_sets: int
    errors: Mapping[int, str] = field(default_factory=dict)
    is_staged: bool = False
    stopped: bool = False
    begun: tuple[Begun, ...] = ()

    def means(self, part: str) -> Floats:
        """Return the means of a part by name, see `Parts.means`: float64 (n_values,), NaN for None."""
        return np.array([np.nan if each is None else each.means()[part] for each in self.parts])

    @property
    def n_fits(self) -> NDArray[np.int64]:
        """Fits that each value's parts are of: int64 (n_values,), 0 for None."""
        return np.array([0 if each is None else each.n_fits for each in self.parts], np.int64)

    @property
    def best(self) -> int | None:
        """Place of the value with the smallest error, the first of equals; None while none is known."""
        errors = self.means("error")
        return None if np.isnan(errors).all() else int(np.nanargmin(errors))


def decompose_along(
    estimator: Any, sets: TrainingSets, query: QueryRows, name: str, values: Sequence[Any], *,
    make: Make | None = None, begun: Sequence[Begun | None] = (), may_fail: bool = False,
    random_state: int = 0, n_jobs: int | None = None, monitor: FitMonitor | None = None,
) -> SettingCurve:  # fmt: skip
    """Return noise, bias and variance of a model for each value of one of its settings.

    Training set by training set all values are done, so that a whole curve is there early and grows
    steadier; its `SettingCurve` is in the events' `so_far`. All values are fitted on the same training
    sets. Numbers of rounds and trees are stages of one fit; else every value is fitted anew.

    Parameters
    ----------
    estimator : estimator
    sets : TableDraws or FreshDraws
    query : QueryRows
    name : str
        A parameter of the estimator.
    values : sequence
        Each once.
    make : callable, optional
        ``make({name: value})`` returns the estimator of a value; without it, a clone with the value.
    begun : sequence of Begun or None
        How far every value is from a call that was stopped, else alike; what is over is not done again.
    may_fail : bool
        No error where all fits fail: other values are known already.
    random_state, n_jobs, monitor
        As in `engine.resampling.refits.refit`.

    Raises
    ------
    ParameterError
        The estimator has no such parameter, or the values are none, or hold one twice, or more training
        sets are over than there are.
    DataError
        The tables do not fit one another, or no fit succeeded.
    """
    _check_values(estimator, name, values, make)
    make = make or partial(_with_value, estimator)
    refitter = Refitter(estimator, sets, query.X, random_state)
    if refitter.classes is not None:
        codes_of(query.y, refitter.classes)  # before the work, not after it
    is_staged = name == ROUNDS and all(map(_is_count, values)) and is_stageable(make({name: max(values)}))
    nothing = Begun(0, Moments.none(refitter.n_query, refitter.classes))
    start = [nothing if each is None else each for each in (begun or [None] * len(values))]
    _check_begun(start, len(values), sets.n_sets)
    planned = _steps([each.n_over for each in start], sets.n_sets, is_staged=is_staged)
    empty = SettingCurve(name, tuple(values), (None,) * len(values), sets.n_sets, {}, is_staged)
    kept = _Kept(empty, planned, query, start)
    work = partial(_do, refitter, make, name, tuple(values), planned, is_staged)
    names = [_words(step, name, values, sets.n_sets) for step in planned]
    stopped = bool(planned) and tasks.run(work, names, kept.take, n_jobs, monitor)
    curve = replace(kept.curve(), stopped=stopped)
    if not stopped and not may_fail:
        check_some_done(curve.errors, len(values), len(values))
    return curve


def is_stageable(estimator: Any) -> bool:
    """Tell whether the first rounds or trees of a fit are what a fit of fewer would be.

    So they are of forests, bags, boosting and AdaBoost of trees; not where the number is chosen by early
    stopping.
    """
    if not isinstance(estimator, Learner) or estimator.combination == "rows":
        return False
    params = estimator.get_params(deep=False)
    is_plain = params.get("estimator") is None and not params.get("early_stopping")
    return ROUNDS in params and is_plain and not params.get("warm_start")


class _Step(NamedTuple):
    """A task: one training set, and one value or all that are stages of its fit, by their places."""

    number: int
    values: tuple[int, ...]


def _steps(n_over: Sequence[int], n_sets: int, *, is_staged: bool) -> list[_Step]:
    """Return what is left to be done, training set by training set."""
    planned = []
    for number in range(n_sets):
        left = tuple(at for at, n in enumerate(n_over) if n <= number)
        planned += [_Step(number, left)] * bool(left) if is_staged else [_Step(number, (at,)) for at in left]
    return planned


def _words(step: _Step, name: str, values: Sequence[Any], n_sets: int) -> str:
    of_value = f", {name} = {values[step.values[0]]}" if len(step.values) == 1 else ""
    return f"training set {step.number + 1:,} of {n_sets:,}{of_value}"


def _do(
    refitter: Refitter, make: Make, name: str, values: tuple[Any, ...], planned: Sequence[_Step],
    is_staged: bool, task: int, monitor: FitMonitor,
) -> list[Floats]:  # fmt: skip
    """Return the answers of a task's values."""
    step = planned[task]
    wanted = tuple(values[at] for at in step.values)
    model = refitter.fit(make({name: max(wanted) if is_staged else wanted[0]}), step.number, monitor)
    if not is_staged or not isinstance(model, Learner) or not model.estimators_:
        return [refitter.answer(model)] * len(wanted)  # staged: of one class, or without a tree
    return _stages(refitter, model, wanted)


def _stages(refitter: Refitter, model: Any, values: tuple[Any, ...]) -> list[Floats]:
    """Return what the first rounds say, ascending as `StagedAnswers` adds them up, in the order asked for."""
    staged = StagedAnswers(model, check_X(model, refitter.query.given))
    n_rounds, answers = len(model.estimators_), dict[Any, Floats]()
    for value in sorted(values):
        said = staged.at(min(value, n_rounds))
        answers[value] = refitter.in_place(model, said)
    return [answers[value] for value in values]


class _Kept:
    """How far every value is, as tasks come in."""

    def __init__(
        self, empty: SettingCurve, planned: Sequence[_Step], query: QueryRows, start: Sequence[Begun]
    ) -> None:
        self._empty, self._planned, self._query, self._begun = empty, planned, query, list(start)

    def take(self, task: int, result: list[Floats] | Failed) -> Callable[[], SettingCurve]:
        places = self._planned[task].values
        answers: Sequence[Floats | Failed]
        answers = [result] * len(places) if isinstance(result, Failed) else result
        for at, answer in zip(places, answers, strict=True):
            self._begun[at] = self._begun[at].plus(answer)
        return partial(_curve_of, self._empty, tuple(self._begun), self._query)

    def curve(self) -> SettingCurve:
        return _curve_of(self._empty, tuple(self._begun), self._query)


def _curve_of(empty: SettingCurve, begun: tuple[Begun, ...], query: QueryRows) -> SettingCurve:
    parts = tuple(each.moments.parts(query) if each.moments.n >= FEWEST_FITS else None for each in begun)
    errors = {at: each.error for at, each in enumerate(begun) if each.error}
    return replace(empty, parts=parts, errors=errors, begun=begun)


def _with_value(estimator: Any, setting: Mapping[str, Any]) -> Any:
    return clone(estimator).set_params(**setting)


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


def _check_values(estimator: Any, name: str, values: Sequence[Any], make: Make | None) -> None:
    known = estimator.get_params(deep=True)
    if make is None and name not in known:
        raise ParameterError(f"there is no setting {name!r}; choose one of {', '.join(sorted(known))}")
    if len(values) == 0:
        raise ParameterError(f"there is no value of {name}; enter one at least")
    twice = [value for at, value in enumerate(values) if value in list(values)[:at]]
    if twice:
        raise ParameterError(f"{name} = {twice[0]!r} is there twice; enter it once")


def _check_begun(begun: Sequence[Begun], n_values: int, n_sets: int) -> None:
    most = max(each.n_over for each in begun)
    if len(begun) != n_values or most > n_sets:
        raise ParameterError(
            f"{len(begun)} of {n_values} values are begun, with {most} training sets at most of {n_sets}; "
            "go on with the values and training sets that it was begun with"
        )
