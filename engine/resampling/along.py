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
    """

    name: str
    values: tuple[Any, ...]
    parts: tuple[SquaredErrorParts | ZeroOneParts | None, ...]
    n_sets: int
    errors: Mapping[int, str] = field(default_factory=dict)
    is_staged: bool = False
    stopped: bool = False

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
    make: Make | None = None, random_state: int = 0, n_jobs: int | None = None,
    monitor: FitMonitor | None = None,
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
    random_state, n_jobs, monitor
        As in `engine.resampling.refits.refit`.

    Raises
    ------
    ParameterError
        The estimator has no such parameter, or the values are none, or hold one twice.
    DataError
        The tables do not fit one another, or no fit succeeded.
    """
    _check_values(estimator, name, values, make)
    make = make or partial(_with_value, estimator)
    refitter = Refitter(estimator, sets, query.X, random_state)
    if refitter.classes is not None:
        codes_of(query.y, refitter.classes)  # before the work, not after it
    is_staged = name == ROUNDS and all(map(_is_count, values)) and is_stageable(make({name: max(values)}))
    planned = _steps(tuple(values), sets.n_sets, is_staged=is_staged)
    kept = _Kept(SettingCurve(name, tuple(values), (None,) * len(values), sets.n_sets, {}, is_staged),
                 planned, query, Moments.none(refitter.n_query, refitter.classes))  # fmt: skip
    work = partial(_do, refitter, make, name, tuple(values), planned)
    stopped = tasks.run(work, [_words(step, name, values, sets.n_sets) for step in planned], kept.take,
                        n_jobs, monitor)  # fmt: skip
    curve = replace(kept.curve(), stopped=stopped)
    if not stopped:
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
    """A task: one training set and one value, or all of them (None)."""

    number: int
    value: int | None


def _steps(values: tuple[Any, ...], n_sets: int, *, is_staged: bool) -> list[_Step]:
    each: list[int | None] = [None] if is_staged else list(range(len(values)))
    return [_Step(number, value) for number in range(n_sets) for value in each]


def _words(step: _Step, name: str, values: Sequence[Any], n_sets: int) -> str:
    of_value = "" if step.value is None else f", {name} = {values[step.value]}"
    return f"training set {step.number + 1:,} of {n_sets:,}{of_value}"


def _do(
    refitter: Refitter, make: Make, name: str, values: tuple[Any, ...], planned: Sequence[_Step], task: int,
    monitor: FitMonitor,
) -> list[Floats]:  # fmt: skip
    """Return the answers of a task's value, or of all values."""
    step = planned[task]
    if step.value is not None:
        model = refitter.fit(make({name: values[step.value]}), step.number, monitor)
        return [refitter.answer(model)]
    model = refitter.fit(make({name: max(values)}), step.number, monitor)
    if not isinstance(model, Learner) or not model.estimators_:
        return [refitter.answer(model)] * len(values)  # of one class, or without a tree
    return _stages(refitter, model, values)


def _stages(refitter: Refitter, model: Any, values: tuple[Any, ...]) -> list[Floats]:
    """Return what the first rounds say, ascending as `StagedAnswers` adds them up, in the order asked for."""
    staged = StagedAnswers(model, check_X(model, refitter.query.given))
    n_rounds, answers = len(model.estimators_), dict[Any, Floats]()
    for value in sorted(values):
        said = staged.at(min(value, n_rounds))
        answers[value] = refitter.in_place(model, said)
    return [answers[value] for value in values]


class _Kept:
    """Moments of every value, as tasks come in."""

    def __init__(
        self, empty: SettingCurve, planned: Sequence[_Step], query: QueryRows, nothing: Moments
    ) -> None:
        self._empty, self._planned, self._query = empty, planned, query
        self._moments, self._errors = [nothing] * len(empty.values), dict[int, str]()

    def take(self, task: int, result: list[Floats] | Failed) -> Callable[[], SettingCurve]:
        value = self._planned[task].value
        values = range(len(self._moments)) if value is None else [value]
        if isinstance(result, Failed):
            for at in values:
                self._errors.setdefault(at, str(result))
        else:
            for at, answer in zip(values, result, strict=True):
                self._moments[at] = self._moments[at].plus(answer)
        return partial(_curve_of, self._empty, tuple(self._moments), dict(self._errors), self._query)

    def curve(self) -> SettingCurve:
        return _curve_of(self._empty, tuple(self._moments), dict(self._errors), self._query)


def _curve_of(
    empty: SettingCurve, moments: tuple[Moments, ...], errors: dict[int, str], query: QueryRows
) -> SettingCurve:
    parts = tuple(each.parts(query) if each.n >= FEWEST_FITS else None for each in moments)
    return replace(empty, parts=parts, errors=errors)


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
