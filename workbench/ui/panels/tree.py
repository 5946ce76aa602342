"""The Tree view: the drawn tree beside its outline; opening, closing and pruning by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QMenu, QSizePolicy, QSpinBox, QSplitter, QTreeView, QWidget

from engine.errors import DataError
from workbench.editing import grow_below
from workbench.figures.tree import TreeFigure, tree_of_run
from workbench.fitting import what_differs
from workbench.forcing import choices_at
from workbench.node_rows import rule_of_node
from workbench.pruning import CutPrices, cut_prices_of
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.plots.tree_outline import OutlineModel
from workbench.ui.sight import Sight
from workbench.ui.split_dialog import SplitDialog
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ActionButton, ElidedLabel, bare_button, column, row

ACTIONS = ("prune", "restore", "grow", "force_split", "flip_missing", "expand", "collapse", "expand_all")
PRICES_KEY, GROW_KEY = "prices of cuts", "growing below"
OUTLINE_FROM_PX = 960  # narrower, the canvas takes all the room
GOAL = "its tree"
SEVERAL_STEPS = 50  # an outline this small is shown unfolded


class _TreeNumber(QSpinBox):
    """A number that the wheel scrolls past."""

    def wheelEvent(self, event) -> None:
        event.ignore()


class TreePanel(QWidget):
    """Shows one tree of the current run and lets it be changed by hand."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.tree")
        self._context = context
        self._result: Any = None
        self._shown_tree: tuple[str, int] | None = None
        self._prices: CutPrices | None = None
        self._growing: tuple[str, Any] | None = None  # a run, and its result before
        self.canvas = TreeCanvas()
        self.outline = self._make_outline()
        self._add_actions()
        self._empty = EmptyState("tree", "")
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.outline)
        splitter.addWidget(self.canvas)
        splitter.setStretchFactor(0, 0)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([250, 700])
        content = QWidget()
        content.setLayout(column(self._make_strip(), splitter, spacing=0))
        self._switch = Switch(self._empty, content, self)
        self.setLayout(column(self._switch))
        self._prices_sight = Sight(self, self._ask_prices)
        self._connect()
        self._refresh()

    def _make_outline(self) -> QTreeView:
        outline = QTreeView()
        outline.setObjectName("tree.outline")
        outline.setAccessibleName("Tree as an outline")
        self._outline_model = OutlineModel(outline)
        outline.setModel(self._outline_model)
        outline.setUniformRowHeights(True)
        outline.setIndentation(14)
        outline.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        outline.setMinimumWidth(0)
        outline.header().setStretchLastSection(False)
        outline.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        outline.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        outline.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return outline

    def _make_strip(self) -> QWidget:
        self._title = ElidedLabel("", "name")
        self._subtitle = ElidedLabel("", "caption")
        self._which = _TreeNumber()
        self._which.setObjectName("tree.which")
        self._which.setAccessibleName("Which tree")
        self._which.setPrefix("tree ")
        self._which.setKeyboardTracking(False)
        self._which.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self._which.lineEdit().setTextMargins(8, 0, 0, 0)  # spin boxes pass over their style's padding
        self._which.setToolTip("Which tree: type a number, or press Up and Down")
        actions = self._context.actions
        self._exports = PictureExports.of(self._context)
        self._exports.register(self, lambda: self.canvas if self.canvas.figure is not None else None, "tree")
        texts = QWidget()
        texts.setLayout(column(self._title, self._subtitle, spacing=0))
        strip = QWidget()
        strip.setObjectName("tree.strip")
        buttons = [
            self._which,
            ActionButton(actions["action.tree.prune"], "quiet"),
            ActionButton(actions["action.tree.restore"], "quiet"),
            bare_button("expand", "Expand all", self.canvas.open_all, "tree.expand_all"),
            bare_button("fit", "Fit to the view", self.canvas.fit, "tree.fit"),
            bare_button("picture", "Export picture", self._export, "tree.export"),
        ]
        layout = row(12, texts, -1, *buttons, 4, margins=4, spacing=4)
        layout.setStretchFactor(texts, 100)
        strip.setLayout(layout)
        strip.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        return strip

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.outline.setVisible(event.size().width() >= OUTLINE_FROM_PX)

    def _export(self) -> None:
        self._exports.ask(self, self.canvas, "tree")

    def _add_actions(self) -> None:
        add = self._context.actions.add
        add("action.tree.prune", "Prune", None, self._prune, "prune", tip="Make the selected node a leaf")
        add(
            "action.tree.restore",
            "Put Back",
            None,
            self._restore,
            "undo",
            tip="Put back what was changed by hand at the selected node",
        )
        add(
            "action.tree.grow",
            "Grow Below",
            None,
            self._grow,
            "tree",
            tip="Grow anew below the selected node, with the settings this model was trained with",
        )
        add(
            "action.tree.force_split",
            "Force a Split…",
            None,
            self._ask_split,
            "edited",
            tip="Choose the question that the selected node asks; what is below it goes",
        )
        add(
            "action.tree.flip_missing",
            "Send Missing to the Other Side",
            None,
            self._flip_missing,
            "swap",
            tip="Rows that miss the column the selected node asks about take the other branch",
        )
        add(
            "action.tree.copy_rule",
            "Copy Rule",
            None,
            self._copy_rule,
            "duplicate",
            tip="Copy what a row has to be to come to the selected node, and the node's answer",
        )
        add("action.tree.expand", "Expand Node", None, lambda: self._open_selected(True), "expand")
        add("action.tree.collapse", "Collapse Node", None, lambda: self._open_selected(False), "collapse")
        add("action.tree.expand_all", "Expand All Nodes", None, self.canvas.open_all, "expand")
        add("action.view.fit", "Fit Tree to View", "Ctrl+Shift+F", self.canvas.fit, "fit")

    def _connect(self) -> None:
        document = self._context.document
        for signal in (document.table_changed, document.current_run_changed):
            signal.connect(self._refresh)
        document.run_changed.connect(self._on_run_changed)
        for signal in (document.columns_changed, *self._context.trainer.work_signals):
            signal.connect(self._say_why)
        self._context.selection.changed.connect(self._on_selection_changed)
        self._context.selection.preview_changed.connect(self._refresh)
        self.canvas.node_selected.connect(self._on_node_selected)
        self.canvas.prune_asked.connect(lambda _path: self._prune())
        self.canvas.menu_asked.connect(self._on_menu)
        self.canvas.opened_changed.connect(self._refresh_actions)
        self.canvas.hovered_changed.connect(self._say_price)
        self._which.valueChanged.connect(lambda number: self._context.selection.select_tree(number - 1))
        self.outline.selectionModel().currentChanged.connect(self._on_outline_current)

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._refresh)

    def _refresh(self, *_: object) -> None:
        run = self._context.document.current_run
        result = run.result if run is not None else None
        result = self._context.selection.preview_of(result) or result
        self._switch.show_content(result is not None)
        if run is None or result is None:
            self._result, self._shown_tree = None, None
            self._set_figure(None)
            self._say_why()
        else:
            n_trees = len(result.trees)
            if n_trees == 0:
                self._switch.show_content(False)
                self._empty.say("This model has no tree.", "It was stopped before its first round.")
                self._set_figure(None)
            else:
                self._show(run.run_id, run.name, result, n_trees)
        self._refresh_actions()

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is not None and run.result is not None:
            return
        self._empty.say_what_is_missing(self._context, GOAL)

    def _show(self, run_id: str, name: str, result, n_trees: int) -> None:
        tree_idx = min(self._context.selection.tree_idx, n_trees - 1)
        self._which.blockSignals(True)
        self._which.setRange(1, n_trees)
        self._which.setSuffix(f" of {n_trees:,}")
        self._which.setValue(tree_idx + 1)
        self._which.blockSignals(False)
        self._which.setVisible(n_trees > 1)
        is_same_tree = self._shown_tree == (run_id, tree_idx)
        before = self.canvas.figure
        tree = result.trees[tree_idx]
        if before is not None and is_same_tree and before.tree is tree and before.title == name:
            self._take(result)
            return
        figure = tree_of_run(name, result, tree_idx, self._context.document.table)
        is_open = self._carried_open(before, figure) if is_same_tree and before is not None else None
        self._shown_tree = (run_id, tree_idx)
        self._set_figure(figure, is_open)
        self._take(result)
        self.canvas.select(self._context.selection.node_path)

    def _take(self, result) -> None:
        """Look at a result whose tree is drawn; its cuts are priced unless it is passed over by a slider."""
        if result is self._context.selection.preview_of(result):
            return
        self._fill_outline()
        if result is self._result:
            return
        self._result = result
        if self._prices is None or self._prices.tree is not result.trees[0]:
            self._prices = None
            self._prices_sight.ask()

    def _ask_prices(self) -> None:
        """Find out what every cut would cost, where it can be made."""
        table, result = self._context.document.table, self._result
        if result is None or result.grown_tree is None or table is None or what_differs(result, table):
            return
        job = self._context.lanes.views.submit_latest(
            PRICES_KEY, lambda _monitor: cut_prices_of(result, table), "Pricing the cuts"
        )
        job.ended.connect(self._on_prices)

    def _on_prices(self, future) -> None:
        if future.cancelled():
            return
        prices, figure = future.result(), self.canvas.figure
        if figure is not None and figure.tree is prices.tree:
            self._prices = prices
            self._say_price()

    def _say_price(self) -> None:
        """Under the title: what a cut would cost at the node under the pointer, else at the selected one."""
        figure, item = self.canvas.figure, self.canvas.item
        if figure is None:
            return
        node = item.hovered if item.hovered is not None else item.selected
        prices = self._prices if self._prices is not None and self._prices.tree is figure.tree else None
        price = prices.sentence(node) if prices is not None and node is not None else ""
        self._subtitle.setText(price or figure.subtitle)

    def _set_figure(self, figure: TreeFigure | None, is_open: np.ndarray | None = None) -> None:
        self.canvas.set_figure(figure, is_open)
        if figure is None or self.outline.isVisible():
            self._fill_outline()
        if figure is not None:
            self._title.setText(figure.title)
            self._subtitle.setText(figure.subtitle)

    def _fill_outline(self) -> None:
        figure = self.canvas.figure
        if self._outline_model.figure is not figure:
            self._outline_model.set_figure(figure)
            if figure is not None:
                self.outline.expandToDepth(1 if figure.n_nodes > SEVERAL_STEPS else 5)

    def _carried_open(self, before: TreeFigure, after: TreeFigure) -> np.ndarray:
        """Which nodes of a changed tree are open: those at paths that were open before."""
        is_open, was_open = np.zeros(after.n_nodes, bool), self.canvas.item.is_open
        old, new = np.zeros(1, np.int64), np.zeros(1, np.int64)
        while len(new):  # a level at a time
            n_new, n_old = after.tree.n_children[new], before.tree.n_children[old]
            # what was pruned and comes back is shown, so that undo is seen
            is_open[new] = (n_new > 0) & (was_open[old] | (n_old == 0))
            n = np.minimum(n_old, n_new)
            child = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
            old = np.repeat(before.tree.first_child[old], n) + child
            new = np.repeat(after.tree.first_child[new], n) + child
        return is_open

    def _on_selection_changed(self) -> None:
        selection = self._context.selection
        if self._shown_tree is not None and selection.tree_idx != self._shown_tree[1]:
            self._refresh()
        self.canvas.select(selection.node_path)
        node, outlined = self.canvas.item.selected, self._outline_model
        is_current = outlined.node_of(self.outline.currentIndex()) == node
        if node is not None and not is_current and outlined.figure is self.canvas.figure:
            index = outlined.index_of(node)
            self.outline.setCurrentIndex(index)
            self.outline.scrollTo(index)
        self._refresh_actions()

    def _on_node_selected(self, path) -> None:
        self._context.selection.select_node(path)

    def _on_outline_current(self, current, _before) -> None:
        node = self._outline_model.node_of(current)
        if node is not None:
            self._context.selection.select_node(self.canvas.figure.tree.path_to(node))

    def _open_selected(self, is_open: bool) -> None:
        if self.canvas.item.selected is not None:
            self.canvas.set_open(self.canvas.item.selected, is_open)

    def _prune(self) -> None:
        self._edit(self._context.document.prune)

    def _restore(self) -> None:
        self._edit(self._context.document.expand)

    def _grow(self) -> None:
        document, path = self._context.document, self.canvas.selected_path
        run, table = document.current_run, document.table
        if run is None or run.result is None or table is None or path is None:
            return
        result = run.result
        self._growing = (run.run_id, result)
        job = self._context.lanes.views.submit_latest(
            GROW_KEY, lambda monitor: grow_below(result, table, path, monitor), "Growing below a node"
        )
        job.ended.connect(self._on_grown)

    def _on_grown(self, future) -> None:
        if future.cancelled() or self._growing is None:
            return
        (run_id, before), self._growing = self._growing, None
        refusal = future.exception()
        if not isinstance(refusal, DataError):
            self._edit_with(self._context.document.take_grown, run_id, before, future.result())
        else:  # not raised again: it would hold the panel
            self._context.document.post_message(str(refusal))

    def _flip_missing(self) -> None:
        self._edit(self._context.document.flip_missing)

    def _ask_split(self) -> None:
        document, path = self._context.document, self.canvas.selected_path
        run = document.current_run
        if run is None or document.table is None or path is None:
            return
        try:
            choices = choices_at(run.result, document.table, path)
        except DataError as error:
            document.post_message(str(error))
            return
        if not choices.columns:
            document.post_message(
                "The training rows of this node are alike in every column: none divides them."
            )
            return
        SplitDialog(self.window(), choices, partial(document.force_split, run.run_id, path)).open()

    def _copy_rule(self) -> None:
        path = self.canvas.selected_path
        if self._result is not None and path is not None:
            QGuiApplication.clipboard().setText(rule_of_node(self._result, path))
            self._context.document.post_message("Copied the rule of the selected node")

    def _edit(self, change) -> None:
        document, path = self._context.document, self.canvas.selected_path
        if document.current_run_id is not None and path is not None:
            self._edit_with(change, document.current_run_id, path)

    def _edit_with(self, change, *what) -> None:
        try:
            change(*what)
        except DataError as error:
            self._context.document.post_message(str(error))

    def _refresh_actions(self) -> None:
        self._say_price()
        figure, node, actions = self.canvas.figure, self.canvas.item.selected, self._context.actions
        has_node = figure is not None and node is not None
        is_inner = has_node and not figure.is_leaf(node)
        is_closed = is_inner and self.canvas.item.is_closed(int(node or 0))
        run = self._context.document.current_run
        is_single = run is not None and run.result is not None and run.result.grown_tree is not None
        is_changed = has_node and figure.tree.path_to(node) in figure.edited
        actions.enable("action.tree.prune", is_inner and is_single)
        actions.enable("action.tree.restore", is_changed and is_single)
        actions.enable("action.tree.grow", has_node and is_single)
        actions.enable("action.tree.force_split", has_node and is_single)
        actions.enable("action.tree.flip_missing", is_single and has_node and figure.chooses_missing(node))
        actions.enable("action.tree.copy_rule", has_node and is_single)
        actions.enable("action.tree.expand", is_closed)
        actions.enable("action.tree.collapse", is_inner and not is_closed)
        actions.enable("action.tree.expand_all", figure is not None)
        actions.enable("action.view.fit", figure is not None)

    def _on_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ACTIONS:
            menu.addAction(self._context.actions[f"action.tree.{name}"])
        menu.addSeparator()
        for name in ("tree.copy_rule", "model.copy_sql"):
            if action := self._context.actions.get(f"action.{name}"):
                menu.addAction(action)
        menu.addSeparator()
        menu.addAction(self._context.actions["action.view.fit"])
        menu.popup(position)
