"""`SurfaceFigure` and `CurveFigure`: what a model says over two columns, or along one, the rest held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor
from workbench.figures.axis import N_CELLS, Axis
from workbench.figures.held import Held, held_sentence
from workbench.figures.regions import border_lines, class_mixture, far_cells
from workbench.figures.surface_inputs import (
    TRAINING,
    VALIDATION,
    SurfaceInputs,
    event_idx_of,
    inputs_again,
    weights_text,
)
from workbench.figures.uncertainty import (
    PREDICTION,
    Band,
    Spread,
    band_along,
    layers_of,
    quantity_text,
    spread_over,
    title_with,
)
from workbench.figures.words import count, counted, number, value_text

if TYPE_CHECKING:
    from workbench.runs import RunResult

Floats = NDArray[np.float64]
Palette = tuple[NDArray[Any], NDArray[Any]]  # red, green and blue of the classes, and of the ground
MAX_BYTES = 1_000_000_000  # of a picture's answers
LEAST_CELLS = 40  # a side of numbers: coarser tells nothing


@dataclass(frozen=True, eq=False)
class Points:
    """Rows drawn over a surface or beside a curve.

    Attributes
    ----------
    rows : int64 (n,)
    x, y : float64 (n,)
        Drawn positions; in a curve `y` is the target.
    codes : int32 (n,)
        True class; -1 in regression.
    values : float64 (n,)
        True number; NaN for classes.
    parts : uint8 (n,)
    is_wrong : bool (n,)
        The model names another class.
    weights : float64 (n,) or None
        Of training rows that a model reweights, 1 on average; NaN of other rows.
    weighed_after : int
        The round after which these are their weights.
    """

    rows: NDArray[np.int64]
    x: Floats
    y: Floats
    codes: NDArray[np.int32]
    values: Floats
    parts: NDArray[np.uint8]
    is_wrong: NDArray[np.bool_]
    weights: Floats | None = None
    weighed_after: int = 0


@dataclass(frozen=True, eq=False)
class SurfaceFigure:
    """What a model says over two columns.

    Attributes
    ----------
    title, subtitle, held_text : str
    x, y : Axis
    answer : float64 (n_classes or 1, n_y, n_x)
        Probabilities in class order, or the prediction.
    classes : tuple of str
        Empty in regression.
    event_idx : int or None
    held : tuple of Held
        All columns that are not on an axis.
    points : Points
    target : str
    is_empty : bool (n_y, n_x)
        Cells far from every row.
    held_encoded : float64 (n_features,)
        What the model was given; entries of the axes' columns do not matter.
    is_date : bool
        The prediction is a date, in days since 1970-01-01.
    has_probabilities : bool
        Of classes; else `answer` has 1 for the class that is named.
    layer : str
        What is drawn: the prediction, or a part of `spread`.
    spread : Spread or None
        How uncertain the model is; worked out where a part of it is drawn.
    """

    title: str
    subtitle: str
    held_text: str
    x: Axis
    y: Axis
    answer: Floats
    classes: tuple[str, ...]
    event_idx: int | None
    held: tuple[Held, ...]
    points: Points
    target: str
    is_empty: NDArray[np.bool_]
    held_encoded: Floats
    is_date: bool = False
    has_probabilities: bool = True
    layer: str = PREDICTION
    spread: Spread | None = None

    @property
    def is_map(self) -> bool:
        """Colours stand for numbers, not for classes."""
        return self.spread is not None or not self.classes

    @property
    def is_of_target(self) -> bool:
        """Colours stand for what rows have too: the target."""
        return self.spread is None

    @property
    def mapped(self) -> Floats:
        """The numbers that colours stand for: (n_y, n_x)."""
        return self.answer[0] if self.spread is None else self.spread.of(self.layer)

    @property
    def quantity(self) -> str:
        """What these numbers are, with their unit; pictures with the same can be compared by colour."""
        if self.spread is None:
            return self.target
        return quantity_text(self.target, self.layer, bool(self.classes), self.is_date)

    @cached_property
    def range(self) -> tuple[float, float]:
        """Lowest and highest number of the picture: of answers and rows; of uncertainty, from 0 on."""
        if self.spread is not None:
            return 0.0, self.spread.largest() or 1.0
        seen = np.concatenate([self.answer.ravel(), self.points.values[np.isfinite(self.points.values)]])
        low, high = float(seen.min()), float(seen.max())
        return low, high if high > low else low + 1

    @property
    def labels(self) -> NDArray[np.int64]:
        """Most probable class of every cell, the first of equals: (n_y, n_x)."""
        return np.asarray(np.argmax(self.answer, axis=0), np.int64)

    @cached_property
    def borders(self) -> tuple[Floats, Floats]:
        """Lines between regions of different class; see `border_lines`."""
        return border_lines(self.labels, self.x.edges, self.y.edges)

    @cached_property
    def _mixed(self) -> dict[bytes, NDArray[np.uint8]]:
        return {}

    def mixed(self, palette: Palette) -> NDArray[np.uint8]:
        """Every cell's colour, see `class_mixture`: uint8 (n_y, n_x, 3). Remembered for one palette."""
        key = b"".join(np.asarray(part, np.uint8).tobytes() for part in palette)
        if key not in self._mixed:
            mixture = class_mixture(self.answer, *palette)
            self._mixed.clear()
            self._mixed[key] = mixture
        return self._mixed[key]

    def text_at(self, x: float, y: float) -> str:
        """What the model says under the pointer, in plain lines; empty outside."""
        column, row = self.x.cell_at(x), self.y.cell_at(y)
        if column is None or row is None:
            return ""
        lines = [f"{self.x.name}: {self.x.text(column)}", f"{self.y.name}: {self.y.text(row)}"]
        if self.spread is not None:
            lines += self.spread.lines((row, column), bool(self.classes))
        if not self.classes:
            told = prediction_text(self.answer[0, row, column], self.is_date)
            return "\n".join([*lines, f"{self.target} {told}"])
        shares = self.answer[:, row, column]
        if not self.has_probabilities:
            return "\n".join([*lines, f"{self.target} {self.classes[int(np.argmax(shares))]}"])
        order = sorted(range(len(shares)), key=lambda k: -shares[k])[:4]
        return "\n".join(lines + [f"{self.classes[k]} {100 * shares[k]:.1f} %" for k in order])


