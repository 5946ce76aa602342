"""A surface or curve as a table: a line for every cell, with all that the picture tells there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import product
from math import isnan

import numpy as np
from numpy.typing import NDArray

from workbench.figures.surface import AnyFigure, CurveFigure, SurfaceFigure
from workbench.figures.uncertainty import ALEATORIC, ENTROPIES, EPISTEMIC, TOTAL, Band, Spread

Floats = NDArray[np.float64]
Columns = list[tuple[str, Floats]]
DEVIATIONS = {
    TOTAL: "standard deviation",
    ALEATORIC: "standard deviation by noise",
    EPISTEMIC: "standard deviation by disagreement",
}


def surface_csv(figure: AnyFigure) -> str:
    """Return a picture as comma-separated text, x running fastest; numbers to the last bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    axes = (figure.y, figure.x) if isinstance(figure, SurfaceFigure) else (figure.x,)
    columns = [*_answers(figure), *_uncertainties(figure)]
    writer.writerow([*(axis.name for axis in reversed(axes)), *(name for name, _ in columns)])
    places = (reversed(place) for place in product(*(axis.spelled() for axis in axes)))
    values = zip(*(_numbers(part) for _, part in columns), strict=True)
    writer.writerows([*place, *line] for place, line in zip(places, values, strict=True))
    return text.getvalue()


def _numbers(part: Floats) -> Iterator[str]:
    return ("" if isnan(value) else repr(value) for value in part.ravel().tolist())  # NaN: not known


def _answers(figure: AnyFigure) -> Columns:
    if not figure.classes:
        return [(f"predicted {figure.target}", figure.answer[0])]
    what = "probability of" if figure.has_probabilities else "1 where named:"
    return [(f"{what} {name}", part) for name, part in zip(figure.classes, figure.answer, strict=True)]


def _uncertainties(figure: AnyFigure) -> Columns:
    if isinstance(figure, CurveFigure):
        band = figure.band
        return [] if band is None else [*_parts(figure, band.spread), *_ends(figure, band)]
    return [] if figure.spread is None else _parts(figure, figure.spread)


def _parts(figure: AnyFigure, spread: Spread) -> Columns:
    names = {layer: f"{name} (nats)" for layer, name in ENTROPIES.items()} if figure.classes else DEVIATIONS
    return [(name, spread.of(layer)) for layer, name in names.items()]


def _ends(figure: CurveFigure, band: Band) -> Columns:
    found: Columns = []
    for pair, text in ((band.outer, band.outer_text), (band.inner, band.inner_text)):
        for end, word in zip(pair or (), ("from", "to"), strict=False):
            of = [f" of {name}" for name in figure.classes] or [""]
            found += [(f"{text}{name}, {word}", part) for name, part in zip(of, end, strict=True)]
    return found
