"""What is selected in any view: a node of a tree, rows of the table, and how the tree would look changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

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
        self._preview: RunResult | None = None

    @property
    def node_path(self) -> tuple[int, ...] | None:
        """Branch path of the selected node (D5); None if there is none."""
        return self._node_path

    @property
    def tree_idx(self) -> int:
        """Which tree of an ensemble is looked at."""
        return self._tree_idx

    def select_node(self, path: tuple[int, ...] | None) -> None:
        if path != self._node_path:
            self._node_path = path
            self.changed.emit()

    def select_tree(self, tree_idx: int) -> None:
        """Look at another tree; its nodes are others, so no node is selected."""
        if tree_idx != self._tree_idx:
            self._tree_idx, self._node_path = tree_idx, None
            self.changed.emit()

    def preview_of(self, result: RunResult | None) -> RunResult | None:
        """A run's result with the tree that a slider asks for while it is dragged, and with the old scores.

        None where nothing is dragged, or the tree of another run.
        """
        preview = self._preview
        is_its_own = preview is not None and result is not None and preview.grown_tree is result.grown_tree
        return preview if is_its_own else None

    def show_preview(self, preview: RunResult | None) -> None:
        """Let views of trees show this one until it is in place; None: no longer."""
        if preview is not self._preview:
            self._preview = preview
            self.preview_changed.emit()

    def clear(self) -> None:
        """Select nothing: another model or table is looked at."""
        if self._node_path is not None or self._tree_idx:
            self._node_path, self._tree_idx = None, 0
            self.changed.emit()
