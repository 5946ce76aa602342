"""The bar on top: file and undo, the table's name, command search, Train or Stop."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QSizePolicy, QToolBar, QToolButton, QWidget

from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.widgets import ElidedLabel, button, column, repolish

BUTTONS = ("action.file.open", "action.file.save", "action.edit.undo", "action.edit.redo")


def title_words(document) -> str:
    """The table's name, and after it that of the project once it has a file: "Penguins – work.treewright"."""
    table, path = document.table.name, document.path
    return table if path is None or path.name == table else f"{table} – {path.name}"


def table_words(document) -> str:
    """Such as "344 rows, 8 columns, target species"."""
    table = document.table
    words = [f"{table.n_rows:,} rows", f"{len(table.columns):,} columns"]
    words.append(f"target {document.target}" if document.target else "no target chosen")
    return ", ".join(words)


class Toolbar(QToolBar):
    """Mirrors the document and the trainer."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__("Toolbar", parent)
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._context, self._document = context, context.document
        for name in BUTTONS:
            self.addAction(context.actions[name])
            made = self.widgetForAction(context.actions[name])
            made.setObjectName(name.replace("action", "toolbar", 1))
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addSeparator()
        self._name = ElidedLabel("", "name")
        self._name.setObjectName("toolbar.name")
        self._words = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        title = QWidget()
        title.setLayout(column(self._name, self._words, spacing=0))
        title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addWidget(title)
        self._search = QToolButton()
        self._search.setObjectName("toolbar.palette")
        palette = context.actions["action.view.palette"]
        keys = palette.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._search.setText(f"Search Commands   {keys}")
        self._search.setIcon(palette.icon())
        self._search.setToolTip(palette.toolTip())
        self._search.clicked.connect(lambda _checked=False: palette.trigger())
        self._search.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.addWidget(self._search)
        self.train = button("Train", "primary", self._on_train, "toolbar.train")
        self.train.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys where they are
        self.addWidget(self.train)
        self._connect()
        self._dress()
        self.refresh()

    def _connect(self) -> None:
        document, trainer = self._document, self._context.trainer
        for signal in (
            document.table_changed,
            document.columns_changed,
            document.dirty_changed,
            trainer.started,
            trainer.ended,
        ):
            signal.connect(self.refresh)
        for name in ("action.model.train", "action.model.stop"):
            self._context.actions[name].changed.connect(self.refresh)
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self.setIconSize(QSize(theme.scaled(20), theme.scaled(20)))
        self.setFixedHeight(theme.scaled(theme.TOOLBAR_HEIGHT) + 1)

    def refresh(self, *_: object) -> None:
        """Show the table's name and what the button does."""
        table = self._document.table
        self._name.setText(title_words(self._document) if table is not None else "")
        self._words.setText(table_words(self._document) if table is not None else "")
        is_busy, action = self._is_training(), self._action()
        self.train.setText("Stop" if is_busy else "Train")
        if action.isEnabled():
            self.train.setEnabled(True)
        elif self.train.isEnabled():
            QTimer.singleShot(0, self, self._switch_off)
        self.train.setToolTip(action.toolTip())
        look = "" if is_busy else "primary"
        if self.train.property("look") != look:
            self.train.setProperty("look", look)
            repolish(self.train)

    def _switch_off(self) -> None:
        """Disable the button if it still has nothing to do.

        Between Train and Stop there is a moment without either: disabled in it, the button would hand the
        keyboard's focus on to whatever comes next.
        """
        self.train.setEnabled(self._action().isEnabled())

    def _action(self) -> QAction:
        verb = "stop" if self._is_training() else "train"
        return self._context.actions[f"action.model.{verb}"]

    def _is_training(self) -> bool:
        return any(run.is_training for run in self._document.runs.values())

    def _on_train(self) -> None:
        self._action().trigger()
