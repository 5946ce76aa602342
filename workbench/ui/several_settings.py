"""Several settings at once: presets from a menu, and settings of other libraries from a text."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QMenu, QPlainTextEdit, QPushButton, QWidget

from engine.errors import DataError
from workbench.catalog import entry_of, start_parameters
from workbench.figures.words import count, counted
from workbench.pasting import Pasted, match_settings, read_pairs, setting_text
from workbench.presets import presets_of, taking_back
from workbench.ui.context import Context
from workbench.ui.sight import is_in_sight
from workbench.ui.widgets import ActionButton, Label, button, column, literal, row

LINE_LETTERS = 64  # of the settings listed below a preset
TEXT_ROWS = 7
MAX_TOLD = 24  # of what a text holds; the dialog must stay on the screen
NOTHING_YET = "Paste settings of LightGBM, XGBoost, CatBoost or scikit-learn: a dict, JSON or keywords."


class SeveralSettings:
    """The two commands, and their buttons in the settings panel.

    Parameters
    ----------
    panel : QWidget
        Menu and dialog belong to it.
    """

    def __init__(self, context: Context, panel: QWidget) -> None:
        self._context, self._panel = context, panel
        self._buttons: list[QPushButton] = []
        add = context.actions.add
        add("action.settings.presets", "Presets…", "Ctrl+Shift+P", self._open_presets, "settings",
            tip="Several settings at once, for a purpose; each lists what it sets")  # fmt: skip
        add("action.settings.paste", "Paste Parameters…", "Ctrl+Shift+V", self._open_paste, "duplicate",
            tip="Take over settings as LightGBM, XGBoost, CatBoost or scikit-learn name them")  # fmt: skip
        for signal in (context.document.current_run_changed, context.document.table_changed):
            signal.connect(self._refresh)
        self._refresh()

    def make_buttons(self) -> list[QPushButton]:
        """The buttons of both."""
        for name, text in (("presets", "Presets"), ("paste", "Paste")):
            made = ActionButton(self._context.actions[f"action.settings.{name}"], "quiet", text)
            made.setObjectName(f"settings.{name}")
            self._buttons.append(made)
        return self._buttons

    def _refresh(self, *_: object) -> None:
        document = self._context.document
        is_ready = document.current_run is not None and document.table is not None
        for name in ("presets", "paste"):
            self._context.actions.enable(f"action.settings.{name}", is_ready)

    def _open_presets(self) -> None:
        document, run = self._context.document, self._context.document.current_run
        if run is None or document.table is None:
            return
        menu = QMenu(self._panel)
        menu.setObjectName("settings.presets_menu")
        menu.setProperty("look", "told")  # what cannot be chosen is there to be read
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        table = {p.name: p for p in entry_of(run.spec.kind).parameters(document.task)}
        start = start_parameters(run.spec.kind, document.task, document.table.n_rows)
        offered = presets_of(run.spec.kind, document.task)
        for preset, values in taking_back(offered, run.spec.parameters, start):
            if not menu.isEmpty():
                menu.addSeparator()
            menu.addAction(preset.title, partial(self._set, run.run_id, values, f"Use {preset.title}"))
            for line in wrapped([setting_text(table[name], value) for name, value in values.items()]):
                menu.addAction(f"    {line}".replace("&", "&&")).setEnabled(False)
        if menu.isEmpty():
            menu.addAction("There is none for this kind of model").setEnabled(False)
        menu.popup(self._place_of(menu))

    def _place_of(self, menu: QMenu) -> QPoint:
        """Below its button; where that is out of sight, in the middle of the window, as the palette."""
        for made in self._buttons:
            if made.objectName() == "settings.presets" and is_in_sight(made):
                return made.mapToGlobal(QPoint(0, made.height()))
        window, size = self._panel.window(), menu.sizeHint()
        room = window.size() - size
        return window.mapToGlobal(QPoint(max(room.width(), 0) // 2, max(room.height(), 0) // 3))

    def _set(self, run_id: str, values: dict[str, Any], text: str) -> None:
        document = self._context.document
        name = document.run(run_id).name
        if document.set_parameters(run_id, values, text):
            document.post_message(f"{name}: {counted(len(values), 'setting')} set; Undo takes them back.")
        else:
            document.post_message(f"{name} has these settings already.")

    def _open_paste(self) -> None:
        run = self._context.document.current_run
        if run is not None:
            PasteDialog(
                self._context, run.run_id, partial(self._set, run.run_id), self._panel.window()
            ).open()


def wrapped(items: list[str]) -> list[str]:
    """Put short texts into lines of at most `LINE_LETTERS`, longer ones alone, with commas between them."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= LINE_LETTERS:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return lines