def prediction_text(value: float, is_date: bool = False) -> str:
    """Write what a model predicts: four digits, or the day."""
    return value_text(float(np.floor(value + 0.5)), 4, True) if is_date else number(float(value), 4)


@dataclass(frozen=True, eq=False)
class CurveFigure:
    """What a model says along one column.

    Attributes
    ----------
    answer : float64 (n_classes or 1, n_x)
    residuals : float64 (n_points,)
        Target less prediction of every point's own row, other columns as they are; empty for classes.
    band : Band or None
        What the model does not know, where it tells.
    """

    title: str
    subtitle: str
    held_text: str
    x: Axis
    answer: Floats
    classes: tuple[str, ...]
    event_idx: int | None
    held: tuple[Held, ...]
    points: Points
    residuals: Floats
    target: str
    is_date: bool = False
    has_probabilities: bool = True
    band: Band | None = None

    def text_at(self, x: float) -> str:
        """What the model says under the pointer, in plain lines; empty outside."""
        cell = self.x.cell_at(x)
        if cell is None:
            return ""
        lines = [f"{self.x.name}: {self.x.text(cell)}"]
        if self.band is not None:
            lines += self.band.spread.lines(cell, bool(self.classes))
        if not self.classes:
            return "\n".join([*lines, f"{self.target} {prediction_text(self.answer[0, cell], self.is_date)}"])
        shares = self.answer[:, cell]
        if not self.has_probabilities:
            return "\n".join([*lines, f"{self.target} {self.classes[int(np.argmax(shares))]}"])
        return "\n".join(
            lines + [f"{name} {100 * p:.1f} %" for name, p in zip(self.classes, shares, strict=True)]
        )


