"""What is varied and on which training sets: a setting with its values, how they are drawn, and how many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.errors import ParameterError
from workbench.bias_variance import (
    FEWEST_SETS,
    MOST_SETS,
    ONE_LINES,
    TITLES,
    BiasVarianceSettings,
)
from workbench.bias_variance_choice import first_values, offered_draws, offered_parameters, read_n_sets
from workbench.figures.words import counted
from workbench.tuning_grids import values_text
from workbench.ui import theme
from workbench.ui.forms.grid_line import GridLine
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, column, literal, repolish, row

if TYPE_CHECKING:
    from workbench.document import Document

MODELS = "the models of the list"
SETS_WIDTH = 64
SETS_TIP = f"How many training sets, from {FEWEST_SETS} to {MOST_SETS:,}"


class BiasVarianceForm(QWidget):
    """Tells of changes that hold, with the words of an undo step, and of what is no setting."""

    edited = Signal(str, object)  # words, BiasVarianceSettings
    refused = Signal(str)  # why what is typed is none; empty once it is one

    def __init__(self) -> None:
        super().__init__()
        self._document: Document | None = None
        self._settings = BiasVarianceSettings()
        self._offered: tuple[object, ...] = ()
        self.line = GridLine("bias_variance", "", "What is varied", "Values to try", MODELS)
        self.draws, self.sets = ComboBox(), QLineEdit()
        self.draws.setObjectName("bias_variance.draws")
        self.draws.setAccessibleName("Training sets")
        self.sets.setObjectName("bias_variance.sets")
        self.sets.setAccessibleName("How many training sets")
        self.sets.setToolTip(literal(SETS_TIP))
        self.numbers = QWidget()
        self.numbers.setLayout(row(self.draws, self.sets, Label("training sets", "secondary"), spacing=8))
        self.setLayout(column(self.line))
        self.line.changed.connect(self._on_line_changed)
        self.line.edit.editingFinished.connect(self._on_values_finished)
        self.draws.activated.connect(self._on_draws)
        self.sets.textEdited.connect(lambda _text: self._check())
        self.sets.editingFinished.connect(self._on_sets_finished)
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self.line.box.setFixedWidth(self.line.box.room_wanted())
        self.draws.setFixedWidth(self.draws.room_wanted())
        self.sets.setFixedWidth(theme.scaled(SETS_WIDTH))

    def show_settings(self, document: Document, settings: BiasVarianceSettings) -> None:
        """Show what is chosen, and offer what may be instead."""
        parameters, draws = offered_parameters(document), offered_draws(document)
        offered = (document.current_run_id, document.task, parameters, draws)
        is_new = offered != self._offered
        if is_new:
            self._offered, self._document = offered, document
            self.line.offer(parameters, lambda p: values_text(p, first_values(document, p)))
            self.draws.clear()
            for how in draws:
                self.draws.addItem(TITLES[how])
            self._dress()
        self._settings = settings
        known = {parameter.name: parameter for parameter in parameters}
        text = values_text(known[settings.parameter], settings.values) if settings.parameter else ""
        shown = (settings.parameter, text)
        if is_new or shown != (self._shown_name, self._shown_text()):
            self.line.show_choice(settings.parameter or None, text)
        self.draws.setCurrentIndex(draws.index(settings.how))
        self.draws.setToolTip(literal(ONE_LINES[settings.how]))
        if self.sets.text() != str(settings.n_sets):
            self.sets.setText(str(settings.n_sets))
        self._check()

    @property
    def _shown_name(self) -> str:
        return "" if self.line.parameter is None else self.line.parameter.name

    def _shown_text(self) -> str:
        return self.line.edit.text() if self.line.parameter is not None else ""

    def typed(self) -> BiasVarianceSettings:
        """Return what stands in the fields.

        Raises
        ------
        ParameterError
            It is no list of legal values, or no number of training sets.
        """
        parameter = self.line.parameter
        n_sets = read_n_sets(self.sets.text())
        if parameter is None:
            return replace(self._settings, parameter="", values=(), n_sets=n_sets)
        values = self.line.values()
        return replace(self._settings, parameter=parameter.name, values=values, n_sets=n_sets)

    def _check(self) -> None:
        why = ""
        try:
            self.typed()
        except ParameterError as error:
            why = str(error)
        is_of_sets = "training sets" in why
        for widget, is_wrong in ((self.sets, is_of_sets), (self.line.edit, bool(why) and not is_of_sets)):
            if bool(widget.property("invalid")) != is_wrong:
                widget.setProperty("invalid", is_wrong)
                repolish(widget)
        self.refused.emit(why)

    def commit(self) -> None:
        """Take what is typed, where it is something."""
        try:
            settings = self.typed()
        except ParameterError:
            return
        if settings != self._settings:
            before, self._settings = self._settings, settings
            self.edited.emit(_words(before, settings), settings)

    def _on_line_changed(self) -> None:
        self._check()
        if self._shown_name != self._settings.parameter:
            self.commit()  # typed values wait for Enter

    def _on_values_finished(self) -> None:
        self.commit()

    def _on_sets_finished(self) -> None:
        self.commit()

    def _on_draws(self, place: int) -> None:
        assert self._document is not None
        how = offered_draws(self._document)[place]
        if how != self._settings.how:
            before, self._settings = self._settings, replace(self._settings, how=how)
            self.edited.emit(_words(before, self._settings), self._settings)


def _words(before: BiasVarianceSettings, after: BiasVarianceSettings) -> str:
    if before.how != after.how:
        return f"Train on {TITLES[after.how].lower()}"
    if before.n_sets != after.n_sets:
        return f"Draw {counted(after.n_sets, 'training set')}"
    return "Vary other values" if before.parameter == after.parameter else "Vary something else"
