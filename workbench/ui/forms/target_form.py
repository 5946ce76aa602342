"""What is predicted and from which rows: target, classes or number, event class, split."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.ui import icons
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import ElidedLabel, Header, Label, column, row

if TYPE_CHECKING:
    from workbench.document import Document


class TargetForm(QWidget):
    """Edits the document's target, its reading as classes and the event class."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.target = ComboBox()
        self.target.setObjectName("data.target")
        self.target.setAccessibleName("Predict")
        self.target.activated.connect(self._on_target)
        self.as_classes = QCheckBox("as classes")
        self.as_classes.setObjectName("data.as_classes")
        self.as_classes.clicked.connect(lambda is_on: document.set_as_classes(bool(is_on)))
        self._reason = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        self.event_class = ComboBox()
        self.event_class.setObjectName("data.event")
        self.event_class.setAccessibleName("Event class")
        self.event_class.activated.connect(
            lambda idx: document.set_event_class(self.event_class.itemData(idx))
        )
        self._event_row = QWidget()
        event = row(Label("Event"), self.event_class)
        event.setStretch(1, 1)
        self._event_row.setLayout(event)
        first = row(Label("Predict", "name"), self.target)
        first.setStretch(1, 1)
        kind = row(self.as_classes, self._reason)
        kind.setStretch(1, 1)
        self.setLayout(column(first, kind, self._event_row, spacing=4))

    def refresh(self) -> None:
        """Show what the document holds."""
        from workbench.datasets import proposes_classes

        document, table = self._document, self._document.table
        self.target.clear()
        if table is None:
            return
        self.target.addItem("Choose a column", None)
        for column_ in table.columns:
            self.target.addItem(icons.icon(column_.kind), column_.name, column_.name)
        at = self.target.findData(document.target) if document.target else 0
        self.target.setCurrentIndex(max(at, 0))
        self._reason.setVisible(document.target is not None)
        if document.target is not None:
            column_ = table.column(document.target)
            _proposed, reason = proposes_classes(column_)
            self.as_classes.setChecked(document.is_classification)
            has_choice = column_.kind in ("number", "date")
            self.as_classes.setVisible(has_choice)
            self._reason.setText(reason if has_choice else f"Classes: {reason}")
        else:
            self.as_classes.hide()
        is_binary = document.is_classification and len(document.classes) == 2
        self._event_row.setVisible(is_binary)
        if is_binary:
            self.event_class.clear()
            for label in document.classes:
                self.event_class.addItem(label, label)
            self.event_class.setCurrentIndex(self.event_class.findData(document.event_class))

    def _on_target(self, idx: int) -> None:
        name = self.target.itemData(idx)
        if name is not None and name != self._document.target:
            self._document.set_target(name)


class SplitForm(QWidget):
    """Shares of training, validation and test rows, and the seed of the draw; folded at first."""

    FIELDS = (("train", "Train"), ("validation", "Validate"), ("test", "Test"))

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._header = Header("Split", is_open=False)
        self._header.setObjectName("data.split")
        self._summary = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        self._body = QWidget()
        self._error = Label("", "danger", wrap=True)
        self._error.hide()
        self.edits: dict[str, QLineEdit] = {}
        columns = []
        for name, text in (*self.FIELDS, ("seed", "Seed")):
            edit = QLineEdit()
            edit.setObjectName(f"data.split.{name}")
            edit.setAccessibleName(text)
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.editingFinished.connect(self._on_edited)
            self.edits[name] = edit
            columns.append(column(Label(text if name == "seed" else f"{text} %", "caption"), edit, spacing=2))
        self._body.setLayout(column(row(*columns, spacing=6), self._error, spacing=4))
        self._summary.explain("Train, validation and test rows, drawn once with this seed")
        self._body.hide()
        self._header.toggled.connect(self._body.setVisible)
        top = row(self._header, self._summary)
        top.setStretch(1, 1)
        self.setLayout(column(top, self._body, spacing=4))

    def refresh(self) -> None:
        """Show what the document holds."""
        split = self._document.split
        shares = [getattr(split, name) for name, _text in self.FIELDS]
        for (name, _text), share in zip(self.FIELDS, shares, strict=True):
            self.edits[name].setText(f"{share * 100:.10g}")
        self.edits["seed"].setText(str(split.seed))
        self._summary.setText(" / ".join(f"{share * 100:.3g}" for share in shares) + f" %, seed {split.seed}")
        self._say("")

    def _say(self, text: str) -> None:
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def _on_edited(self) -> None:
        try:
            shares = {name: float(self.edits[name].text()) / 100 for name, _text in self.FIELDS}
            seed = int(self.edits["seed"].text())
        except ValueError:
            self._say("Enter numbers; the seed is a whole number.")
            return
        if min(shares.values()) < 0 or shares["train"] <= 0 or abs(sum(shares.values()) - 1) > 1e-6:
            self._say("The three shares must add up to 100, with train above 0.")
            return
        if not 0 <= seed < 2**63:
            self._say("Enter a seed from 0 to 9,223,372,036,854,775,807.")
            return
        self._say("")
        changed = replace(self._document.split, seed=seed, **shares)
        if changed != self._document.split:
            self._document.set_split(changed)