AnyFigure = SurfaceFigure | CurveFigure


def default_columns(result: RunResult) -> tuple[str, str | None]:
    """Return the two columns with the largest total gain (D32), or one and None; two alone in their order.

    Those of the tree as it was grown: while it is changed by hand the picture keeps its axes, so that a
    border is seen to come or go.
    """
    from engine.inspection import impurity_importances

    importances = result.importances
    if result.grown_tree is not None and result.edits:
        importances = impurity_importances([result.grown_tree], len(result.features))
    names = list(result.features)
    if len(names) > 2:
        names = [names[k] for k in np.argsort(-np.asarray(importances), kind="stable")]
    return names[0], names[1] if len(names) > 1 else None


def prepared(figure: AnyFigure, palette: Palette) -> AnyFigure:
    """Return a picture whose colours and borders are worked out: in a worker, so that a window need not."""
    if isinstance(figure, SurfaceFigure) and not figure.is_map:
        figure.mixed(palette)
        _ = figure.borders
    return figure


def make_surface(
    inputs: SurfaceInputs, x_name: str, y_name: str, n_cells: int = N_CELLS, layer: str = PREDICTION,
    monitor: FitMonitor = NULL_MONITOR,
) -> SurfaceFigure:  # fmt: skip
    """Make the figure of two columns; the model is asked once for every cell, never refitted.

    With so many classes that the picture would take too much memory, numbers get fewer cells; the figure's
    subtitle says so. Of a model that has no such layer the prediction is drawn.

    Raises
    ------
    DataError
        Both names are the same, or levels and classes are too many for the memory a picture may take.
    """
    from engine.surface import model_surface

    result = inputs.result
    layer = layer if layer in layers_of(result.estimator) else PREDICTION
    x_feature, y_feature = result.features.index(x_name), result.features.index(y_name)
    x, y, note = _axes(inputs, (x_feature, y_feature), n_cells, layer)
    given = np.array([h.encoded for h in inputs.held])
    answer = model_surface(result.estimator, x_feature, y_feature, x.values, y.values, given, monitor)
    spread = None if layer == PREDICTION else spread_over(result.estimator, x, y, given, monitor)
    points = _points(inputs, x, y)
    held = tuple(h for k, h in enumerate(inputs.held) if k not in (x_feature, y_feature))
    return SurfaceFigure(
        title_with(inputs.name, layer), _rows_text(inputs, points) + note, held_sentence(held), x, y, answer,
        result.classes, event_idx_of(result), held, points, result.target, far_cells(x, y, points), given,
        result.target in inputs.dates, result.has_probabilities, layer, spread,
    )  # fmt: skip


def _axes(
    inputs: SurfaceInputs, features: tuple[int, int], n_cells: int, layer: str
) -> tuple[Axis, Axis, str]:
    """Return both axes, with fewer cells where memory asks for it, and a remark that tells of these."""
    result, note = inputs.result, ""
    n_numbers = max(len(result.classes), 1)
    n_bytes_each = 8 * (n_numbers if layer == PREDICTION else 3 * n_numbers + 4)  # moments, and three parts
    x, y = (inputs.axis(feature, n_cells) for feature in features)
    while n_bytes_each * len(x.values) * len(y.values) > MAX_BYTES and n_cells > LEAST_CELLS:
        n_cells //= 2
        x, y = (inputs.axis(feature, n_cells) for feature in features)
        n_classes = counted(len(result.classes), "class", "classes")
        note = f", {count(len(x.values))} x {count(len(y.values))} cells for {n_classes}"
    n_bytes = n_bytes_each * len(x.values) * len(y.values)
    if n_bytes > MAX_BYTES:
        raise DataError(
            f"{x.name} by {y.name} are {count(len(x.values))} x {count(len(y.values))} cells of "
            f"{counted(n_numbers, 'number')}, about {n_bytes / 1e9:.1f} GB; choose a column with fewer levels"
        )
    return x, y, note


