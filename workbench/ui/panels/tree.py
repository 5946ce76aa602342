"""The Tree view: the drawn tree beside its outline; opening, closing and pruning by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QMenu, QSizePolicy, QSpinBox, QSplitter, QTreeView, QWidget

from workbench.figures.tree import TreeFigure, tree_of_run
from workbench.fitting import what_differs
from workbench.node_rows import rule_of_node
from workbench.pruning import CutPrices, cut_prices_of
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.hand_commands import HandCommands
from workbench.ui.lit_leaves import LitLeaves
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.plots.tree_outline import OutlineModel
from workbench.ui.sight import Sight
from workbench.ui.states import BusyBar, EmptyState, Switch
from workbench.ui.widgets import ActionButton, ElidedLabel, Label, action_icon, bare_button, column, row

ACTIONS = (
    "prune", "restore", "grow", "force_split", "flip_missing", "step_back", "step_on", "expand", "collapse",
    "expand_all",
)  # fmt: skip
PRICES_KEY = "prices of cuts"
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
        self.canvas = TreeCanvas()
        self.canvas.remark_on = self._remark_on
        self.lit = LitLeaves(context, self, self.canvas, self._say_price)
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
        self._busy = BusyBar(dims=self.canvas)
        content.setLayout(column(self._busy, self._make_strip(), splitter, spacing=0))
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
        self._subtitle = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
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
        self._splits = Label("", "caption")
        self._splits.setObjectName("tree.splits")
        self._splits.setToolTip("Splits of this tree, of all that were grown or forced by hand")
        back, on = (
            action_icon(actions[f"action.tree.step_{way}"], f"tree.step_{way}") for way in ("back", "on")
        )
        self._steps = (back, self._splits, on)
        by_hand = [ActionButton(actions[f"action.tree.{name}"], "quiet") for name in ("prune", "restore")]
        for made in by_hand:
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys in the tree
        buttons = [
            self._which,
            *self._steps,
            *by_hand,
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
        self._by_hand = HandCommands(self._context, self, lambda: self.canvas.selected_path)
        add(
            "action.tree.copy_rule", "Copy Rule", None, self._copy_rule, "duplicate",
            tip="Copy what a row has to be to come to the selected node, and the node's answer",
        )  # fmt: skip
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
        self.canvas.prune_asked.connect(lambda _path: self._by_hand.prune_selected())
        self._context.editor.changed.connect(self._show_busy)
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
        preview = self._context.selection.preview_of(result)
        if preview is not None and preview.grown_tree is not None:  # of an ensemble every tree can be seen
            result = preview
        self._switch.show_content(result is not None)
        if run is None or result is None:
            self._result, self._shown_tree = None, None
            self.lit.show_result(None)
            self._set_figure(None)
            self._say_why()
        else:
            n_trees = len(result.trees)
            if n_trees == 0:
                self._result, self._shown_tree = None, None
                self.lit.show_result(None)
                self._switch.show_content(False)
                self._empty.say_what_trees_lack(self._context, GOAL)
                self._set_figure(None)
            else:
                self._show(run.run_id, run.name, result, n_trees)
        self._refresh_actions()

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is not None and run.result is not None:
            return
        self._empty.say_what_trees_lack(self._context, GOAL)

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
        is_passed_over = result is self._context.selection.preview_of(result)
        self.lit.show_result(None if is_passed_over else result)
        if is_passed_over:
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
            self._refresh_actions()

    def _say_price(self) -> None:
        """Under the title: what a cut would cost at the node under the pointer, else at the selected one."""
        figure, item = self.canvas.figure, self.canvas.item
        if figure is None:
            return
        node = item.hovered if item.hovered is not None else item.selected
        price = self._price_of(node) if node is not None else ""
        self._subtitle.setText(price or self.lit.sentence or figure.subtitle)

    def _remark_on(self, node: int) -> str:
        return "\n".join(filter(None, (self._price_of(node), self.lit.words_at(node))))

    def _price_of(self, node: int) -> str:
        figure, prices = self.canvas.figure, self._prices
        is_known = figure is not None and prices is not None and prices.tree is figure.tree
        return prices.sentence(node) if is_known else ""

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
        """Which nodes of a changed tree are open: those at paths that were open before.

        What was pruned and comes back is shown, as deep as it can be read, so that undo is seen.
        """
        is_open, was_open = np.zeros(after.n_nodes, bool), self.canvas.item.is_open
        is_readable = after.open_to(after.readable_depth())
        n_children, firsts = after.tree.n_children, after.tree.first_child
        old, new = np.zeros(1, np.int64), np.zeros(1, np.int64)
        back = np.zeros(0, np.int64)  # nodes of this level in branches that came back
        while len(new) + len(back):  # a level at a time
            n_new, n_old = n_children[new], before.tree.n_children[old]
            is_back = (n_new > 0) & (n_old == 0)
            is_open[new] = ((n_new > 0) & was_open[old]) | is_back
            is_open[back] = is_readable[back]
            above = np.concatenate([back, new[is_back]])
            back = _children(firsts[above], n_children[above])
            n = np.minimum(n_old, n_new)
            old, new = _children(before.tree.first_child[old], n), _children(firsts[new], n)
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

    def _copy_rule(self) -> None:
        path = self.canvas.selected_path
        if self._result is not None and path is not None:
            QGuiApplication.clipboard().setText(rule_of_node(self._result, path))
            self._context.document.post_message("Copied the rule of the selected node")

    def _show_busy(self) -> None:
        if self._context.editor.is_busy:
            self._busy.begin()
        else:
            self._busy.end()

    def _refresh_actions(self) -> None:
        self._say_price()
        figure, node, actions = self.canvas.figure, self.canvas.item.selected, self._context.actions
        has_node = figure is not None and node is not None
        is_inner = has_node and not figure.is_leaf(node)
        is_closed = is_inner and self.canvas.item.is_closed(int(node or 0))
        run = self._context.document.current_run
        is_single = run is not None and run.result is not None and run.result.grown_tree is not None
        actions.enable("action.tree.copy_rule", has_node and is_single)
        self._by_hand.refresh(figure, node, self._prices)
        self._say_splits()
        actions.enable("action.tree.expand", is_closed)
        actions.enable("action.tree.collapse", is_inner and not is_closed)
        actions.enable("action.tree.expand_all", figure is not None)
        actions.enable("action.view.fit", figure is not None)

    def _say_splits(self) -> None:
        """Beside the steps: how many splits the tree has of those that can be there."""
        prices, is_single = self._prices, self._result is not None and self._result.grown_tree is not None
        for part in self._steps:
            part.setVisible(is_single)
        if is_single and prices is not None:
            self._splits.setText(f"{prices.n_splits:,} of {prices.n_splits_uncut:,} splits")

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


def _children(firsts: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return `n` nodes from each of `firsts` on, one node's after the other's."""
    child = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return np.repeat(firsts, n) + child
