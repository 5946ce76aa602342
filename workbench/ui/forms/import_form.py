"""The strip that says how a file was read, and the form below it that reads it otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QWidget

from workbench.ui import theme
from workbench.ui.widgets import ComboBox, ElidedLabel, Label, button, column, literal, row

if TYPE_CHECKING:
    from workbench.datasets import ReadOptions, Table

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blanks"}
DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "blank", "'": "apostrophe"}
ENCODINGS = (
    "utf-8",
    "utf-16",
    "cp1252",
    "latin-1",
    "iso-8859-15",
    "cp1250",
    "cp1251",
    "shift_jis",
    "gb18030",
)
EMPTY_TOKEN = "(empty cell)"


def summary(table: Table) -> str:
    """How a table was read, in one line."""
    options = table.options
    if table.sample:
        return "Sample table"
    words = []
    if options.separator:
        words.append(SEPARATORS.get(options.separator, repr(options.separator)))
    if options.decimal:
        words.append(f"decimal {DECIMALS.get(options.decimal, options.decimal)}")
    if options.encoding:
        words.append(options.encoding.upper())
    if options.sheet:
        words.append(f"sheet {options.sheet}")
    if options.has_header is not None:
        words.append("header" if options.has_header else "no header")
    return ", ".join(words) or "read as it is"


def tokens_to_text(tokens: tuple[str, ...]) -> str:
    """Missing tokens as the field shows them."""
    return ", ".join(token or EMPTY_TOKEN for token in tokens)


def text_to_tokens(text: str) -> tuple[str, ...]:
    """Missing tokens from the field; the empty cell is always missing."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(dict.fromkeys(["", *(part for part in parts if part and part != EMPTY_TOKEN)]))


class _Choice(ComboBox):
    """A combo of codes with words; codes found in the file but not listed are added."""

    def __init__(self, words: dict[str, str], object_name: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        for code, text in words.items():
            self.addItem(text, code)

    def choose(self, code: str | None) -> None:
        if code is not None and self.findData(code) < 0:
            self.addItem(code, code)
        self.setCurrentIndex(self.findData(code if code is not None else ""))

    def code(self) -> str | None:
        return self.currentData()


class ImportForm(QFrame):
    """The strip; "Change" unfolds the form. Emits `requested` with the options to read again with."""

    requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "strip")
        self._options: ReadOptions | None = None
        self._summary = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._summary.setObjectName("data.import.summary")
        self._change = button("Change", "quiet", self._toggle, "data.import.change")
        self.separator = _Choice(SEPARATORS, "data.import.separator")
        self.decimal = _Choice(DECIMALS, "data.import.decimal")
        self.thousands = _Choice(THOUSANDS, "data.import.thousands")
        self.encoding = _Choice({name: name.upper() for name in ENCODINGS}, "data.import.encoding")
        self.header = QCheckBox("First row holds names")
        self.header.setObjectName("data.import.header")
        self.tokens = QLineEdit()
        self.tokens.setObjectName("data.import.tokens")
        self.tokens.setAccessibleName("Texts that mean missing")
        self.details = self._make_details()
        self.details.hide()
        head = row(8, self._summary, self._change, spacing=4)
        self.setMinimumHeight(theme.scaled(theme.CONTROL_HEIGHT))
        self.setLayout(column(head, self.details, spacing=0))

    def _make_details(self) -> QWidget:
        made = QWidget()
        pairs = {
            "Separator": self.separator,
            "Decimal sign": self.decimal,
            "Thousands sign": self.thousands,
            "Encoding": self.encoding,
        }
        items = []
        for text, field in pairs.items():
            label = Label(text, "secondary")
            label.setBuddy(field)
            field.setAccessibleName(text)
            field.setFixedWidth(112)
            items.append(row(label, -1, field))
        missing = Label("Missing is (comma between)", "secondary")
        again = button("Read Again", "", self._on_read, "data.import.read")
        notes = Label("", "caption", wrap=True)
        notes.setObjectName("data.import.notes")
        self._notes = notes
        made.setLayout(
            column(*items, self.header, missing, self.tokens, notes, row(-1, again), margins=8, spacing=6)
        )
        return made

    def _toggle(self) -> None:
        self.details.setVisible(self.details.isHidden())
        self._change.setText("Change" if self.details.isHidden() else "Close")

    def set_table(self, table: Table) -> None:
        """Show how `table` was read."""
        options = self._options = table.options
        self._summary.setText(summary(table))
        self._summary.setToolTip(literal("\n".join(table.notes)))
        is_file = table.path is not None
        self._change.setVisible(is_file)
        if not is_file:
            self.details.hide()
        is_text = options.separator is not None
        for field in (self.separator, self.encoding):
            field.setEnabled(is_text)
        self.separator.choose(options.separator)
        self.decimal.choose(options.decimal)
        self.thousands.choose(options.thousands)
        self.encoding.choose(options.encoding)
        self.header.setChecked(options.has_header is not False)
        self.tokens.setText(tokens_to_text(options.missing_tokens))
        self.tokens.setCursorPosition(0)
        self._notes.setText("\n".join(table.notes[:6]))
        self._notes.setVisible(bool(table.notes))

    def options(self) -> ReadOptions:
        """The options as they stand in the form."""
        assert self._options is not None
        return replace(
            self._options,
            separator=self.separator.code(),
            decimal=self.decimal.code(),
            thousands=self.thousands.code(),
            encoding=self.encoding.code(),
            has_header=self.header.isChecked(),
            missing_tokens=text_to_tokens(self.tokens.text()),
        )

    def _on_read(self) -> None:
        if self._options is not None:
            self.requested.emit(self.options())
