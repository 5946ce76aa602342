"""The strip that says how a file was read, and the form below it that reads it otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QScrollArea, QWidget

from workbench.readers.encodings import ENCODINGS
from workbench.ui import theme
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import ElidedLabel, Label, button, column, row

if TYPE_CHECKING:
    from workbench.datasets import ReadOptions, Table

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blanks"}
DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "blank", "'": "apostrophe"}
ORDERS = {"": "day, a guess", "day": "day", "month": "month"}
DAY_FIRST = {"": None, "day": True, "month": False}
EMPTY_TOKEN = "(empty cell)"
MAX_TIP_NOTES = 20


TOKENS_TIP = 'A comma between two texts; a text with a comma in it stands in double quotes: "k.A., n/a"'
_TOKEN = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*(?=,|$)|(?P<bare>[^,]*))(?:,|$)')


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
    if options.thousands:
        words.append(f"thousands {THOUSANDS.get(options.thousands, options.thousands)}")
    if options.encoding:
        words.append(options.encoding.upper())
    if options.sheet:
        words.append(f"sheet {options.sheet}")
    if options.has_header is not None:
        words.append("header" if options.has_header else "no header")
    return ", ".join(words) or "read as it is"


def tokens_to_text(tokens: tuple[str, ...]) -> str:
    """Missing tokens as the field shows them, in double quotes those that a comma would tear apart."""
    return ", ".join(_quoted(token) if token else EMPTY_TOKEN for token in tokens)


def _quoted(token: str) -> str:
    is_plain = "," not in token and not token.startswith('"') and token == token.strip() != EMPTY_TOKEN
    return token if is_plain else '"' + token.replace('"', '""') + '"'


def text_to_tokens(text: str) -> tuple[str, ...]:
    """Missing tokens from the field; the empty cell is always missing."""
    tokens = [""]
    for found in _TOKEN.finditer(text):
        quoted, bare = found["quoted"], (found["bare"] or "").strip()
        if quoted is not None:
            tokens.append(quoted.replace('""', '"'))
        elif bare != EMPTY_TOKEN:
            tokens.append(bare)
    return tuple(dict.fromkeys(tokens))


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
    """The strip; "Change" unfolds the form. Emits `requested` with the options to read again with.

    Unfolded it needs the height of the whole panel: `unfolded` tells the panel to make room.
    """

    requested = Signal(object)
    unfolded = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "strip")
        self._options: ReadOptions | None = None
        self._is_busy = False
        self._opens = "Change"  # what the button says while the strip is folded
        self._table: Table | None = None
        self._summary = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._summary.setObjectName("data.import.summary")
        self._change = button("Change", "quiet", self._toggle, "data.import.change")
        self.separator = _Choice(SEPARATORS, "data.import.separator")
        self.decimal = _Choice(DECIMALS, "data.import.decimal")
        self.thousands = _Choice(THOUSANDS, "data.import.thousands")
        self.encoding = _Choice({name: name.upper() for name in ENCODINGS}, "data.import.encoding")
        self.sheet = _Choice({}, "data.import.sheet")
        self.order = _Choice(ORDERS, "data.import.date_order")
        self.header = QCheckBox("First row holds names")
        self.header.setObjectName("data.import.header")
        self.tokens = QLineEdit()
        self.tokens.setObjectName("data.import.tokens")
        self.tokens.setAccessibleName("Texts that mean missing")
        self.tokens.setToolTip(TOKENS_TIP)
        self.details = QScrollArea()
        self.details.setWidget(self._make_details())
        self.details.setWidgetResizable(True)
        self.details.setFrameShape(QFrame.Shape.NoFrame)
        self.details.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.details.setAutoFillBackground(False)
        self.details.viewport().setAutoFillBackground(False)
        self.details.hide()
        head = row(8, self._summary, self._change, spacing=4)
        head.setStretch(1, 1)
        self.setMinimumHeight(theme.scaled(theme.CONTROL_HEIGHT))
        self.setLayout(column(head, self.details, spacing=0))

    def _make_details(self) -> QWidget:
        made = QWidget()
        made.setAutoFillBackground(False)
        pairs = {
            "Sheet": self.sheet,
            "Separator": self.separator,
            "Decimal sign": self.decimal,
            "Thousands sign": self.thousands,
            "Encoding": self.encoding,
            "Dates begin with": self.order,
        }
        items = []
        for text, field in pairs.items():
            label = Label(text, "secondary")
            label.setBuddy(field)
            field.setAccessibleName(text)
            field.setFixedWidth(theme.scaled(136))
            pair = QWidget()
            pair.setLayout(row(label, -1, field))
            items.append(pair)
        self.order.setToolTip("In every date of this table, day and month could change places")
        missing = Label("Missing is (comma between)", "secondary")
        again = button("Read Again", "", self._on_read, "data.import.read")
        notes = Label("", "caption", wrap=True)
        notes.setObjectName("data.import.notes")
        self._notes = notes
        self._fields = QWidget()
        self._fields.setLayout(column(*items, self.header, missing, self.tokens, row(-1, again), spacing=6))
        made.setLayout(column(self._fields, notes, -1, margins=8, spacing=6))
        return made

    def _toggle(self) -> None:
        self._unfold(self.details.isHidden())

    def _unfold(self, is_open: bool) -> None:
        self.details.setVisible(is_open)
        self._change.setText("Close" if is_open else self._opens)
        self.unfolded.emit(is_open)

    def set_table(self, table: Table) -> None:
        """Show how `table` was read; what is typed stays as long as the table's options do."""
        self._show_summary(table)
        is_file = table.path is not None
        self._opens = "Change" if is_file else "Notes"
        self._change.setVisible(is_file or bool(table.notes))
        self._fields.setVisible(is_file)  # a sample is read from no file: it has notes, nothing to change
        if not is_file and table is not self._table:
            self._unfold(False)
        elif self.details.isHidden():
            self._change.setText(self._opens)
        self._table = table
        self._show_notes(table)
        if table.options is not self._options:
            self.show_fields(table)

    def show_fields(self, table: Table) -> None:
        """Set the fields to how `table` was read; those that do not apply to its file are absent."""
        options = self._options = table.options
        is_text, has_sheets = options.separator is not None, bool(table.sheets)
        self.sheet.clear()
        for name in table.sheets:
            self.sheet.addItem(name, name)
        self.sheet.choose(options.sheet)
        self.separator.choose(options.separator)
        self.decimal.choose(options.decimal)
        self.thousands.choose(options.thousands)
        self.encoding.choose(options.encoding)
        self.order.choose(next(code for code, flag in DAY_FIRST.items() if flag is options.day_first))
        self.header.setChecked(options.has_header is not False)
        self.tokens.setText(tokens_to_text(options.missing_tokens))
        self.tokens.setCursorPosition(0)
        applies = {
            self.sheet: len(table.sheets) > 1,
            self.separator: is_text,
            self.encoding: is_text,
            self.decimal: is_text or has_sheets,
            self.thousands: is_text or has_sheets,
            self.order: any(column.fits_both_orders for column in table.columns),
        }
        for field, is_there in applies.items():
            field.parentWidget().setVisible(is_there)
        self.header.setVisible(is_text or has_sheets)

    def set_busy(self, is_busy: bool, table: Table) -> None:
        """Say that the file is being read again; `table` is what stays until then."""
        self._is_busy = is_busy
        self._show_summary(table)

    def say(self, text: str) -> None:
        """Show why the file could not be read so, where its notes stand, until the next reading."""
        self._notes.setText(text)
        self._notes.show()

    def _show_summary(self, table: Table) -> None:
        self._summary.setText("Reading the file again" if self._is_busy else summary(table))
        tokens = f"Missing is {tokens_to_text(table.options.missing_tokens)}"
        lines = [*([] if table.path is None else [tokens]), *table.notes[:MAX_TIP_NOTES]]
        self._summary.explain("\n".join(lines))

    def _show_notes(self, table: Table) -> None:
        self._notes.setText("\n".join(table.notes[:6]))
        self._notes.setVisible(bool(table.notes))

    def options(self) -> ReadOptions:
        """The options as they stand in the form; another sheet has its header found anew."""
        assert self._options is not None
        is_other_sheet = self.sheet.code() != self._options.sheet
        has_date_order = not self.order.parentWidget().isHidden()
        return replace(
            self._options,
            sheet=self.sheet.code(),
            separator=self.separator.code(),
            decimal=self.decimal.code(),
            thousands=self.thousands.code(),
            encoding=self.encoding.code(),
            day_first=DAY_FIRST[self.order.code() or ""] if has_date_order else self._options.day_first,
            has_header=None if is_other_sheet else self.header.isChecked(),
            missing_tokens=self._tokens(),
        )

    def _tokens(self) -> tuple[str, ...]:
        assert self._options is not None
        text = self.tokens.text()
        is_same = text == tokens_to_text(self._options.missing_tokens)
        return self._options.missing_tokens if is_same else text_to_tokens(text)

    def _on_read(self) -> None:
        if self._options is not None:
            self.requested.emit(self.options())
