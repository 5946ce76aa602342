"""Which settings of a base model are chosen inside each of a stack's fits, beside its other settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from engine.errors import ParameterError
from workbench.model_choice import TableOfModels
from workbench.tuning_grids import default_text, tunable_parameters, values_text
from workbench.ui.forms.grid_line import GridLines
from workbench.ui.widgets import Label, column

NOTHING = "nothing"


class TunedInside(QWidget):
    """One or two settings with the values to choose from; nothing where the model is taken as it is set.

    Parameters
    ----------
    prefix : str
        Of object names.
    """

    changed = Signal(dict)  # by parameter's name, the list of values; empty for nothing

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._lines = GridLines(prefix, NOTHING)
        self._lines.changed.connect(self._on_changed)
        self._shown: tuple[Any, ...] = ()
        self.setLayout(column(Label("Chosen by folds inside each fit", "secondary"), self._lines, spacing=4))

    def show_model(self, at: int, model: Mapping[str, Any], table: TableOfModels) -> None:
        """Show what is chosen for the model in place `at`; texts that say so already stay as they are."""
        kind, values, grid = model["kind"], model["parameters"], dict(model.get("grid", {}))
        parameters = tunable_parameters(kind, table.task, values, table.n_classes)
        known = {parameter.name: parameter for parameter in parameters}
        shown = at, kind, grid, tuple(known)
        if self._shown == shown:
            return
        self._shown = shown
        names = [name for name in grid if name in known]
        texts = [values_text(known[name], grid[name]) for name in names]
        default = partial(default_text, settings=values, n_features=table.n_columns)
        self._lines.offer(parameters, default, names, texts)
        self._lines.align()

    def _on_changed(self) -> None:
        try:
            grid = {name: list(values) for name, values in self._lines.grid().items()}
        except ParameterError:
            return  # the line is marked; what was there before holds until the text can be read
        at, kind, _, names = self._shown
        self._shown = at, kind, grid, names
        self.changed.emit(grid)
