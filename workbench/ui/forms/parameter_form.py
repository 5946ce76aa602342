"""The form of any model, written from its parameter table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from engine.parameters import Parameter
from workbench.model_choice import OF_MODELS, TableOfModels, offers, task_of
from workbench.setting_words import format_value
from workbench.ui import theme
from workbench.ui.forms.directions_field import Columns, DirectionsField
from workbench.ui.forms.fields import (
    NUMBER_WIDTH,
    Field,
    NumberField,
    SwitchField,
    make_field,
)
from workbench.ui.forms.models_field import ModelsField
from workbench.ui.forms.numbers_field import NumbersField
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Header, Label, bare_button, clear, column, literal, row

if TYPE_CHECKING:
    from workbench.runs import RunRecord

GROUPS = ("Size", "Sampling", "Stopping", "More")
WIDE_WIDTH = 152
_LIBRARIES = {"sklearn": "scikit-learn", "lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


class Context(NamedTuple):
    """What a model is of, as far as settings ask about it.

    Attributes
    ----------
    columns : Columns
    classes : tuple of str
        Empty for a number.
    n_rows : int
        Of the table.
    runs : tuple of RunRecord
        Models whose settings can be chosen for a part of this one.
    """

    columns: Columns = ()
    classes: tuple[str, ...] = ()
    n_rows: int = 0
    runs: tuple[RunRecord, ...] = ()

    @property
    def task(self) -> str:
        return "classes" if self.classes else "numbers"

    @property
    def predicted(self) -> str:
        """What rises or falls where the prediction is a class."""
        return f"What rises or falls is the share of {self.classes[1]!r}." if len(self.classes) == 2 else ""


NO_CONTEXT = Context()


def applies(parameter: Parameter, values: Mapping[str, Any], context: Context) -> bool:
    """Tell whether the parameter has an effect beside the other values, in such a model."""
    if not parameter.suits(len(context.classes)):
        return False
    if parameter.needs_categories and all(is_number for _, is_number in context.columns):
        return False
    if parameter.kind == "directions" and not any(is_number for _, is_number in context.columns):
        return False
    return all(values.get(other) in legal for other, legal in parameter.applies_when.items())


def tip_of(parameter: Parameter) -> str:
    """The tool tip: the field's term, what is legal, and what other libraries call it."""
    lines = [parameter.name, f"Enter {parameter.legal_text}."]
    names = [f"{_LIBRARIES.get(key, key)}: {name}" for key, name in parameter.aliases.items()]
    return literal("\n".join(lines + names))


