"""`SurfaceFigure` and `CurveFigure`: what a model says over two columns, or along one, the rest held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.figures.axis import N_CELLS, Axis
from workbench.figures.held import Held, held_sentence
from workbench.figures.surface_inputs import TRAINING, VALIDATION, SurfaceInputs, inputs_again, weights_text
from workbench.figures.words import count, counted, number, value_text

if TYPE_CHECKING:
    from engine.tree.structure import Path, Tree
    from workbench.fitting import FitInputs
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

    def text_at(self, x: float) -> str:
        """What the model says under the pointer, in plain lines; empty outside."""
        cell = self.x.cell_at(x)
        if cell is None:
            return ""
        lines = [f"{self.x.name}: {self.x.text(cell)}"]
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
    """Return the two columns with the largest total gain (D32); the second is None if there is one.

    Those of the tree as it was grown: while it is changed by hand the picture keeps its axes, so that a
    border is seen to come or go.
    """
    from engine.inspection import impurity_importances

    importances = result.importances
    if result.grown_tree is not None and result.edits:
        importances = impurity_importances([result.grown_tree], len(result.features))
    order = np.argsort(-np.asarray(importances), kind="stable")
    names = [result.features[k] for k in order]
    return names[0], names[1] if len(names) > 1 else None


def class_mixture(answer: Floats, class_rgb: NDArray[Any], ground_rgb: NDArray[Any]) -> NDArray[np.uint8]:
    """Mix each cell's class colour into the ground: uint8 (n_y, n_x, 3).

    The share of the colour is 0.15 + 0.35 (p - 1/K) / (1 - 1/K), p the winner's probability: a class
    that barely wins is pale, one without doubt is strong.

    Parameters
    ----------
    answer : float64 (n_classes, n_y, n_x)
    class_rgb : (n_classes, 3)
    ground_rgb : (3,)
    """
    n_classes = len(answer)
    top = answer.max(axis=0)
    certainty = (top - 1 / n_classes) / (1 - 1 / n_classes) if n_classes > 1 else np.ones_like(top)
    share = 0.15 + 0.35 * np.clip(certainty, 0, 1)
    winner, mixed = np.argmax(answer, axis=0), np.empty((*top.shape, 3), np.uint8)
    for channel in range(3):  # one at a time: half the time of all three together
        ground = float(ground_rgb[channel])
        strength = np.asarray(class_rgb, np.float64)[:, channel] - ground
        mixed[..., channel] = np.rint(ground + strength[winner] * share)
    return mixed


def prepared(figure: AnyFigure, palette: Palette) -> AnyFigure:
    """Return a picture whose colours and borders are worked out: in a worker, so that a window need not."""
    if isinstance(figure, SurfaceFigure) and figure.classes:
        figure.mixed(palette)
        _ = figure.borders
    return figure


def border_lines(labels: NDArray[Any], x_edges: Floats, y_edges: Floats) -> tuple[Floats, Floats]:
    """Return the lines between cells of different class: x and y, two entries a line.

    Neighbouring pieces of one straight border are joined.
    """
    xs: list[Floats] = []
    ys: list[Floats] = []
    for is_vertical in (True, False):
        grid = labels if is_vertical else labels.T
        differs = grid[:, 1:] != grid[:, :-1]  # (along, across)
        padded = np.pad(differs.astype(np.int8), ((1, 1), (0, 0)))
        steps = np.diff(padded, axis=0)
        across_from, start = np.nonzero(steps.T == 1)
        _, stop = np.nonzero(steps.T == -1)
        fixed_edges, along_edges = (x_edges, y_edges) if is_vertical else (y_edges, x_edges)
        fixed = np.repeat(fixed_edges[across_from + 1], 2)
        along = np.column_stack([along_edges[start], along_edges[stop]]).ravel()
        xs.append(fixed if is_vertical else along)
        ys.append(along if is_vertical else fixed)
    return np.concatenate(xs), np.concatenate(ys)


def node_outline(tree: Tree, path: Path, x: Axis, y: Axis) -> tuple[Floats, Floats]:
    """Return the outline of a node's region on a surface: x and y, two entries a line.

    The region is where both columns' values go the node's way, whatever the other columns must hold.
    """
    from engine.tree.inspect import values_on_path

    goes = [values_on_path(tree, path, axis.feature, axis.values) for axis in (x, y)]
    inside = np.pad(np.outer(goes[1], goes[0]).astype(np.int8), 1)
    return border_lines(inside, *(np.pad(axis.edges, 1, mode="edge") for axis in (x, y)))


def far_cells(x: Axis, y: Axis, points: Points, reach: float = 0.12) -> NDArray[np.bool_]:
    """Tell which cells have no training row within `reach` of the drawing's side: bool (n_y, n_x)."""
    n_y, n_x = len(y.values), len(x.values)
    seen = np.zeros((n_y, n_x), bool)
    is_inside = points.parts == TRAINING
    columns = np.clip(np.searchsorted(x.edges, points.x[is_inside], "right") - 1, 0, n_x - 1)
    rows = np.clip(np.searchsorted(y.edges, points.y[is_inside], "right") - 1, 0, n_y - 1)
    ok = np.isfinite(points.x[is_inside]) & np.isfinite(points.y[is_inside])
    seen[rows[ok], columns[ok]] = True
    for axis, n in ((0, n_y), (1, n_x)):  # a box around every row, by running sums
        half = max(round(reach * n), 0)
        sums = np.cumsum(np.pad(seen, [(half + 1, half) if a == axis else (0, 0) for a in (0, 1)]), axis=axis)
        upper = np.take(sums, np.arange(2 * half + 1, 2 * half + 1 + n), axis=axis)
        seen = (upper - np.take(sums, np.arange(n), axis=axis)) > 0
    return ~seen


