"""Lights the leaves of the rows that are selected in the table, with counts, on the tree's canvas."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.figures.words import count, counted
from workbench.fitting import what_differs
from workbench.node_rows import leaves_of_rows
from workbench.ui.context import Context
from workbench.ui.plots.lit_item import LitItem
from workbench.ui.sight import Sight

if TYPE_CHECKING:
    from workbench.runs import RunResult
    from workbench.ui.plots.tree import TreeCanvas

LEAVES_KEY = "leaves of rows"


class LitLeaves(QObject):
    """Follows `Selection.rows`.

    Parameters
    ----------
    view : QWidget
        The panel of `canvas`; where it is out of sight nothing is worked out.
    on_change : callable
        Called when other leaves are lit.
    """

    def __init__(
        self, context: Context, view: QWidget, canvas: TreeCanvas, on_change: Callable[[], object]
    ) -> None:
        super().__init__(view)
        self._context, self._canvas, self._on_change = context, canvas, on_change
        self._result: Any = None
        self._job: Any = None
        self.item = LitItem(canvas.item)
        self._sight = Sight(view, self._look)
        context.selection.changed.connect(self._sight.ask)

    def show_result(self, result: RunResult | None) -> None:
        """Tell whose tree is drawn; None: one that is passed over, or none."""
        if result is not self._result:
            self._result = result
            self._light({})
            self._sight.ask()

    @property
    def sentence(self) -> str:
        """Such as "5 selected rows end in 2 leaves"; empty where none is lit."""
        counts = self.item.counts
        if not counts:
            return ""
        leaves = counted(len(counts), "leaf", "leaves")
        return f"{count(sum(counts.values()))} selected rows end in {leaves}"

    def words_at(self, node: int) -> str:
        """How many of the selected rows end at or below a card; empty where none does."""
        n_rows, n_all = self.item.shown_counts().get(node, 0), sum(self.item.counts.values())
        return f"{count(n_rows)} of {count(n_all)} selected rows" if n_rows else ""

    def _look(self) -> None:
        rows, result, table = self._context.selection.rows, self._result, self._context.document.table
        self._job = None
        if rows is None or result is None or table is None or result.grown_tree is None:
            self._light({})
            return
        if what_differs(result, table):
            self._light({})
            return
        self._job = self._context.lanes.views.submit_latest(
            LEAVES_KEY, lambda _monitor: leaves_of_rows(result, table, rows), "Finding the rows' leaves"
        )
        self._job.ended.connect(self._on_leaves)

    def _on_leaves(self, future: Future) -> None:
        figure = self._canvas.figure
        if future.cancelled() or self._job is None or figure is None or self._result is None:
            return
        if figure.tree is self._result.trees[0]:
            self._light({figure.tree.node_at(path): n for path, n in future.result().items()})

    def _light(self, counts: dict[int, int]) -> None:
        if counts != self.item.counts:
            self.item.set_counts(counts)
            self._on_change()
