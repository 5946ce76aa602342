"""The Compare view: all models in one table, and the curves of the selected ones over one another."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSplitter, QTableView, QWidget

from workbench.figures.compare import CompareFigure, make_compare, overlaid_curves
from workbench.figures.scores import PART_TEXTS
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.training import TrainingPlot
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, Label, bare_button, column, literal, row

FIXED = ("Model", "Kind", "State")
ALL_CURVES = "Curves of all models that have one; select some above to see only these"
NO_CURVES = (
    "Boosting, AdaBoost and the perceptron show their loss curves here, laid over one another, once trained."
)
NONE_SELECTED_HAS_CURVES = (
    "The selected models have no single loss curve: trained boosting, AdaBoost and perceptrons have. "
    "Select one of these."
)
PART_NOTES = {
    "validation": "for choosing; Scores opens on the test rows",
    "test": "for judging; choosing by these rows flatters",
    "train": "these rows grew the models: what they remember",
}
PART_ORDER = ("validation", "test", "train")


class CompareModel(QAbstractTableModel):
    """The texts of a `CompareFigure`; the best score of a column is bold."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: Any = None  # a CompareFigure once there are runs

    def set_figure(self, figure: CompareFigure) -> None:
        self.beginResetModel()
        self.figure = figure
        self.endResetModel()

    def rowCount(self, parent=QModelIndex()):  # noqa: B008 - Qt's own default
        return 0 if self.figure is None or parent.isValid() else len(self.figure.rows)

    def columnCount(self, parent=QModelIndex()):  # noqa: B008 - Qt's own default
        return 0 if self.figure is None or parent.isValid() else len(FIXED) + len(self.figure.columns)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole):
        if orientation != Qt.Orientation.Horizontal or self.figure is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        names = (*FIXED, *self.figure.columns)
        return names[section] if role == Qt.ItemDataRole.DisplayRole else None

    def _alignment(self, section: int) -> int:
        side = Qt.AlignmentFlag.AlignLeft if section < len(FIXED) else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignVCenter)

    def text(self, row_idx: int, column_idx: int) -> str:
        line = self.figure.rows[row_idx]
        return (line.name, line.kind, line.state, *line.cells)[column_idx]

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        if not index.isValid():
            return None
        row_idx, column_idx = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row_idx, column_idx)
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(self.text(row_idx, column_idx))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(column_idx)
        if role == Qt.ItemDataRole.FontRole:
            score_idx = column_idx - len(FIXED)
            is_best = 0 <= score_idx < self.figure.n_scores and row_idx in self.figure.best[score_idx]
            return theme.font(13, 600 if is_best else 400)
        return None


class ComparePanel(QWidget):
    """Selecting rows overlays their curves; a double click makes a model the current one."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.compare")
        self._context = context
        self._part = ComboBox()
        self._part.setObjectName("compare.part")
        self._part.setMinimumContentsLength(18)
        for part in PART_ORDER:
            self._part.addItem(PART_TEXTS[part], part)
        self._part_note = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        self._part_note.setObjectName("compare.part_note")
        self._part.activated.connect(self._refresh)
        self.model = CompareModel(self)
        self.table = self._make_table()
        self.plot = TrainingPlot()
        self.plot.setObjectName("compare.plot")
        self._no_curves = Label("", "secondary", wrap=True)
        self._no_curves.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._curves = Switch(self._no_curves, self.plot)
        self._exports = PictureExports.of(context)
        self._exports.register(self, lambda: self.plot if self._curves.shows_content else None, "compare")
        empty = EmptyState(
            "compare",
            "No models yet. Add two to see them side by side.",
            "Their scores, and only the settings in which they differ.",
            context.actions.get("action.model.add_tree"),
        )
        self._switch = Switch(empty, self._make_content(), self)
        self.setLayout(column(self._switch))
        document = context.document
        for signal in (
            document.table_changed,
            document.columns_changed,
            document.run_added,
            document.run_removed,
            document.parameter_changed,
        ):
            signal.connect(self._refresh)
        document.run_changed.connect(self._on_run_changed)
        theme.changed.connect(self.table.viewport().update)
        self._refresh()

    def _make_content(self) -> QWidget:
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.table)
        splitter.addWidget(self._curves)
        splitter.setSizes([220, 240])
        export = bare_button("picture", "Export the curves", self._export, "compare.export")
        content = QWidget()
        head = row(12, Label("Scores on", "secondary"), self._part, 8, self._part_note, export, 8, margins=4)
        head.setStretchFactor(self._part_note, 1)  # else the first word is given the spare room
        layout = column(head, splitter, spacing=4)
        layout.setStretchFactor(splitter, 1)
        content.setLayout(layout)
        return content

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("compare.table")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)  # Tab leaves the table; arrows move in it
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.scaled(28))
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        table.horizontalHeader().setFont(theme.font(11, 600))
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.selectionModel().selectionChanged.connect(self._refresh_curves)
        table.doubleClicked.connect(self._on_double_clicked)
        return table

    def selected_ids(self) -> list[str]:
        """Run ids of the selected rows, top to bottom."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.figure.rows[k].run_id for k in rows]

    def _on_run_changed(self, _run_id: str) -> None:
        self._context.trainer.in_turn(self._refresh)

    def _refresh(self, *_: object) -> None:
        document = self._context.document
        self._switch.show_content(bool(document.runs))
        if not document.runs:
            return
        selected = set(self.selected_ids()) if self.model.figure is not None else set()
        figure = make_compare(document.runs, document.task, self._part.currentData())
        self._part_note.setText(PART_NOTES[figure.part])
        self.model.set_figure(figure)
        selection = self.table.selectionModel()
        for k, line in enumerate(figure.rows):
            if line.run_id in selected:
                flags = selection.SelectionFlag.Select | selection.SelectionFlag.Rows
                selection.select(self.model.index(k, 0), flags)
        self.table.resizeColumnsToContents()
        self._refresh_curves()

    def _refresh_curves(self, *_: object) -> None:
        runs = self._context.document.runs
        chosen = [runs[run_id] for run_id in self.selected_ids() if run_id in runs]
        figure = overlaid_curves(chosen) if chosen else overlaid_curves(list(runs.values()), ALL_CURVES)
        self._curves.show_content(figure is not None)
        if figure is None:
            self._no_curves.setText(NONE_SELECTED_HAS_CURVES if chosen else NO_CURVES)
        else:
            self.plot.set_figure(figure)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        self._context.document.select_run(self.model.figure.rows[index.row()].run_id)

    def _export(self) -> None:
        if self._curves.shows_content:
            self._exports.ask(self, self.plot, "compare")
