"""The models of this document: add, choose, rename in place, duplicate, delete, train again."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QPushButton, QWidget

from workbench.catalog import entry_of
from workbench.figures.scores import WHY_PARTS_DIFFER
from workbench.ui import theme
from workbench.ui.average_command import AverageCommand
from workbench.ui.context import Context
from workbench.ui.item_models.delegates import RunDelegate
from workbench.ui.item_models.run_model import RunModel
from workbench.ui.widgets import ActionButton, Label, column, indented, row

WITH_BUTTON = (("tree", "Tree"), ("forest", "Forest"), ("boosting", "Boosting"))  # the panel has room for few
IN_MORE = (
    ("extra_trees", "Extra Trees"),
    ("bagging", "Bagging"),
    ("adaboost", "AdaBoost"),
    ("neighbors", "Nearest Neighbours"),
    ("networks", "Deep Ensemble"),
    ("svm", "Support Vector Machine"),
    ("linear", "Linear Model"),
    ("polynomial", "Polynomial Regression"),
    ("perceptron", "Perceptron"),
    ("naive_bayes", "Naive Bayes"),
    ("averaging", "Averaging"),
    ("stacking", "Stacking"),
)
ADDABLE = (*WITH_BUTTON, *IN_MORE)

NO_MODEL = "No model yet. Add one:"
NO_TARGET = "Choose what to predict above; then add a model and train it."


class ModelsPanel(QWidget):
    """The list mirrors `document.runs`; the selected row is `document.current_run`."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.models")
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._document = context, context.document
        self._is_refreshing = False
        self._add_actions()
        self._model = RunModel(context.document, self)
        self.list = self._make_list()
        self._average = AverageCommand(context, self.selected_runs, self)
        self.list.selectionModel().selectionChanged.connect(self._average.refresh)
        self._hint = Label(NO_MODEL, "secondary", wrap=True)
        self._hint.setObjectName("models.hint")
        self._scored = Label("scores of validation rows", "caption")
        self._scored.setObjectName("models.scored")
        self._scored.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._scored.setToolTip(WHY_PARTS_DIFFER)
        buttons = QWidget()
        buttons.setLayout(row(*self._make_buttons(), spacing=4))
        parts = indented(self._hint), indented(buttons), indented(self._scored), self.list
        self.setLayout(column(*parts, margins=theme.GROUND_MARGIN, spacing=8))
        self._model.modelReset.connect(self._refresh_current)
        context.document.current_run_changed.connect(self._refresh_current)
        for signal in (context.document.table_changed, context.document.columns_changed):
            signal.connect(self._refresh_enabled)
        context.document.run_changed.connect(self._refresh_enabled)
        self._refresh_current()

    def _make_list(self) -> QListView:
        view = QListView()
        view.setObjectName("models.list")
        view.setAccessibleName("Models")
        view.setModel(self._model)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)  # to average several
        view.setItemDelegate(RunDelegate(view))
        view.setMouseTracking(True)
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_menu)
        view.selectionModel().currentChanged.connect(self._on_current_changed)
        return view

    def _make_buttons(self) -> list[QWidget]:
        made: list[QWidget] = []
        for kind, title in WITH_BUTTON:
            action = self._context.actions[f"action.model.add_{kind}"]
            add = ActionButton(action, "compact", title)
            add.setObjectName(f"models.add_{kind}")
            made.append(add)
        return [*made, self._make_more()]

    def _make_more(self) -> QPushButton:
        """Make the button whose menu has the kinds that have none of their own."""
        self._more = QPushButton("More")
        self._more.setObjectName("models.more")
        self._more.setProperty("look", "compact")
        self._more.setToolTip("Other kinds of models")
        menu = QMenu(self._more)
        for kind, _title in IN_MORE:
            menu.addAction(self._context.actions[f"action.model.add_{kind}"])
        self._more.setMenu(menu)
        return self._more

    def _add_actions(self) -> None:
        actions = self._context.actions
        keys = {"tree": "Ctrl+1", "forest": "Ctrl+2", "boosting": "Ctrl+3", "adaboost": "Ctrl+4"}
        for kind, title in ADDABLE:
            actions.add(
                f"action.model.add_{kind}",
                f"Add {title}",
                keys.get(kind),
                lambda kind=kind: self._document.add_run(kind),
                entry_of(kind).icon,
            )
        actions.add("action.model.rename", "Rename Model", None, self.rename_current, "rename")
        actions.add("action.model.duplicate", "Duplicate Model", "Ctrl+D", self._duplicate, "duplicate")
        actions.add("action.model.delete", "Delete Model", None, self._delete, "delete")

    def _refresh_current(self, *_: object) -> None:
        self._is_refreshing = True
        at = self._model.row_of(self._document.current_run_id)
        self.list.setCurrentIndex(self._model.index(at) if at >= 0 else QModelIndex())
        self._is_refreshing = False
        self._refresh_enabled()

    def selected_runs(self) -> list[str]:
        """Ids of the models that are selected, in the order of the list."""
        rows = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        return [self._model.run_id(row) for row in rows]

    def _refresh_enabled(self, *_: object) -> None:
        self._average.refresh()
        has_table = self._document.table is not None and self._document.target is not None
        has_run = self._document.current_run is not None
        self._hint.setText(NO_MODEL if has_table else NO_TARGET)
        self._hint.setVisible(self._document.table is not None and not (has_table and self._document.runs))
        results = [run.result for run in self._document.runs.values() if run.result is not None]
        self._scored.setVisible(any("validation" in result.scores for result in results))
        for kind, _title in ADDABLE:
            why = entry_of(kind).why_not(self._document.task) if has_table else ""
            self._context.actions.enable(f"action.model.add_{kind}", has_table and not why, why)
        self._more.setEnabled(has_table)
        for verb in ("rename", "duplicate", "delete"):
            self._context.actions.enable(f"action.model.{verb}", has_run)

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._is_refreshing and current.isValid():
            self._document.select_run(self._model.run_id(current.row()))

    def rename_current(self) -> None:
        """Open the editor on the current model's name."""
        index = self.list.currentIndex()
        if index.isValid():
            self.list.setFocus()
            self.list.edit(index)

    def _duplicate(self) -> None:
        if run_id := self._document.current_run_id:
            self._document.duplicate_run(run_id)

    def _delete(self) -> None:
        if run_id := self._document.current_run_id:
            self._document.delete_run(run_id)

    def keyPressEvent(self, event) -> None:
        if event.key() == Qt.Key.Key_Delete and self.window().focusWidget() is self.list:
            self._delete()
        else:
            super().keyPressEvent(event)

    def _on_menu(self, position) -> None:
        if not self.list.indexAt(position).isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for verb in (
            "train",
            "rename",
            "duplicate",
            "average",
            "copy_script",
            "copy_sql",
            "export",
            "export_rules",
            "export_sql",
            "apply",
            "delete",
        ):
            action = self._context.actions.get(f"action.model.{verb}")
            if action is not None:
                menu.addAction(action)
        menu.popup(self.list.viewport().mapToGlobal(position))
