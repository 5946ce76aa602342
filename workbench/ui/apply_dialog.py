"""What applying a model to a file found, and where the predictions go."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from workbench.ui import file_dialogs
from workbench.ui.widgets import Label, button, column, row


class ApplyDialog(QDialog):
    """Window-modal; "Save Predictions" writes a CSV file and closes."""

    def __init__(self, window: QWidget, model_name: str, table, applied) -> None:
        super().__init__(window)
        self.setObjectName("apply")
        self.setWindowTitle("Apply Model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.resize(520, 320)
        self._table, self._applied = table, applied
        self._error = Label("", "danger", wrap=True)
        self._error.hide()
        head = Label(f"{model_name} predicted {table.n_rows:,} rows of {table.name}", "heading", wrap=True)
        head.setObjectName("apply.title")
        columns = ", ".join(name for name, _values in applied.predictions)
        words = Label(f"New columns: {columns}", "secondary", wrap=True)
        notes = "\n".join(applied.report) or "Every column was found, and every value was known in training."
        self.report = QPlainTextEdit(notes)
        self.report.setObjectName("apply.report")
        self.report.setAccessibleName("Report")
        self.report.setReadOnly(True)
        save = button("Save Predictions…", "primary", self._ask_save, "apply.save")
        save.setDefault(True)
        close = button("Close", "", self.close, "apply.close")
        layout = column(head, words, self.report, self._error, row(-1, close, save), margins=16, spacing=12)
        layout.setStretch(2, 1)
        self.setLayout(layout)

    def _ask_save(self) -> None:
        proposal = f"{Path(self._table.name).stem} predictions.csv"
        file_dialogs.ask_save(self, "Save Predictions", "CSV (*.csv)", proposal, "csv", self.save_to)

    def save_to(self, path_text: str) -> None:
        """Write the file's own columns and the predictions."""
        from workbench.apply import save_predictions

        try:
            save_predictions(self._applied, self._table, Path(path_text))
        except (OSError, ValueError) as error:
            self._error.setText(f"{Path(path_text).name} was not written: {error}")
            self._error.show()
            return
        self.parentWidget().context.document.post_message(f"Saved predictions to {Path(path_text).name}")
        self.close()