class PasteDialog(QDialog):
    """Window-modal; says what a text would set before "Set" sets it, as one undo step.

    It begins with what the clipboard holds, where that has settings in it.
    """

    def __init__(self, context: Context, run_id: str, set_values, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("paste")
        self.setWindowTitle("Paste Parameters")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._set_values, self._task = set_values, context.document.task
        self._run = context.document.run(run_id)
        self._pasted = Pasted()
        self._text = QPlainTextEdit()
        self._text.setObjectName("paste.text")
        self._text.setAccessibleName("Settings of another library")
        self._text.setPlaceholderText("num_leaves=31, eta=0.1")
        self._text.setTabChangesFocus(True)
        self._text.setFixedHeight(TEXT_ROWS * self._text.fontMetrics().lineSpacing() + 16)
        head = Label(f"Settings for {self._run.name}", "heading", wrap=True)
        self._sets, self._unknown = Label("", "body", wrap=True), Label("", "secondary", wrap=True)
        self._refused = Label("", "danger", wrap=True)
        for label, name in ((self._sets, "sets"), (self._unknown, "unknown"), (self._refused, "refused")):
            label.setObjectName(f"paste.{name}")
        self._set = button("Set", "primary", self._on_set, "paste.set")
        self._set.setDefault(True)
        cancel = button("Cancel", "", self.reject, "paste.cancel")
        cancel.setAutoDefault(False)
        told = (self._sets, self._refused, self._unknown)
        self.setLayout(column(head, self._text, *told, -1, row(-1, cancel, self._set), margins=16, spacing=8))
        self.setMinimumWidth(440)
        self._text.textChanged.connect(self._read)
        self._text.setPlainText(_settings_in_clipboard())
        self._text.selectAll()
        self._read()

    def _read(self) -> None:
        text, self._pasted, wrong = self._text.toPlainText(), Pasted(), ""
        if text.strip():
            try:
                spec = self._run.spec
                self._pasted = match_settings(spec.kind, self._task, read_pairs(text), spec.parameters)
            except DataError as error:
                wrong = str(error)
        pasted = self._pasted
        self._say(self._sets, "Will be set:", pasted.told)
        self._say(self._refused, "Not set:", pasted.refused)
        self._say(self._unknown, "No such setting here:", pasted.unknown, ", ")
        if wrong:
            self._refused.setText(wrong[0].upper() + wrong[1:] + ".")
            self._refused.show()
        elif not text.strip():
            self._unknown.setText(NOTHING_YET)
            self._unknown.show()
        self._set.setEnabled(bool(pasted.values))

    @staticmethod
    def _say(label: Label, head: str, items: tuple[str, ...], between: str = "\n") -> None:
        label.setVisible(bool(items))
        n_more = len(items) - MAX_TOLD
        shown = between.join((*items[:MAX_TOLD], f"and {count(n_more)} more") if n_more > 0 else items)
        label.setText(f"{head}\n{shown}" if between == "\n" else f"{head} {shown}")
        label.setToolTip(literal(shown))

    def _on_set(self) -> None:
        if self._pasted.values:
            self._set_values(self._pasted.values, "Paste parameters")
            self.accept()


def _settings_in_clipboard() -> str:
    text = QGuiApplication.clipboard().text()
    try:
        read_pairs(text)
    except DataError:
        return ""
    return text
