"""What windows share that fit one model on many training sets: how these are drawn, start and stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from engine.errors import DataError, ParameterError
from workbench.bias_variance_choice import offered_draws
from workbench.figures.words import counted, sentence
from workbench.study_runner import StudyRunner
from workbench.training_sets import ONE_LINES, TITLES, read_n_sets
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.inputs import ComboBox
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, literal, repolish

COUNT_WIDTH = 56


class RefitDialog(StudyDialog):
    """Follows the table and the current model; settings are changed in undoable steps.

    A subclass makes the content of `self._switch` in `_make_content`, from the parts that are made here.

    Parameters
    ----------
    key : str
        Begins the parts' object names; what the settings are called among the studies.
    runner : StudyRunner
    check : callable
        ``check(document, settings)`` returns what a worker would be given; raises DataError or
        ParameterError where nothing can be begun.
    """

    verb = "Fit"  # what the button says
    _figure: Any = None

    def __init__(
        self, context: Context, window: QWidget, key: str, title: str, size: QSize, runner: StudyRunner,
        check: Callable[[Any, Any], object],
    ) -> None:  # fmt: skip
        super().__init__(context, window, key, title, size)
        self._key, self._runner, self._check = key, runner, check
        self._offered_draws: tuple[str, ...] = ()
        self._drawn: tuple[Any, ...] = ()
        self._told: dict[QLineEdit, str] = {}  # what fields were filled with
        self._inputs: Any = None  # what the check returned, where something can be begun
        self.draws, self.count = ComboBox(), QLineEdit()
        self._name(self.draws, "draws", "Training sets")
        self._name(self.count, "count", "How many training sets")
        self.draws.activated.connect(self._on_draws)
        self._watch(self.count)
        self._says, self._error = ElidedLabel("", "secondary"), Label("", "danger", wrap=True)
        self._says.setObjectName(f"{key}.says")
        self._error.setObjectName(f"{key}.error")
        self._error.hide()
        self.start: QPushButton = button(self.verb, "primary", self.start_or_stop, f"{key}.start")
        csv = bare_button("export", "Export numbers as CSV", self._ask_export, f"{key}.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, f"{key}.export")
        self._exporters = (csv, picture)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, key)
        self._empty = EmptyState(key, "")
        self._switch = Switch(self._empty, self._make_content())
        theme.changed.connect(self._dress)
        self._dress()
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.studies_changed, document.run_added,
            document.run_removed, document.run_changed, document.current_run_changed, runner.advanced,
        ):  # fmt: skip
            signal.connect(self._sight.ask)

    # -- what a subclass says

    @property
    def settings(self) -> Any:
        """What was chosen, as far as it fits the table; else what is offered first."""
        raise NotImplementedError

    def _make_content(self) -> QWidget:
        raise NotImplementedError

    def _picture(self) -> Any:
        """Return the plots that are exported; None where there are none."""
        raise NotImplementedError

    def _refresh(self) -> None:
        raise NotImplementedError

    def _csv_text(self) -> str | None:
        raise NotImplementedError

    def _typed(self) -> Any:
        """Return the settings as they stand in the fields; raises ParameterError where they are none."""
        return replace(self.settings, n_sets=read_n_sets(self.count.text()))

    def _words_of(self, settings: Any) -> str:
        """Return what a change that was typed is called."""
        return f"Draw {counted(settings.n_sets, 'training set')}"

    def _idle_text(self, inputs: Any) -> str:
        """Return what pressing the button would do."""
        return ""

    def _marks(self, why: str) -> dict[QLineEdit, bool]:
        """Return which fields are wrong, where something is."""
        return {self.count: "is no number of training sets" in why}

    # -- what is asked

    def _name(self, widget: QWidget, name: str, spoken: str) -> None:
        widget.setObjectName(f"{self._key}.{name}")
        widget.setAccessibleName(spoken)
        widget.setToolTip(spoken)

    def _watch(self, edit: QLineEdit) -> None:
        """Say at once whether what is typed is something, and take it in the end."""
        edit.textEdited.connect(lambda _text: self._show_state())
        edit.editingFinished.connect(self._commit)

    def _set(self, words: str, settings: Any) -> None:
        self._context.document.set_studies(words, **{self._key: settings})

    def _on_draws(self, place: int) -> None:
        how = offered_draws(self._context.document)[place]
        self._set(f"Fit {TITLES[how].lower()}", replace(self.settings, how=how))

    def _commit(self) -> None:
        try:
            settings = self._typed()
        except ParameterError:
            return
        if settings != self.settings:
            self._set(self._words_of(settings), settings)

    def start_or_stop(self) -> None:
        """Begin with what stands in the fields, or end what runs."""
        if self._runner.current_job is not None:
            self._runner.stop()
            return
        self._commit()
        if not self._why():
            self._runner.start(self.settings)

    # -- what is shown

    def _dress(self) -> None:
        self.draws.setFixedWidth(self.draws.room_wanted())
        self.count.setFixedWidth(theme.scaled(COUNT_WIDTH))

    def _offer_draws(self) -> None:
        """Show how training sets are drawn, and what may be instead."""
        draws, settings = offered_draws(self._context.document), self.settings
        if draws != self._offered_draws:
            self._offered_draws = draws
            self.draws.clear()
            self.draws.addItems([TITLES[how] for how in draws])
            self._dress()
        self.draws.setCurrentIndex(draws.index(settings.how))
        self.draws.setToolTip(literal(ONE_LINES[settings.how]))
        self._show_text(self.count, str(settings.n_sets))

    def _show_text(self, edit: QLineEdit, text: str) -> None:
        """Show a setting where it is another now; else leave what somebody types."""
        if self._told.get(edit) != text or not edit.hasFocus():
            self._told[edit] = text
            edit.setText(text)

    def _why(self) -> str:
        """Return why pressing the button would do nothing; empty where it would."""
        self._inputs = None
        try:
            self._inputs = self._check(self._context.document, self._typed())
        except (DataError, ParameterError) as error:
            return str(error)
        return ""

    def _show_state(self) -> None:
        job = self._runner.current_job
        why = "" if job is not None else self._why()
        for edit, is_wrong in self._marks(why).items():
            if bool(edit.property("invalid")) != is_wrong:
                edit.setProperty("invalid", is_wrong)
                repolish(edit)
        idle = "" if self._inputs is None else self._idle_text(self._inputs)
        self._says.setText(idle if job is None else job.progress.text)
        self._error.setText(sentence(why) if why else "")
        self._error.setVisible(bool(why))
        self.start.setText(self.verb if job is None else "Stop")
        self.start.setToolTip("Fit on every training set" if job is None else "Stop; what is done stays")
        self.start.setEnabled(job is not None or not why)

    def _say_what_is_missing(self, model: str, how: str) -> None:
        """Say that there is no table or target, or which model is missing, and offer what helps."""
        document, actions = self._context.document, self._context.actions
        self._figure = None
        if document.table is None:
            self._empty.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
        elif document.target is None:
            self._empty.tell("Nothing to predict yet.", "Choose it in Data, then add a model.", None)
        else:
            add = actions.get("action.model.add_tree") if document.current_run is None else None
            self._empty.tell(model, how, add)
        self._switch.show_content(False)

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self._figure is None else self._key)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Numbers", self._key, "Numbers", self._csv_text)
