"""Commands that change a single tree by hand: at the selected node, and step by step through its splits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from engine.errors import DataError
from workbench.forcing import Choices, choices_at
from workbench.tree_editor import is_small
from workbench.ui.split_dialog import SplitDialog

if TYPE_CHECKING:
    from workbench.figures.tree import TreeFigure
    from workbench.pruning import CutPrices
    from workbench.ui.context import Context

CHOICES_KEY = "choices of a split"
OTHERS_STAY = "other changes by hand stay"


class HandCommands(QObject):
    """Adds its actions when it is made; the Tree view tells it which node is selected.

    Parameters
    ----------
    selected : callable
        Returns the path of the selected node, or None.
    """

    def __init__(
        self, context: Context, view: QWidget, selected: Callable[[], tuple[int, ...] | None]
    ) -> None:
        super().__init__(view)
        self._context, self._view, self._selected = context, view, selected
        add, editor = context.actions.add, context.editor

        def add_at_node(name: str, text: str, icon: str, edit: Callable[..., object], tip: str) -> None:
            add(f"action.tree.{name}", text, None, partial(self._at_node, edit), icon, tip=tip)

        add_at_node("prune", "Prune", "prune", editor.prune, "Make the selected node a leaf (Delete)")
        tip = "Put back what was changed by hand at the selected node"
        add_at_node("restore", "Put Back", "undo", editor.restore, tip)
        tip = "Grow anew below the selected node, with the settings this model was trained with"
        add_at_node("grow", "Grow Below", "tree", editor.grow_below, tip)
        tip = "Choose the question that the selected node asks; what is below it goes"
        add_at_node("force_split", "Force a Split…", "edited", self._ask_split, tip)
        tip = "Rows that miss the column the selected node asks about take the other branch"
        add_at_node("flip_missing", "Send Missing to the Other Side", "swap", editor.flip_missing, tip)
        tip = f"Take back the last split of growing best first; {OTHERS_STAY}"
        add("action.tree.step_back", "Take One Split Back", "F7", partial(self._step, -1), "fewer", tip=tip)
        tip = f"Put back the best of all splits that were cut; {OTHERS_STAY}"
        add("action.tree.step_on", "Grow One Split", "F8", partial(self._step, 1), "more_splits", tip=tip)

    def prune_selected(self) -> None:
        """Make the selected node a leaf."""
        self._at_node(self._context.editor.prune)

    def refresh(self, figure: TreeFigure | None, node: int | None, prices: CutPrices | None) -> None:
        """Switch the commands on that can be used at the selected node."""
        enable, run = self._context.actions.enable, self._context.document.current_run
        is_single = run is not None and run.result is not None and run.result.grown_tree is not None
        has_node = is_inner = is_changed = chooses = False
        if figure is not None and node is not None and is_single:
            has_node, is_inner = True, not figure.is_leaf(node)
            is_changed = figure.tree.path_to(node) in figure.edited
            chooses = figure.chooses_missing(node)
        enable("action.tree.prune", is_inner)
        enable("action.tree.restore", is_changed)
        enable("action.tree.grow", has_node)
        enable("action.tree.force_split", has_node)
        enable("action.tree.flip_missing", chooses)
        n_cut = 0 if prices is None else prices.n_splits_uncut - prices.n_splits
        is_waiting = is_single and prices is None and any(edit.is_cut for edit in run.result.edits)
        enable("action.tree.step_back", is_single and figure is not None and figure.n_nodes > 1)
        enable("action.tree.step_on", is_single and (n_cut > 0 or is_waiting))

    def _step(self, n_more: int) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None:
            self._context.editor.step_splits(run_id, n_more)

    def _at_node(self, edit: Callable[[str, tuple[int, ...]], object]) -> None:
        run_id, path = self._context.document.current_run_id, self._selected()
        if run_id is not None and path is not None:
            edit(run_id, path)

    # ---- forcing a split ---------------------------------------------------------------------------

    def _ask_split(self, run_id: str, path: tuple[int, ...]) -> None:
        ask_split(self._context, self._view, run_id, path)


def ask_split(
    context: Context, view: QWidget, run_id: str, path: tuple[int, ...], feature: str = "",
    threshold: float | None = None,
) -> None:  # fmt: skip
    """Open the dialog for a node's question, with a column and a threshold if they are given."""
    result, table = context.document.run(run_id).result, context.document.table
    if result is None or table is None:
        return

    def on_choices(choices_of: Callable[[], Choices]) -> None:
        try:
            choices = choices_of()
        except DataError as error:
            context.document.post_message(str(error))
            return
        if not choices.columns:
            context.document.post_message(
                "The training rows of this node are alike in every column: none divides them."
            )
            return
        choices = choices.starting_at(feature, threshold)
        editor = context.editor
        SplitDialog(view.window(), choices, partial(editor.force_split, run_id, path), editor.stop).open()

    if is_small(result, table):
        on_choices(partial(choices_at, result, table, path))
        return
    job = context.lanes.views.submit_latest(
        CHOICES_KEY, lambda _monitor: choices_at(result, table, path), "Looking at the rows of a node"
    )

    def on_ended(future: Future) -> None:
        job.ended.disconnect()  # what hears it holds the view
        job.release()
        if not future.cancelled():
            on_choices(future.result)

    job.ended.connect(on_ended)
