"""Pictures of an ensemble's first rounds over the rows and axes of the picture of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.staged import StagedAnswers, StagedSurface, first_rounds
from engine.surface import model_curve
from workbench.figures.surface import CurveFigure, SurfaceFigure, SurfaceInputs, weights_text
from workbench.rounds import stage_text

Floats = NDArray[np.float64]


class StagedPicture:
    """Makes the picture of any number of first rounds; what it worked out before serves the next one.

    Parameters
    ----------
    figure : SurfaceFigure or CurveFigure
        Of all rounds, or of any number of them; its axes and rows stay.
    inputs : SurfaceInputs
        Of that picture, of the whole ensemble.
    """

    def __init__(self, figure: SurfaceFigure | CurveFigure, inputs: SurfaceInputs) -> None:
        self._figure, self._inputs = figure, inputs
        estimator = inputs.result.estimator
        self._surface: StagedSurface | None = None
        if isinstance(figure, SurfaceFigure):
            x, y = figure.x, figure.y
            self._surface = StagedSurface(
                estimator, x.feature, y.feature, x.values, y.values, figure.held_encoded
            )
        self._answers = StagedAnswers(estimator, inputs.encoded[figure.points.rows])
        self._said: list[NDArray[Any]] = []  # after every round, about the rows in sight
        staged_weights = inputs.staged_weights
        self._row_weights = None if staged_weights is None else staged_weights()
        self._weights: list[Floats] = []  # after every round, of the rows in sight

    def is_of(self, figure: SurfaceFigure | CurveFigure, inputs: SurfaceInputs) -> bool:
        """Tell whether a picture has the same axes, rows and held values, of the same ensemble."""
        mine = self._figure
        return (
            mine.x is figure.x
            and mine.points.rows is figure.points.rows
            and self._inputs.held is inputs.held
            and self._inputs.result.estimator is inputs.result.estimator
        )

    def at(self, n_rounds: int) -> SurfaceFigure | CurveFigure:
        """Return the picture of the first rounds."""
        figure, result = self._reweighted(n_rounds), self._inputs.result
        title = f"{self._inputs.name}, {stage_text(result, n_rounds)}"
        said = self._said_after(n_rounds)
        if isinstance(figure, CurveFigure):
            held = np.array([h.encoded for h in self._inputs.held])
            cut = first_rounds(result.estimator, n_rounds)
            answer = model_curve(cut, figure.x.feature, figure.x.values, held)
            residuals = np.empty(0) if result.classes else figure.points.values - said
            return replace(figure, title=title, answer=answer, residuals=residuals)
        assert self._surface is not None
        made = replace(figure, title=title, answer=self._surface.at(n_rounds))
        if made.classes:
            wrong = (figure.points.codes >= 0) & (figure.points.codes != said)
            made = replace(made, points=replace(figure.points, is_wrong=wrong))
            _ = made.borders  # found here, in a worker
        return made

    def _reweighted(self, n_rounds: int) -> SurfaceFigure | CurveFigure:
        """The picture with points as large as their rows weigh after some rounds, where they weigh."""
        figure, points = self._figure, self._figure.points
        if self._row_weights is None:
            return figure
        while len(self._weights) < n_rounds:
            self._weights.append(next(self._row_weights)[points.rows])
        weighed = replace(points, weights=self._weights[n_rounds - 1], weighed_after=n_rounds)
        then, now = weights_text(points.weighed_after), weights_text(n_rounds)
        return replace(figure, points=weighed, subtitle=figure.subtitle.replace(then, now))

    def _said_after(self, n_rounds: int) -> NDArray[Any]:
        """What the first rounds say about the rows in sight: codes of classes, or numbers."""
        is_classes = bool(self._inputs.result.classes)
        while len(self._said) < n_rounds:
            said = self._answers.after_next()
            self._said.append(np.argmax(said, axis=1).astype(np.int16) if is_classes else said[:, 0])
        return self._said[n_rounds - 1]
