"""What is selected in any view: a node of a tree, rows of the table, and how the tree would look changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from workbench.runs import training_of

if TYPE_CHECKING:
    from workbench.runs import RunResult


class Selection(QObject):
    """The selected node, tree and rows; views write it and follow it."""

    changed = Signal()
    preview_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._node_path: tuple[int, ...] | None = None
        self._tree_idx = 0
        self._rows: NDArray[np.intp] | None = None
        self._preview: RunResult | None = None
        self._previewed: object = None  # what tells the training that the preview is of

    @property
    def node_path(self) -> tuple[int, ...] | None:
        """Branch path of the selected node (D5); None if there is none."""
        return self._node_path

    @property
    def tree_idx(self) -> int:
        """Which tree of an ensemble is looked at."""
        return self._tree_idx

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """Rows of the table, where several are selected instead of a node; None if they are not."""
        return self._rows

    def select_node(self, path: tuple[int, ...] | None) -> None:
        if path != self._node_path or self._rows is not None:
            self._node_path, self._rows = path, None
            self.changed.emit()

    def select_rows(self, rows: NDArray[np.intp] | None) -> None:
        """Select several rows of the table, whose leaves are lit, and with them no node; None: no longer."""
        if rows is not None:
            self._node_path, self._rows = None, rows
            self.changed.emit()
        elif self._rows is not None:
            self._rows = None
            self.changed.emit()

    def select_tree(self, tree_idx: int) -> None:
        """Look at another tree; its nodes are others, so no node is selected."""
        if tree_idx != self._tree_idx:
            self._tree_idx, self._node_path = tree_idx, None
            self.changed.emit()

    def preview_of(self, result: RunResult | None) -> RunResult | None:
        """A run's result as a slider asks for it: with another tree, or with the first rounds alone.

        Scores and all else are those of the run. None where nothing is asked for, or of another run.
        """
        is_its_own = result is not None and training_of(result) is self._previewed
        return self._preview if is_its_own else None

    def show_preview(self, preview: RunResult | None, of: RunResult | None = None) -> None:
        """Let views show a single tree changed, or the first rounds `of` an ensemble; None: no longer."""
        if preview is not self._preview:
            whole = of or preview
            self._preview, self._previewed = preview, None if whole is None else training_of(whole)
            self.preview_changed.emit()

    def rounds_of(self, result: RunResult) -> int:
        """How many rounds or trees of an ensemble are looked at: all, or the first ones."""
        return (self.preview_of(result) or result).n_rounds

    def look_at_rounds(self, result: RunResult, n_rounds: int) -> None:
        """Look at the first rounds or trees of an ensemble, and at the last tree among them."""
        from workbench.rounds import looked_at, trees_a_round

        if n_rounds != self.rounds_of(result):
            is_all = n_rounds == result.n_rounds
            self.show_preview(None if is_all else looked_at(result, n_rounds), result)
            n_a_round = trees_a_round(result)
            self.select_tree((n_rounds - 1) * n_a_round + self._tree_idx % n_a_round)

    def clear(self) -> None:
        """Select no node, and of an ensemble the first tree: another model is looked at."""
        if self._node_path is not None or self._tree_idx:
            self._node_path, self._tree_idx = None, 0
            self.changed.emit()
