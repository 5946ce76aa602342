"""Every command and every setting by name: type a few letters, Enter runs it or goes to its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QWidget

from engine.parameters import Parameter
from workbench.catalog import SEARCH_TERMS
from workbench.ui import icons, theme
from workbench.ui.actions import ActionSet
from workbench.ui.forms.parameter_form import ParameterForm
from workbench.ui.inputs import SearchEdit
from workbench.ui.panels.settings import SettingsPanel
from workbench.ui.widgets import Label, column

ACTION_ROLE = Qt.ItemDataRole.UserRole + 1
N_VISIBLE = 10
SETTINGS_PLACE = 1000  # behind all commands that match as well
NO_INDEX = QModelIndex()


def match_score(query: str, text: str) -> int | None:
    """How well `query` names `text`: lower is better, None is not at all.

    A beginning of the text, then of a word, then letters in that order count.
    """
    query, text = query.casefold().strip(), text.casefold()
    if not query:
        return 0
    if text.startswith(query):
        return 1
    at = text.find(query)
    if at >= 0:
        return 2 if text[at - 1] == " " else 3
    position = 0
    for letter in query.replace(" ", ""):
        position = text.find(letter, position) + 1
        if position == 0:
            return None
    return 4 + len(text)


def setting_score(query: str, parameter: Parameter) -> int | None:
    """How well `query` names a setting, by its label, its term or what other libraries call it (D22).

    Unlike commands, terms have to begin with the query, or have a word that does.
    """
    query = query.casefold().strip()
    terms = (parameter.name, *parameter.aliases.values(), *SEARCH_TERMS.get(parameter.name, ()))
    names = {parameter.label, *terms, *(term.replace("_", " ") for term in terms)}
    scores = [match_score(query, name) for name in names if name]
    found = [score for score in scores if score is not None and score <= 2]
    return min(found) if query and found else None


class PaletteModel(QAbstractListModel):
    """The enabled actions that match, best first; then the settings of the form that do."""

    chosen = Signal(str)  # name of a setting

    def __init__(self, actions: ActionSet, form: Callable[[], ParameterForm | None], parent=None) -> None:
        super().__init__(parent)
        self._actions, self._form = actions, form
        self._settings: dict[str, QAction] = {}
        self._found: list[QAction] = []

    def _setting(self, name: str, label: str) -> QAction:
        if name not in self._settings:
            self._settings[name] = QAction(icons.icon("settings"), "", self)
            self._settings[name].triggered.connect(lambda _checked=False: self.chosen.emit(name))
        self._settings[name].setText(f"{label} ({name})".replace("&", "&&"))
        return self._settings[name]

    def _matching_settings(self, query: str) -> list[tuple[int, int, QAction]]:
        form = self._form()
        if form is None:
            return []
        found = []
        for place, name in enumerate(form.names, start=SETTINGS_PLACE):
            parameter = form.row(name).parameter
            score = setting_score(query, parameter)
            if score is not None:
                found.append((score, place, self._setting(name, parameter.label or name)))
        return found

    def search(self, query: str) -> None:
        scored = self._matching_settings(query)
        for place, action in enumerate(self._actions):
            score = match_score(query, action_text(action))
            hidden = action.objectName() == "action.view.palette"
            if score is not None and action.isEnabled() and action.isVisible() and not hidden:
                scored.append((score, place, action))
        self.beginResetModel()
        self._found = [action for _score, _place, action in sorted(scored, key=lambda item: item[:2])]
        self.endResetModel()

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._found)

    def action(self, row: int) -> QAction:
        return self._found[row]

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        action = self._found[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return action_text(action)
        return action if role == ACTION_ROLE else None


PALETTE_TEXT = "palette_text"
"""Property of an action that is called otherwise here than in its menu, which names what all in it are."""


def action_text(action: QAction) -> str:
    """A command's name without the mark of its menu letter."""
    named = action.property(PALETTE_TEXT)
    return named if named else action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


