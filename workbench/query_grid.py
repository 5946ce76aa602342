"""`QueryGrid`: rows that differ in one column or two alone, to ask models about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.figures.axis import make_axis
from workbench.figures.held import Held, held_sentence, held_values
from workbench.figures.surface_inputs import thinned
from workbench.figures.words import count

if TYPE_CHECKING:
    import pandas as pd

    from engine.features import FeatureSpec
    from workbench.fitting import FitInputs

Floats = NDArray[np.float64]


class QueryGrid:
    """A row for every cell; the other columns are held at typical values of the training rows.

    Parameters
    ----------
    fit : FitInputs
    n_cells : mapping of str to int
        The columns that differ, and the cells along each: categories have one for every level. Of two the
        first runs fastest.

    Attributes
    ----------
    axes : tuple of Axis
    rows : int64 (n_rows,)
        The training rows.
    """

    def __init__(self, fit: FitInputs, n_cells: Mapping[str, int]) -> None:
        from engine.features import encode, learn_features
        from workbench.datasets import feature_frame

        self._frame = feature_frame(fit.table, fit.features)
        self._specs: tuple[FeatureSpec, ...] = learn_features(self._frame)
        encoded = np.array(encode(self._frame, self._specs), np.float64)
        dates = frozenset(name for name in fit.features if fit.table.column(name).kind == "date")
        self.rows = fit.rows_of("train")
        self._held: tuple[Held, ...] = held_values(self._specs, encoded[self.rows], dates)
        at = {name: fit.features.index(name) for name in n_cells}
        self.axes = tuple(
            make_axis(self._specs[at[name]], at[name], encoded[:, at[name]], n, name in dates)
            for name, n in n_cells.items()
        )
        self._training = [encoded[self.rows, axis.feature] for axis in self.axes]
        self._columns = self._of_cells()

    def drawn(self) -> tuple[NDArray[np.int64], list[Floats]]:
        """Return the training rows that are drawn, of many every k-th, and their places along each axis."""
        rows = thinned(self.rows)
        at = np.searchsorted(self.rows, rows)
        return rows, [axis.places(of[at], rows) for axis, of in zip(self.axes, self._training, strict=True)]

    def rows_told(self, rows_text: str, n_drawn: int) -> str:
        """Say it where fewer rows are drawn than there are."""
        return rows_text if n_drawn in (0, len(self.rows)) else f"{rows_text} ({count(n_drawn)} drawn)"

    @property
    def held_text(self) -> str:
        shown = {axis.feature for axis in self.axes}
        return held_sentence([held for at, held in enumerate(self._held) if at not in shown])

    def _of_cells(self) -> list[Floats]:
        """Return every column's encoded value in each cell."""
        n_each = [len(axis.values) for axis in self.axes]
        n_cells = int(np.prod(n_each))
        columns = [np.full(n_cells, held.encoded) for held in self._held]
        for k, axis in enumerate(self.axes):
            columns[axis.feature] = np.resize(np.repeat(axis.values, int(np.prod(n_each[:k]))), n_cells)
        return columns

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame like the table's."""
        import pandas as pd

        data: dict[str, Any] = {}
        for spec, values in zip(self._specs, self._columns, strict=True):
            if spec.is_categorical:
                codes = np.where(np.isnan(values), -1, values).astype(np.int64)
                data[spec.name] = pd.Categorical.from_codes(codes, self._frame[spec.name].cat.categories)
            else:
                data[spec.name] = values
        return pd.DataFrame(data)

    def numbers(self, names: tuple[str, ...]) -> Floats:
        """Return the rows as numbers, columns in the order of `names`."""
        known = [spec.name for spec in self._specs]
        return np.column_stack([self._columns[known.index(name)] for name in names])
