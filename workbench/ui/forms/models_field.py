"""The setting that is a model, or a list of models: a button with names, and a popover to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from engine.parameters import Parameter
from workbench.model_choice import NO_TABLE, OF_MODELS, Offer, TableOfModels, with_free_name, words_of
from workbench.ui import theme
from workbench.ui.forms.fields import Field
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, clear, column, literal, row

WIDTH, HEIGHT = 380, 420
BUTTON_MARGIN = 12


class ModelsPopover(QFrame):
    """The chosen models, what can be added, and the settings of the one that is looked at.

    Parameters
    ----------
    parameter : Parameter
        A single model ("model"), which takes the place of the one before, or several ("models").
    name : str
        Object name of the field.
    """

    chosen = Signal(object)  # a list of models as data; empty for none

    def __init__(self, parameter: Parameter, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName(f"{name}.form")
        self.setProperty("look", "popover")
        self._parameter, self._prefix = parameter, name
        self._models: list[dict[str, Any]] = []
        self._offers: tuple[Offer, ...] = ()
        self._table, self._at = NO_TABLE, 0
        self._list: QVBoxLayout = column(spacing=4)
        self._box = ComboBox()
        self._box.setObjectName(f"{name}.offers")
        self._box.setAccessibleName("Models to choose from")
        self._box.setMinimumContentsLength(16)
        self._box.activated.connect(self._on_offer)
        self._reset = button(
            _capitalised(parameter.none_text), "quiet", lambda: self.chosen.emit([]), f"{name}.none"
        )
        self._title = ElidedLabel("", "name")
        self._settings: Any = None  # a ParameterForm, made when there are settings to show
        self._tuned: Any = None  # a TunedInside, likewise, where fits may choose settings
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        head = Label(parameter.label, "name")
        parts = (head, self._list, row(self._box, -1), row(self._reset, -1), self._title, self._area)
        self._column = column(*parts, -1, margins=theme.PANEL_PADDING, spacing=8)
        self.setLayout(self._column)

    def show_models(
        self, models: Sequence[Mapping[str, Any]], offers: tuple[Offer, ...], table: TableOfModels
    ) -> None:
        """Show what is chosen, and what can be."""
        self._models, self._table = [dict(model) for model in models], table
        if offers != self._offers:
            self._offers = offers
            self._box.clear()
            self._box.addItem("Choose a model…" if self._is_single else "Add a model…")
            for offer in offers:
                self._box.addItem(f"As trained: {offer.title}" if offer.is_of_run else offer.title)
        self._box.setCurrentIndex(0)
        self._at = min(self._at, max(len(self._models) - 1, 0))
        self._refresh()

    @property
    def _is_single(self) -> bool:
        return self._parameter.kind == "model"

    def _refresh(self) -> None:
        clear(self._list)
        for at, model in enumerate(self._models):
            self._list.addWidget(self._line_of(at, str(model["name"])))
        self._reset.setEnabled(bool(self._models))
        self._show_settings()

    def _line_of(self, at: int, name: str) -> QWidget:
        line = QWidget()
        look = button(
            name, "" if at == self._at else "quiet", partial(self._look_at, at), f"{self._prefix}.{at}"
        )
        look.setToolTip(literal(f"Settings of {name}"))
        remove = bare_button(
            "delete", f"Remove {name}", partial(self._remove, at), f"{self._prefix}.{at}.remove"
        )
        line.setLayout(row(look, -1, remove))
        return line

    def _look_at(self, at: int) -> None:
        self._at = at
        self._refresh()

    def _remove(self, at: int) -> None:
        self.chosen.emit(self._models[:at] + self._models[at + 1 :])

    def _on_offer(self, index: int) -> None:
        if index == 0:
            return
        taken = [] if self._is_single else [str(model["name"]) for model in self._models]
        added = with_free_name(self._offers[index - 1].model, taken)
        self._at = 0 if self._is_single else len(self._models)
        self.chosen.emit([added] if self._is_single else [*self._models, added])

    def _show_settings(self) -> None:
        from workbench.catalog import entry_of, start_parameters

        has_settings = bool(self._models)
        self._area.setVisible(has_settings)
        self._column.setStretchFactor(self._area, 1 if has_settings else 0)
        # without settings the room left is below, not between the parts
        self._column.setStretch(self._column.count() - 1, 0 if has_settings else 1)
        self._title.setText(f"Settings of {self._models[self._at]['name']}" if self._models else "")
        if not self._models:
            return
        model = self._models[self._at]
        if self._settings is None:
            self._make_settings()
        table = entry_of(model["kind"]).parameters(self._table.task)
        self._settings.set_parameters(
            parameter
            for parameter in table
            if parameter.kind not in OF_MODELS
            and parameter.name not in ("n_jobs", "random_state")
            and parameter.suits(self._table.n_classes)
        )
        self._settings.set_values(
            model["parameters"],
            start_parameters(model["kind"], self._table.task, self._table.n_rows),
        )
        if self._tuned is not None:
            self._tuned.show_model(self._at, model, self._table)

    def _make_settings(self) -> None:
        from workbench.ui.forms.parameter_form import ParameterForm
        from workbench.ui.forms.tuned_inside import TunedInside

        page = QWidget()
        page.setProperty("look", "page")
        self._settings = ParameterForm(f"{self._prefix}.settings")
        self._settings.edited.connect(self._on_edited)
        parts: list[QWidget] = [self._settings]
        if self._parameter.may_be_tuned:
            self._tuned = TunedInside(f"{self._prefix}.grid")
            self._tuned.changed.connect(self._on_grid)
            parts.insert(0, self._tuned)
        page.setLayout(column(*parts, -1, spacing=8))
        self._area.setWidget(page)

    def _on_edited(self, name: str, value: object) -> None:
        model = self._models[self._at]
        self._change({**model, "parameters": {**model["parameters"], name: value}})

    def _on_grid(self, grid: dict[str, Any]) -> None:
        model = {name: value for name, value in self._models[self._at].items() if name != "grid"}
        self._change(model | ({"grid": grid} if grid else {}))

    def _change(self, model: dict[str, Any]) -> None:
        self.chosen.emit([*self._models[: self._at], model, *self._models[self._at + 1 :]])

    def offer_box(self) -> ComboBox:
        """The list of what can be chosen."""
        return self._box

    def popup(self, below: QWidget) -> None:
        """Open beside a button, within the screen."""
        self.ensurePolished()  # before, it does not know how much room its words take
        wanted = QSize(theme.scaled(WIDTH), theme.scaled(HEIGHT))
        self.resize(wanted.expandedTo(self._column.totalMinimumSize()))
        corner = below.mapToGlobal(QPoint(below.width() - self.width(), below.height() + 4))
        room = below.window().frameGeometry()
        x = max(corner.x(), room.left())
        y = min(corner.y(), room.bottom() - self.height())
        self.move(x, max(y, room.top()))
        self.show()


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


class _NamesButton(QPushButton):
    """A button that shortens its words to its room, at their end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._full = ""

    def full_text(self) -> str:
        return self._full

    def say(self, text: str) -> None:
        self._full = text
        self._elide()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width() - 2 * BUTTON_MARGIN, BUTTON_MARGIN)
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, room))