class _PaletteDelegate(QStyledItemDelegate):
    def sizeHint(self, option, index) -> QSize:
        return QSize(100, theme.scaled(32))

    def paint(self, painter: QPainter, option, index) -> None:
        t = theme.tokens()
        action = index.data(ACTION_ROLE)
        painter.save()
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(option.rect, t.colour("accent_soft"))
        rect = QRect(option.rect).adjusted(12, 0, -12, 0)
        px = theme.scaled(16)
        if not action.icon().isNull():
            action.icon().paint(painter, rect.left(), rect.center().y() - px // 2 + 1, px, px)
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        caption = theme.font(11)
        width = QFontMetrics(caption).horizontalAdvance(keys) + 4
        painter.setFont(caption)
        painter.setPen(t.colour("text3"))
        align = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect, align | Qt.AlignmentFlag.AlignRight, keys)
        room = rect.adjusted(px + 12, 0, -width, 0)
        font = theme.font(13)
        painter.setFont(font)
        painter.setPen(t.colour("text"))
        text = QFontMetrics(font).elidedText(index.data(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, align | Qt.AlignmentFlag.AlignLeft, text)
        painter.restore()


class CommandPalette(QFrame):
    """Lies over the window's upper middle while it is open; Escape or a click elsewhere closes it."""

    def __init__(self, actions: ActionSet, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("palette")
        self.setProperty("look", "card")
        self._window = window
        self.edit = SearchEdit("Type a command or a setting", "palette.search")
        self.model = PaletteModel(actions, self._form, self)
        self.model.chosen.connect(self._go_to_setting)
        self.list = QListView()
        self.list.setObjectName("palette.list")
        self.list.setModel(self.model)
        self.list.setItemDelegate(_PaletteDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.nothing = Label("", "secondary", wrap=True)
        self.nothing.setObjectName("palette.nothing")
        self.setLayout(column(self.edit, self.nothing, self.list, margins=8))
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.edit.textChanged.connect(self._on_typed)
        self.edit.returnPressed.connect(self._run_current)
        self.list.clicked.connect(lambda _index: self._run_current())
        self.edit.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show it with an empty search."""
        self.edit.clear()
        self._on_typed("")
        self.show()
        self.raise_()
        self.edit.setFocus()

    def _place(self) -> None:
        n_rows = min(max(self.model.rowCount(), 1), N_VISIBLE)
        width = min(theme.scaled(520), self._window.width() - 48)
        height = theme.scaled(28) + 24 + n_rows * theme.scaled(32)
        self.setGeometry((self._window.width() - width) // 2, theme.scaled(72), width, height)

    def _form(self) -> ParameterForm | None:
        """The form of the current model; None without one."""
        settings = self._window.findChild(SettingsPanel, "panel.settings")
        return None if settings is None or not settings.shows_model else settings.form

    def _go_to_setting(self, name: str) -> None:
        settings = self._window.findChild(SettingsPanel, "panel.settings")
        if settings is not None:
            settings.go_to(name)

    def _on_typed(self, text: str) -> None:
        self.model.search(text)
        has_hits = self.model.rowCount() > 0
        self.nothing.setText("" if has_hits else f"No command and no setting is called “{text.strip()}”.")
        self.nothing.setVisible(not has_hits)
        self.list.setVisible(has_hits)
        self._place()
        if has_hits:
            self.list.setCurrentIndex(self.model.index(0))

    def _run_current(self) -> None:
        index = self.list.currentIndex()
        self.hide()
        self._window.setFocus()
        if index.isValid():
            self.model.action(index.row()).trigger()

    def eventFilter(self, watched, event) -> bool:
        if watched is self.edit and event.type() == event.Type.KeyPress:
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
            if event.key() in steps:
                n_rows = self.model.rowCount()
                row = (self.list.currentIndex().row() + steps[event.key()]) % max(n_rows, 1)
                self.list.setCurrentIndex(self.model.index(row))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
        if watched is self.edit and event.type() == event.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)