def make_surface(inputs: SurfaceInputs, x_name: str, y_name: str, n_cells: int = N_CELLS) -> SurfaceFigure:
    """Make the figure of two columns; the model is asked once for every cell, never refitted.

    With so many classes that the picture would take too much memory, numbers get fewer cells; the figure's
    subtitle says so.

    Raises
    ------
    DataError
        Both names are the same, or levels and classes are too many for the memory a picture may take.
    """
    from engine.surface import model_surface

    result = inputs.result
    x_feature, y_feature = result.features.index(x_name), result.features.index(y_name)
    x, y = inputs.axis(x_feature, n_cells), inputs.axis(y_feature, n_cells)
    note = ""
    while _bytes_of(x, y, result) > MAX_BYTES and n_cells > LEAST_CELLS:
        n_cells //= 2
        x, y = inputs.axis(x_feature, n_cells), inputs.axis(y_feature, n_cells)
        n_classes = counted(len(result.classes), "class", "classes")
        note = f", {count(len(x.values))} x {count(len(y.values))} cells for {n_classes}"
    if _bytes_of(x, y, result) > MAX_BYTES:
        numbers = counted(max(len(result.classes), 1), "number")
        raise DataError(
            f"{x_name} by {y_name} are {count(len(x.values))} x {count(len(y.values))} cells of {numbers}, "
            f"about {_bytes_of(x, y, result) / 1e9:.1f} GB; choose a column with fewer levels"
        )
    given = np.array([h.encoded for h in inputs.held])
    answer = model_surface(result.estimator, x_feature, y_feature, x.values, y.values, given)
    points = _points(inputs, x, y)
    held = tuple(h for k, h in enumerate(inputs.held) if k not in (x_feature, y_feature))
    return SurfaceFigure(
        inputs.name, _rows_text(inputs, points) + note, held_sentence(held), x, y, answer, result.classes,
        event_idx_of(result), held, points, result.target, far_cells(x, y, points), given,
        result.target in inputs.dates, result.has_probabilities,
    )  # fmt: skip


def _bytes_of(x: Axis, y: Axis, result: RunResult) -> int:
    return 8 * len(x.values) * len(y.values) * max(len(result.classes), 1)


def with_other_tree(figure: AnyFigure, inputs: SurfaceInputs, result: RunResult) -> AnyFigure:
    """Return a picture of a single tree as it is of the same tree changed by hand; axes and rows stay.

    Parameters
    ----------
    inputs : SurfaceInputs
        Of the picture, with the values held in it.
    result : RunResult
        With the changed tree.
    """
    changed = inputs_again(inputs, result)
    if isinstance(figure, CurveFigure):
        return make_curve(changed, figure.x.name, len(figure.x.values))
    from engine.surface import model_surface

    x, y = figure.x, figure.y
    answer = model_surface(result.estimator, x.feature, y.feature, x.values, y.values, figure.held_encoded)
    wrong = (figure.points.codes >= 0) & (figure.points.codes != changed.prediction)
    return replace(figure, answer=answer, points=replace(figure.points, is_wrong=wrong))


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
        result.has_probabilities,
    )  # fmt: skip


def event_idx_of(of: RunResult | FitInputs) -> int | None:
    """Return which of two classes is the event; None where none is."""
    if len(of.classes) == 2 and of.event_class in of.classes:
        return of.classes.index(of.event_class)
    return None


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
