"""A slider over an ensemble's rounds or trees: marker, tree, surface and scores follow it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from workbench.figures.words import count
from workbench.rounds import can_go_on, has_rounds, unit_of
from workbench.runs import RunResult
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.inputs import Slider
from workbench.ui.widgets import ActionButton, Label, action_icon, row

AMOUNTS = (10, 50, 100)  # of rounds to add
SLIDER_PX = 40  # at least


class RoundBar(QWidget):
    """Looks at the first rounds of the current run; keeps them alone, or adds more.

    Absent where the run has no rounds. The selection holds the round, so that all views follow it.
    """

    looked_at = Signal(object)  # how many rounds; None: all of them, or none there

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("rounds.bar")
        self._context = context
        self._add_actions()
        self._unit = Label("", "secondary")
        self.slider = Slider("rounds.slider", "Rounds looked at")
        self.slider.setMinimumWidth(theme.scaled(SLIDER_PX))
        self.slider.valueChanged.connect(self.look_at)
        self._says = Label("", "secondary")
        self._says.setObjectName("rounds.says")
        actions = context.actions
        self.keep = ActionButton(actions["action.rounds.keep"], "quiet", "Keep")
        self.keep.setObjectName("rounds.keep")
        self._add = action_icon(actions["action.rounds.add"], "rounds.add")
        steps = [action_icon(actions[f"action.rounds.{way}"], f"rounds.{way}") for way in ("back", "on")]
        layout = row(8, self._unit, self.slider, self._says, *steps, self.keep, self._add, 8, margins=4)
        layout.setSpacing(4)
        layout.setStretchFactor(self.slider, 1)
        self.setLayout(layout)
        document = context.document
        for signal in (document.table_changed, document.current_run_changed, document.run_changed):
            signal.connect(self._on_changed)
        context.selection.preview_changed.connect(self.refresh)

    def _add_actions(self) -> None:
        add = self._context.actions.add
        add("action.rounds.back", "One Round Back", "Alt+Left", partial(self._step, -1), "step_back",
            tip="Look at one round or tree fewer")  # fmt: skip
        add("action.rounds.on", "One Round On", "Alt+Right", partial(self._step, 1), "step_on",
            tip="Look at one round or tree more")  # fmt: skip
        add("action.rounds.keep", "Keep First Rounds", "Ctrl+Shift+K", self._keep,
            tip="Drop the rounds or trees after those looked at; Undo brings them back")  # fmt: skip
        add("action.rounds.add", "Add Rounds…", "Ctrl+Shift+A", self._ask_more, "add",
            tip="Go on with the training for more rounds or trees")  # fmt: skip

    def _result(self) -> RunResult | None:
        run = self._context.document.current_run
        return None if run is None or run.is_training else run.result

    def _on_changed(self, *_: object) -> None:
        self._context.trainer.in_turn(self.refresh)

    def refresh(self) -> None:
        """Show what the selection holds."""
        result, enable = self._result(), self._context.actions.enable
        is_there = has_rounds(result)
        n_now = n = 0
        if result is not None and is_there:
            n, n_now = result.n_rounds, self._context.selection.rounds_of(result)
            self._unit.setText(f"{unit_of(result).capitalize()}s")
            self.slider.blockSignals(True)
            self.slider.setRange(1, n)
            self.slider.setPageStep(max(n // 10, 1))
            self.slider.setValue(n_now)
            self.slider.blockSignals(False)
            self._says.setText(f"{count(n_now)} of {count(n)}")
            self._says.setMinimumWidth(
                self._says.fontMetrics().horizontalAdvance(f"{count(n)} of {count(n)}")
            )
        self.setVisible(is_there)
        enable("action.rounds.back", n_now > 1)
        enable("action.rounds.on", n_now < n)
        enable("action.rounds.keep", n_now < n and self._context.document.table is not None)
        goes_on = can_go_on(result) and self._context.document.table is not None
        enable("action.rounds.add", goes_on)
        self._context.actions["action.rounds.add"].setVisible(goes_on)
        self._add.setVisible(goes_on)
        self.looked_at.emit(n_now if n_now < n else None)

    def look_at(self, n_rounds: int) -> None:
        """Look at the first rounds, as many as there are at most."""
        result = self._result()
        if result is not None and has_rounds(result):
            self._context.selection.look_at_rounds(result, min(max(n_rounds, 1), result.n_rounds))

    def _step(self, n_more: int) -> None:
        result = self._result()
        if result is not None:
            self.look_at(self._context.selection.rounds_of(result) + n_more)

    def _keep(self) -> None:
        run_id, result = self._context.document.current_run_id, self._result()
        if run_id is not None and result is not None:
            self._context.editor.keep_rounds(run_id, self._context.selection.rounds_of(result))

    def _ask_more(self) -> None:
        result = self._result()
        if result is None:
            return
        menu = QMenu(self)
        menu.setObjectName("rounds.amounts")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for n_more in sorted({*AMOUNTS, result.n_rounds}):
            menu.addAction(f"Add {count(n_more)} {unit_of(result)}s", partial(self._add_more, n_more))
        is_seen = self._add.isVisible()
        place = self._add.mapToGlobal(QPoint(0, 0)) if is_seen else QCursor.pos()
        menu.popup(place - QPoint(0, menu.sizeHint().height() if is_seen else 0))

    def _add_more(self, n_more: int) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None:
            self._context.trainer.add_rounds(run_id, n_more)