class _Dot(QWidget):
    """Marks a changed value."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(6, 6)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.tokens().colour("accent"))
        painter.drawEllipse(self.rect())
        painter.end()


FIELDS: dict[str, Callable[[Parameter], Field]] = {
    "directions": DirectionsField,
    "numbers": NumbersField,
    **dict.fromkeys(OF_MODELS, ModelsField),
}
"""Fields with a file of their own, by the kind of parameter."""


class ParameterRow(QWidget):
    """Label and field, one line of help below, the error in its place when there is one."""

    edited = Signal(str, object)

    def __init__(self, parameter: Parameter, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameter = parameter
        self.field: Field = FIELDS.get(parameter.kind, make_field)(parameter)
        self.field.setObjectName(object_name)
        self._label = Label(parameter.label or parameter.name.replace("_", " "), wrap=True)
        self._dot = _Dot()
        self._reset = bare_button("reset", "Back to the start value", self._on_reset, f"{object_name}.reset")
        self._help = Label(parameter.help, "caption", wrap=True)
        self._error = Label("", "danger", wrap=True)
        self._error.hide()
        self._start: Any = parameter.start_value
        self._label.setBuddy(self.field)
        self._label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._dress()
        theme.changed.connect(self._dress)
        self.setLayout(
            column(
                row(self._dot, self._label, self._reset, self.field, spacing=6),
                row(12, column(self._help, self._error, spacing=2), spacing=0),
                spacing=2,
            )
        )
        self._help.setVisible(bool(parameter.help))
        tip = tip_of(parameter)
        for widget in (self._label, self.field):
            widget.setToolTip(tip)
        self.field.setAccessibleName(self._label.text())
        self.field.setAccessibleDescription(parameter.help)
        self.field.edited.connect(lambda value: self.edited.emit(parameter.name, value))
        self.field.refused.connect(self.set_error)

    def _dress(self) -> None:
        is_wide = not isinstance(self.field, NumberField | SwitchField)
        boxes = self.field.findChildren(ComboBox)
        room = max((box.room_wanted() for box in boxes), default=0)  # words stand whole, whichever is chosen
        self.field.setFixedWidth(max(theme.scaled(WIDE_WIDTH if is_wide else NUMBER_WIDTH), room))

    def set_value(self, value: Any, start: Any) -> None:
        self._start = start
        self.field.set_value(value)
        is_changed = type(value) is not type(start) or value != start
        self._dot.setVisible(is_changed)
        self._reset.setVisible(is_changed)
        self._reset.setToolTip(literal(f"Back to {format_value(self.parameter, start)}"))
        self.set_error("")

    def set_error(self, text: str) -> None:
        self._error.setText(text)
        self._error.setVisible(bool(text))
        self._help.setVisible(not text and bool(self.parameter.help))

    def error(self) -> str:
        return self._error.text()

    @property
    def is_changed(self) -> bool:
        return not self._dot.isHidden()

    def _on_reset(self) -> None:
        self.edited.emit(self.parameter.name, self._start)


class ParameterForm(QWidget):
    """All parameters of one model in groups; what does not apply is absent.

    Emits `edited(name, value)` with legal values only and changes nothing by itself: `set_values`
    shows what the document holds.
    """

    edited = Signal(str, object)

    def __init__(self, prefix: str = "settings", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prefix = prefix
        self._rows: dict[str, ParameterRow] = {}
        self._open = {group: group != "More" for group in GROUPS}
        self._bodies: dict[str, QWidget] = {}
        self._parameters: tuple[Parameter, ...] = ()
        self._layout: QVBoxLayout = column(spacing=theme.GROUP_GAP)
        self.setLayout(self._layout)

    def set_parameters(self, parameters: Iterable[Parameter]) -> None:
        """Write the form anew for another table."""
        shown = tuple(p for p in parameters if p.in_form)
        if shown == self._parameters:
            return
        self._parameters = shown
        clear(self._layout)
        self._rows, self._bodies = {}, {}
        for group in GROUPS:
            members = [p for p in shown if (p.group if p.group in GROUPS else "More") == group]
            if members:
                self._add_group(group, members)

    def _add_group(self, group: str, members: list[Parameter]) -> None:
        header = Header(group, self._open[group])
        header.setObjectName(f"{self._prefix}.group.{group.lower()}")
        body = QWidget()
        rows = column(spacing=12)
        for parameter in members:
            made = ParameterRow(parameter, f"{self._prefix}.{parameter.name}")
            made.edited.connect(self.edited)
            self._rows[parameter.name] = made
            rows.addWidget(made)
        body.setLayout(rows)
        self._bodies[group] = body

        def fold(is_open: bool) -> None:
            self._open[group] = is_open
            body.setVisible(is_open)

        header.toggled.connect(fold)
        holder = QWidget()
        holder.setLayout(column(header, body, spacing=8))
        body.setVisible(header.is_open)  # not before it is a part of something: it would be a window
        self._layout.addWidget(holder)

    def set_values(
        self, values: Mapping[str, Any], starts: Mapping[str, Any], context: Context = NO_CONTEXT
    ) -> None:
        """Show the document's values; `starts` is what a new model begins with."""
        merged = {p.name: values.get(p.name, p.start_value) for p in self._parameters}
        merged |= dict(values)
        for name, made in self._rows.items():
            if isinstance(made.field, DirectionsField):
                made.field.set_columns(context.columns, context.predicted)
            if isinstance(made.field, ModelsField):
                parameter = made.parameter
                found = offers(parameter, context.task, context.n_rows, context.runs)
                learned = TableOfModels(
                    task_of(parameter, context.task), context.n_rows, len(context.columns),
                    len(context.classes),
                )  # fmt: skip
                made.field.set_offers(found, learned)
            made.set_value(merged[name], starts.get(name, made.parameter.start_value))
            made.setVisible(applies(made.parameter, merged, context))
        for body in self._bodies.values():
            rows = body.findChildren(ParameterRow)
            body.parentWidget().setVisible(any(not made.isHidden() for made in rows))

    def row(self, name: str) -> ParameterRow:
        """The row of one parameter."""
        return self._rows[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters shown now, in order."""
        return tuple(name for name, made in self._rows.items() if not made.isHidden())

    def open_group(self, group: str) -> None:
        """Unfold a group."""
        header = self.findChild(Header, f"{self._prefix}.group.{group.lower()}")
        if header is not None and not header.is_open:
            header.toggle()