class ModelsField(Field):
    """A button that tells the models' names and opens the popover."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self._value: Any = None
        self._offers: tuple[Offer, ...] = ()
        self._table = NO_TABLE
        self._button = _NamesButton(f"settings.{parameter.name}.button")
        self._button.clicked.connect(lambda _checked=False: self._open())
        self._form: ModelsPopover | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._button)
        self.setFocusProxy(self._button)

    def set_offers(self, offers: tuple[Offer, ...], table: TableOfModels) -> None:
        """Say what can be chosen, and what the models learn; before `set_value`."""
        self._offers, self._table = offers, table

    def set_value(self, value: Any) -> None:
        self._value = value
        words = words_of(value, self._parameter.none_text)
        n = 0 if value is None else 1 if isinstance(value, Mapping) else len(value)
        self._button.say(f"{n} models" if n > 1 else words)
        self._button.setToolTip(literal(words))
        self._button.setAccessibleDescription(words)
        if self._form is not None:
            self._form.show_models(self._models, self._offers, self._table)

    @property
    def _models(self) -> list[Mapping[str, Any]]:
        if self._value is None:
            return []
        return [self._value] if isinstance(self._value, Mapping) else list(self._value)

    def value_text(self) -> str:
        return self._button.full_text()

    @property
    def form(self) -> ModelsPopover:
        """The choices; made when they are asked for."""
        if self._form is None:
            self._form = ModelsPopover(self._parameter, f"settings.{self._parameter.name}", self)
            self._form.chosen.connect(self._on_chosen)
            self._form.show_models(self._models, self._offers, self._table)
        return self._form

    def _open(self) -> None:
        self.form.popup(self._button)

    def _on_chosen(self, models: list[dict[str, Any]]) -> None:
        if not models:
            self.edited.emit(None)
        else:
            self.edited.emit(models[0] if self._parameter.kind == "model" else models)
