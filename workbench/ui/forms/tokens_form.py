"""The row that says which texts mean "missing" in the selected columns, where the file's do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.ui.forms.import_form import TOKENS_TIP, text_to_tokens, tokens_to_text
from workbench.ui.widgets import Label, bare_button, row

if TYPE_CHECKING:
    from workbench.datasets import Table

TIP = (
    "Texts that mean missing in the selected columns. Take NA out where it is a value, such as Namibia or "
    f"North America. {TOKENS_TIP}"
)


class TokensForm(QWidget):
    """Emits `requested` with the texts for the selected columns, None for those of the whole table."""

    requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._common: tuple[str, ...] = ()
        self.edit = QLineEdit()
        self.edit.setObjectName("data.column_tokens")
        self.edit.setAccessibleName("Texts that mean missing in the selected columns")
        self.edit.setToolTip(TIP)
        self.edit.editingFinished.connect(self._on_edited)
        label = Label("Missing is", "secondary")
        label.setBuddy(self.edit)
        self._reset = bare_button(
            "undo", "As in the rest of the table", self._on_reset, "data.column_tokens_reset"
        )
        layout = row(label, self.edit, self._reset, spacing=6)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.hide()

    def show_columns(self, table: Table | None, names: Sequence[str]) -> None:
        """Show the texts of the selected columns; absent without a selection."""
        self.setVisible(table is not None and bool(names))
        if table is None or not names:
            return
        self._common = table.options.missing_tokens
        found = {table.options.tokens_of(name) for name in names}
        self.edit.setText(tokens_to_text(found.pop()) if len(found) == 1 else "")
        self.edit.setPlaceholderText("Different texts" if found else "")
        self.edit.setCursorPosition(0)
        self._reset.setVisible(any(name in table.options.column_tokens for name in names))

    def _on_edited(self) -> None:
        if self.edit.isModified():  # not when the focus only passed through
            self.edit.setModified(False)
            tokens = text_to_tokens(self.edit.text())
            self.requested.emit(None if tokens == self._common else tokens)

    def _on_reset(self) -> None:
        self.requested.emit(None)
