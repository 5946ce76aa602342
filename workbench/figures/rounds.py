"""Pictures of an ensemble's first rounds over the rows and axes of the picture of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from engine.staged import StagedAnswers, StagedSurface, first_rounds
from engine.surface import model_curve
from engine.thinned import Thinned
from workbench.figures.axis import N_CELLS
from workbench.figures.surface import (
    CurveFigure,
    SurfaceFigure,
    default_columns,
    make_curve,
    make_surface,
    with_other_tree,
)
from workbench.figures.surface_inputs import (
    SurfaceInputs,
    inputs_again,
    surface_inputs,
    weights_so_far,
    weights_text,
    with_held,
)
from workbench.figures.uncertainty import PREDICTION
from workbench.figures.words import count, counted
from workbench.fitting import SoFar
from workbench.rounds import stage_text, unit_of

if TYPE_CHECKING:
    from workbench.runs import RunResult

Floats = NDArray[np.float64]
KEPT_WEIGHT_BYTES = 50_000_000  # of the weights of rows in sight
LIVE_CELLS = 128  # a side, of models that are asked cell by cell while they train
CLEARLY_MORE = 1.2  # times the gain: less, and the axes of a picture would change to and fro


class StagedPicture:
    """Makes the picture of any number of first rounds; what it worked out before serves the next one.

    It tells what they predict, not how uncertain they are: that is told of the whole ensemble.

    Parameters
    ----------
    figure : SurfaceFigure or CurveFigure
        Of all rounds, or of any number of them; its axes and rows stay.
    inputs : SurfaceInputs
        Of that picture, of the whole ensemble, or of what there is of it by now.
    n_planned : int, optional
        Rounds that there may be in the end, where more come.
    """

    def __init__(
        self, figure: SurfaceFigure | CurveFigure, inputs: SurfaceInputs, n_planned: int = 0
    ) -> None:
        self._figure, self._inputs = figure, inputs
        estimator = inputs.result.estimator
        self._surface: StagedSurface | None = None
        if isinstance(figure, SurfaceFigure):
            x, y = figure.x, figure.y
            self._surface = StagedSurface(
                estimator, x.feature, y.feature, x.values, y.values, figure.held_encoded, n_planned
            )
        self._answers = StagedAnswers(estimator, inputs.encoded[figure.points.rows])
        staged = inputs.staged_weights
        self._weights = None if staged is None else _KeptWeights(staged, figure.points.rows)

    def is_of(self, figure: SurfaceFigure | CurveFigure, inputs: SurfaceInputs) -> bool:
        """Tell whether a picture has the same axes, rows and held values, of the same ensemble."""
        mine = self._figure
        return (
            mine.x is figure.x
            and mine.points.rows is figure.points.rows
            and self._inputs.held is inputs.held
            and self._inputs.result.estimator is inputs.result.estimator
        )

    def extend(self, result: RunResult) -> None:
        """Go on with the same ensemble after more rounds."""
        self._inputs = replace(self._inputs, result=result)
        self._answers.extend(result.estimator)
        if self._surface is not None:
            self._surface.extend(result.estimator)

    def at(self, n_rounds: int) -> SurfaceFigure | CurveFigure:
        """Return the picture of the first rounds."""
        figure, result = self._reweighted(n_rounds), self._inputs.result
        title = f"{self._inputs.name}, {stage_text(result, n_rounds)}"
        if isinstance(figure, CurveFigure):
            held = np.array([h.encoded for h in self._inputs.held])
            cut = first_rounds(result.estimator, n_rounds)
            answer = model_curve(cut, figure.x.feature, figure.x.values, held)
            residuals = np.empty(0)
            if not result.classes:
                residuals = figure.points.values - self._answers.at(n_rounds)[:, 0]
            return replace(figure, title=title, answer=answer, residuals=residuals, band=None)
        assert self._surface is not None
        answer = self._surface.at(n_rounds)
        made = replace(figure, title=title, answer=answer, layer=PREDICTION, spread=None)
        if made.classes:
            said = np.argmax(self._answers.at(n_rounds), axis=1)
            wrong = (figure.points.codes >= 0) & (figure.points.codes != said)
            made = replace(made, points=replace(figure.points, is_wrong=wrong))
        return made

    def _reweighted(self, n_rounds: int) -> SurfaceFigure | CurveFigure:
        """The picture with points as large as their rows weigh after some rounds, where they weigh."""
        if self._weights is None:
            return self._figure
        return weighed(self._figure, self._weights.after(n_rounds), n_rounds)


class _KeptWeights:
    """What the rows in sight weigh after any number of rounds.

    Weights are kept for every round or, where that would take too much memory, for every few: those between
    them are then worked out from the first round on.

    Parameters
    ----------
    staged : callable
        Begins to tell all rows' weights after the first round, the second, and so on.
    rows : int64 (n_drawn,)
    """

    def __init__(self, staged: Callable[[], Iterator[Floats]], rows: NDArray[np.int64]) -> None:
        self._staged, self._rows = staged, rows
        self._coming, self._n_told = staged(), 0
        self._kept: Thinned[Floats] = Thinned(KEPT_WEIGHT_BYTES)

    def after(self, n_rounds: int) -> Floats:
        """Return the weights after some rounds, at least one: float64 (n_drawn,)."""
        known = self._kept.last(n_rounds)
        if known is not None and known[0] == n_rounds:
            return known[1]
        if n_rounds <= self._n_told:
            self._coming, self._n_told = self._staged(), 0
        while self._n_told < n_rounds:
            weights = next(self._coming)[self._rows]
            self._n_told += 1
            if self._kept.wants(self._n_told):
                self._kept.keep(self._n_told, weights, weights.nbytes)
        return weights


def weighed(
    figure: SurfaceFigure | CurveFigure, weights: Floats, n_rounds: int
) -> SurfaceFigure | CurveFigure:
    """Return a picture with points as large as their rows weigh after some rounds."""
    points = replace(figure.points, weights=weights, weighed_after=n_rounds)
    then, now = weights_text(figure.points.weighed_after), weights_text(n_rounds)
    return replace(figure, points=points, subtitle=figure.subtitle.replace(then, now))


class LivePicture:
    """The picture of a model in training, after as many rounds as there are whenever it is asked for.

    Rows and held values stay those of the first time, and columns too, but where others clearly matter more
    by then and none were asked for.

    Parameters
    ----------
    name : str
        The run's.
    columns : tuple of str and (str or None), optional
        Across and up; None up: along one column. By default those that matter most.
    chosen : mapping
        Values to hold other columns at, see `with_held`.
    """

    def __init__(self, name: str, columns: tuple[str, str | None] | None, chosen: Mapping[str, Any]) -> None:
        self._name, self._columns, self._chosen = name, columns, chosen
        self._inputs: SurfaceInputs | None = None
        self._staged: StagedPicture | None = None
        self._plain: SurfaceFigure | CurveFigure | None = None  # of a model that is not made of trees
        self._shown: tuple[str, str | None] | None = None

    def of(
        self, so_far: SoFar, monitor: FitMonitor = NULL_MONITOR
    ) -> tuple[SurfaceInputs, SurfaceFigure | CurveFigure]:
        """Return the picture of all rounds that there are by now, and what it is made of; in a worker.

        Raises
        ------
        DataError
            There is no such picture of this kind of model or of these columns.
        """
        result = so_far.result()
        if self._inputs is None:
            first = surface_inputs(self._name, result, so_far.inputs.table, monitor)
            self._inputs = with_held(first, self._chosen)
        self._inputs = replace(self._inputs, result=result)
        columns = self._columns_for(result)
        if not result.has_trees:
            return self._inputs, self._anew(result, columns)
        n_planned = result.estimator.n_estimators
        if self._staged is None or columns != self._shown:
            figure = _picture_over(inputs_again(self._inputs, result), columns)
            self._staged, self._shown = StagedPicture(figure, self._inputs, n_planned), columns
        self._staged.extend(result)
        monitor.on_iteration(IterationEvent("drawing"))
        made = self._staged.at(result.n_rounds)
        if made.points.weights is not None:
            weights = weights_so_far(result)[made.points.rows]
            made = weighed(made, weights, result.n_rounds)
        planned = f"{count(result.n_rounds)} of {count(n_planned)} {unit_of(result)}s"
        return self._inputs, replace(made, title=f"{self._name}, after {planned}, still training")

    def _anew(
        self, result: RunResult, columns: tuple[str, str | None]
    ) -> SurfaceFigure | CurveFigure:  # no sum of rounds can be kept
        assert self._inputs is not None
        if self._plain is None or columns != self._shown:
            figure = _picture_over(inputs_again(self._inputs, result), columns, LIVE_CELLS)
            self._plain, self._shown = figure, columns
        else:
            self._plain = with_other_tree(self._plain, self._inputs, result)
        what = counted(result.n_rounds, unit_of(result))
        return replace(self._plain, title=f"{self._name}, after {what}, still training")

    def _columns_for(self, result: RunResult) -> tuple[str, str | None]:
        if self._columns is not None:
            return self._columns
        best, gains = default_columns(result), dict(zip(result.features, result.importances, strict=True))
        if self._shown is None or best[1] is None or self._shown[1] is None:
            return best
        least, least_shown = (min(gains[name] for name in names if name) for names in (best, self._shown))
        return best if least > CLEARLY_MORE * least_shown else self._shown


def _picture_over(
    inputs: SurfaceInputs, columns: tuple[str, str | None], n_cells: int = N_CELLS
) -> SurfaceFigure | CurveFigure:
    x_name, y_name = columns
    return make_curve(inputs, x_name) if y_name is None else make_surface(inputs, x_name, y_name, n_cells)