def with_other_tree(figure: AnyFigure, inputs: SurfaceInputs, result: RunResult) -> AnyFigure:
    """Return a picture of a model as it is of the same model changed; axes and rows stay.

    A layer of uncertainty is not drawn anew: the prediction is shown.

    Parameters
    ----------
    inputs : SurfaceInputs
        Of the picture, with the values held in it.
    result : RunResult
        With the changed tree, or the model after more rounds.
    """
    changed = inputs_again(inputs, result)
    if isinstance(figure, CurveFigure):
        return make_curve(changed, figure.x.name, len(figure.x.values))
    from engine.surface import model_surface

    x, y = figure.x, figure.y
    answer = model_surface(result.estimator, x.feature, y.feature, x.values, y.values, figure.held_encoded)
    wrong = (figure.points.codes >= 0) & (figure.points.codes != changed.prediction)
    points = replace(figure.points, is_wrong=wrong)
    return replace(figure, title=inputs.name, answer=answer, points=points, layer=PREDICTION, spread=None)


def make_curve(inputs: SurfaceInputs, x_name: str, n_cells: int = 800) -> CurveFigure:
    """Make the figure of one column: data, prediction and, for numbers, residuals."""
    from engine.surface import model_curve

    result = inputs.result
    x_feature = result.features.index(x_name)
    x = inputs.axis(x_feature, n_cells)
    given = np.array([h.encoded for h in inputs.held])
    answer = model_curve(result.estimator, x_feature, x.values, given)
    points = _points(inputs, x, None)
    residuals = np.empty(0) if result.classes else points.values - inputs.prediction
    held = tuple(h for k, h in enumerate(inputs.held) if k != x_feature)
    return CurveFigure(
        inputs.name, _rows_text(inputs, points), held_sentence(held), x, answer, result.classes,
        event_idx_of(result), held, points, residuals, result.target, result.target in inputs.dates,
        result.has_probabilities, band_along(result.estimator, x, answer, given),
    )  # fmt: skip


def _points(inputs: SurfaceInputs, x: Axis, y: Axis | None) -> Points:
    parts, rows = np.asarray(inputs.result.parts), inputs.rows
    across = x.places(inputs.encoded[rows, x.feature], rows)
    up = inputs.values[rows] if y is None else y.places(inputs.encoded[rows, y.feature], rows)
    codes = inputs.codes[rows]
    wrong = (codes >= 0) & (codes != inputs.prediction)
    weights = None if inputs.weights is None else inputs.weights[rows]
    values, after = inputs.values[rows], inputs.result.n_rounds
    return Points(rows, across, up, codes, values, parts[rows], wrong, weights, after)


def _rows_text(inputs: SurfaceInputs, points: Points) -> str:
    parts = np.asarray(inputs.result.parts)
    n_train, n_val = int(np.sum(parts == TRAINING)), int(np.sum(parts == VALIDATION))
    looks = ["filled"] if n_val else []
    if points.weights is not None:
        looks.append(weights_text(points.weighed_after))
    text = counted(n_train, "training row") + (f" ({', '.join(looks)})" if looks else "")
    if n_val:
        text += f", {counted(n_val, 'validation row')} (hollow)"
    if len(points.rows) < n_train + n_val:
        text += f" ({count(len(points.rows))} drawn)"
    n_missing = int(np.sum(~(np.isfinite(points.x) & (np.isfinite(points.y) | (points.codes >= 0)))))
    return text + (f", {count(n_missing)} without a value" if n_missing else "")
