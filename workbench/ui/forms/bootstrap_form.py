"""What is bootstrapped: a statistic with its columns, a model's score or an expression, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.bootstrap.expression import FUNCTIONS
from engine.parameters import Parameter
from workbench.bootstrap import (
    AUC,
    EXPRESSION,
    MAX_REPLICATES,
    METRIC_TITLES,
    N_COLUMNS,
    QUANTILE,
    SCORE,
    TITLES,
    BootstrapSettings,
)
from workbench.bootstrap import (
    SHARE as SHARE_OF_LEAST_RISK,
)
from workbench.ui import theme
from workbench.ui.forms.fields import NumberField
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, column, literal, row

TIP_ROLE = Qt.ItemDataRole.ToolTipRole
TIPS = {
    SHARE_OF_LEAST_RISK: "How much of a sum of both is the first where the sum varies least (alpha in ISLR)",
    AUC: "How often a row of the one class has a higher value than one of the other",
    SCORE: "How sure a trained model's score on its test rows is",
    EXPRESSION: "Any number made of columns, such as mean(a) / mean(b)",
}
SHARE_WIDTH, NUMBER_WIDTH = 80, 96
EXPRESSION_TIP = "Columns, + - * / ** and {}; names that are no plain words between back ticks: mean(`a b`)"
SHARE = Parameter("share", 0.9, "float", 0.0, 1.0, label="Share")
N_REPLICATES = Parameter("n_replicates", 1000, "int", 2, MAX_REPLICATES, label="Resamples")
LEVEL = Parameter(
    "level", 95.0, "float", 0.0, 100.0, open_minimum=True, open_maximum=True, label="Level", unit="%"
)
SEED = Parameter("seed", 0, "int", 0, label="Seed", has_any_size=True)


class BootstrapForm(QWidget):
    """Shows settings, and tells of each that a person changes; it keeps nothing itself."""

    edited = Signal(str, object)  # what was done, the BootstrapSettings
    refused = Signal(str)  # why what is typed is none; empty once it is one
    expression_typed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._settings = BootstrapSettings()
        self._run_ids: tuple[str, ...] = ()
        self._metrics: tuple[str, ...] = ()
        self.statistic = self._box("statistic", "Statistic", self._on_statistic)
        for kind, title in TITLES.items():
            self.statistic.addItem(title)
            self.statistic.setItemData(self.statistic.count() - 1, TIPS.get(kind), TIP_ROLE)
        self.first = self._box("first", "Column", partial(self._on_column, "first"))
        self.second = self._box("second", "Second column", partial(self._on_column, "second"))
        self.run = self._box("model", "Model", self._on_run)
        self.metric_box = self._box("metric", "Score", self._on_metric)
        self.expression = QLineEdit()
        self.expression.setObjectName("bootstrap.expression")
        self.expression.setAccessibleName("Expression")
        self.expression.setPlaceholderText("mean(a) / mean(b)")
        self.expression.setToolTip(literal(EXPRESSION_TIP.format(", ".join(FUNCTIONS))))
        self.expression.textEdited.connect(self.expression_typed)
        self.expression.editingFinished.connect(self._on_expression)
        self.share, self.n_replicates = self._number(SHARE), self._number(N_REPLICATES)
        self.level, self.seed = self._number(LEVEL), self._number(SEED)
        what = row(
            self.statistic,
            self.first,
            self.second,
            self.share,
            self.run,
            self.metric_box,
            self.expression,
            spacing=8,
        )
        what.setStretch(6, 1)
        for place in (1, 2, 4):
            what.setStretch(place, 1)
        self._numbers = row(
            Label("Resamples", "secondary"), self.n_replicates, 4, Label("Level", "secondary"), self.level, 4,
            Label("Seed", "secondary"), self.seed, spacing=8,
        )  # fmt: skip
        self.setLayout(column(what, spacing=0))
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def numbers(self) -> Any:
        """The layout of how often, at what level and by which seed, for the panel to place."""
        return self._numbers

    def _box(self, name: str, spoken: str, slot: Any) -> ComboBox:
        made = ComboBox()
        made.setObjectName(f"bootstrap.{name}")
        made.setAccessibleName(spoken)
        made.setToolTip(spoken)
        made.activated.connect(slot)
        return made

    def _number(self, parameter: Parameter) -> NumberField:
        made = NumberField(parameter)
        made.setObjectName(f"bootstrap.{parameter.name}")
        made.setAccessibleName(parameter.label)
        made.focusProxy().setAccessibleName(parameter.label)
        made.edited.connect(partial(self._on_number, parameter.name, parameter.label.lower()))
        made.refused.connect(self.refused)
        return made

    def _dress(self) -> None:
        for field in (self.share, self.level):
            field.setFixedWidth(theme.scaled(SHARE_WIDTH))
        for field in (self.n_replicates, self.seed):
            field.setFixedWidth(theme.scaled(NUMBER_WIDTH))
        for box in (self.statistic, self.metric_box):
            box.setFixedWidth(box.room_wanted())

    # -- showing

    def show_settings(
        self, settings: BootstrapSettings, numbers: Sequence[str], classes: Sequence[str],
        runs: Mapping[str, str], metrics: Sequence[str],
    ) -> None:  # fmt: skip
        """Show settings and what may be chosen instead.

        Parameters
        ----------
        numbers, classes : sequence of str
            Columns of numbers, and those of two values.
        runs : mapping of str to str
            Names of models by id.
        metrics : sequence of str
            What the chosen model can be scored by.
        """
        self._settings, self._run_ids, self._metrics = settings, tuple(runs), tuple(metrics)
        kind = settings.statistic
        self.statistic.setCurrentIndex(list(TITLES).index(kind))
        _fill(self.first, numbers, settings.first)
        _fill(self.second, classes if kind == AUC else numbers, settings.second)
        _fill(self.run, tuple(runs.values()), runs.get(settings.run_id, ""))
        _fill(self.metric_box, [METRIC_TITLES[m] for m in metrics], METRIC_TITLES.get(settings.metric, ""))
        if self.expression.text() != settings.expression:
            self.expression.setText(settings.expression)
        for field, value in (
            (self.share, settings.share), (self.n_replicates, settings.n_replicates),
            (self.level, round(100 * settings.level, 10)), (self.seed, settings.seed),
        ):  # fmt: skip
            field.set_value(value)
        self._dress()
        shown: dict[QWidget, bool] = {
            self.first: N_COLUMNS[kind] > 0, self.second: N_COLUMNS[kind] > 1, self.share: kind == QUANTILE,
            self.run: kind == SCORE, self.metric_box: kind == SCORE, self.expression: kind == EXPRESSION,
        }  # fmt: skip
        for widget, is_shown in shown.items():
            widget.setVisible(is_shown)

    # -- what a person does

    def _tell(self, text: str, **changes: Any) -> None:
        new = replace(self._settings, **changes)
        if new != self._settings:
            self.edited.emit(text, new)

    def _on_statistic(self, place: int) -> None:
        kind = list(TITLES)[place]
        self._tell(f"Bootstrap the {TITLES[kind].lower()}", statistic=kind)

    def _on_column(self, which: str, place: int) -> None:
        name = (self.first if which == "first" else self.second).itemText(place)
        self._tell(f"Bootstrap {name}", **{which: name})

    def _on_run(self, place: int) -> None:
        self._tell(f"Bootstrap {self.run.itemText(place)}", run_id=self._run_ids[place])

    def _on_metric(self, place: int) -> None:
        self._tell("Set the score", metric=self._metrics[place])

    def finish(self) -> None:
        """Take an expression that is still being typed, as where a button is pressed that takes no focus."""
        self._on_expression()

    def _on_expression(self) -> None:
        self._tell("Set the expression", expression=self.expression.text())

    def _on_number(self, name: str, spoken: str, value: Any) -> None:
        self._tell(f"Set {spoken}", **{name: value / 100 if name == "level" else value})


def _fill(box: ComboBox, items: Sequence[str], chosen: str) -> None:
    """List items, unless they are there already, and choose one; none where it is not among them."""
    if [box.itemText(place) for place in range(box.count())] != list(items):
        box.clear()
        for item in items:
            box.addItem(item)
    box.setCurrentIndex(list(items).index(chosen) if chosen in items else -1)
