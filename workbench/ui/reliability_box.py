"""Parts of the Scores view: whether a model knows how sure it is, of classes and of numbers."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from workbench.figures.reliability import (
    CoverageFigure,
    can_cover,
    choice_text,
    class_choices,
    look_at_coverage,
    make_reliability,
)
from workbench.figures.words import sentence
from workbench.fitting import what_differs
from workbench.runs import RunResult
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import PictureExports
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.reliability import CoveragePlot, ReliabilityPlot, SharePlot
from workbench.ui.sight import Sight
from workbench.ui.widgets import Label, bare_button, button, column, row

KEY = "coverage of intervals"
CLASS_KEY = "scores_class"
UNKNOWN = (
    "The model knows no standard deviation, so it tells no intervals: forests by absolute error and bags of "
    "other learners do not; choose another criterion, or a deep ensemble."
)


class ShareBox(QWidget):
    """A title, a picture, what it says in words, and buttons to take it away.

    Parameters
    ----------
    what : str
        "reliability" or "coverage": in names of objects, actions and files.
    """

    def __init__(self, context: Context, what: str, title: str, plot: SharePlot) -> None:
        super().__init__()
        self.setObjectName(f"scores.{what}_box")
        self._context, self._what, self.plot = context, what, plot
        self._action = f"action.scores.{what}"
        action = context.actions.add(
            self._action, f"Export {what.capitalize()}…", None, self._ask_csv, "export",
            tip=f"Write the points of the {what} picture as CSV",
        )  # fmt: skip
        self._exports = PictureExports.of(context)
        self._exports.register(self, self.picture, what)
        csv = bare_button("export", "Export points as CSV", action.trigger, f"scores.{what}_csv")
        picture = bare_button("picture", "Export picture", self._export, f"scores.{what}_export")
        self._exporters = (csv, picture)
        self.told = Label("", "secondary", wrap=True)
        self.told.setObjectName(f"scores.{what}_told")
        head = row(Label(title, "name"), -1, *self._make_more(), *self._exporters, spacing=4)
        self.setLayout(column(head, self.plot, self.told, spacing=8))

    def _make_more(self) -> tuple[QWidget, ...]:
        """Make what stands beside the title."""
        raise NotImplementedError

    def picture(self) -> SharePlot | None:
        """The picture; None while there is none."""
        return None if self.plot.isHidden() or self.isHidden() else self.plot

    def _show_figure(self, figure: Any, why: str = "") -> None:
        """Show a figure, or say why there is none."""
        has_points = figure is not None and figure.n_points > 0
        self.plot.setVisible(has_points)
        for later in self._exporters:
            later.setVisible(has_points)
        self._context.actions.enable(self._action, has_points and not self.isHidden())
        if has_points:
            self.plot.set_figure(figure)
        self.told.setText(figure.told() if has_points else why)

    def _export(self) -> None:
        self._exports.ask(self, self.picture(), self._what)

    def _ask_csv(self) -> None:
        title = f"Export {self._what.capitalize()}"
        ask_csv(self._context, self, title, self._what, "Points", self.plot.figure.to_csv)


class ReliabilityBox(ShareBox):
    """How often a class came true against how probable the model said it was; absent of other models."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "reliability", "Reliability", ReliabilityPlot())
        self._shown: tuple[str, RunResult, str] | None = None
        self.show_run("", None, "")

    def _make_more(self) -> tuple[QWidget, ...]:
        self.classes = ComboBox()
        self.classes.setObjectName("scores.reliability_class")
        self.classes.setAccessibleName("Class of the reliability diagram")
        self.classes.setMinimumContentsLength(12)
        self.classes.activated.connect(self._on_chosen)
        return (self.classes,)

    def show_run(self, name: str, result: RunResult | None, part: str) -> None:
        """Follow the model and the part of the view."""
        choices = () if result is None else class_choices(result)
        self._shown = (name, result, part) if result is not None and choices else None
        self.setVisible(self._shown is not None)
        self.classes.clear()
        if result is not None:
            for class_idx in choices:
                self.classes.addItem(choice_text(result, class_idx), class_idx)
            wanted = self._context.document.view_state.get(CLASS_KEY)
            self.classes.setCurrentIndex(max(self.classes.findText(str(wanted)), 0) if wanted else 0)
        self._draw()

    def _on_chosen(self, _index: int) -> None:
        self._context.document.set_view_state(CLASS_KEY, self.classes.currentText())
        self._draw()

    def _draw(self) -> None:
        if self._shown is None:
            self._show_figure(None)
        else:
            self._show_figure(make_reliability(*self._shown, self.classes.currentData()))


class CoverageBox(ShareBox):
    """How many rows lie in a model's intervals, counted in a worker; absent where it tells none."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "coverage", "Coverage of intervals", CoveragePlot())
        self._wanted: tuple[str, RunResult, str, str] | None = None
        self._known: tuple[tuple[Any, ...], CoverageFigure | None] | None = None
        self._asked: tuple[Any, ...] | None = None
        self._job: Any = None
        self._sight = Sight(self, self._ask)
        self.show_run("", None, "")

    def _make_more(self) -> tuple[QWidget, ...]:
        self._progress = Label("", "secondary")
        self._progress.setObjectName("scores.coverage_progress")
        self.stop = button("Stop", "quiet", self._stop_or_count, "scores.coverage_stop")
        return self._progress, self.stop

    def show_run(self, name: str, result: RunResult | None, part: str, unit: str = "") -> None:
        """Follow the model and the part of the view; the target's unit is that of widths."""
        self._wanted = (name, result, part, unit) if result is not None and can_cover(result) else None
        self.setVisible(self._wanted is not None)
        if self._asked is not None and self._asked != self._key():
            self._job.supersede()
            self._asked = self._job = None
        self._refresh()
        self._sight.ask()

    def _key(self) -> tuple[Any, ...] | None:
        """What tells one count from another."""
        if self._wanted is None:
            return None
        name, result, part, unit = self._wanted
        return name, result.estimator, result.n_rounds, part, unit

    def _why_not(self) -> str:
        table = self._context.document.table
        if self._wanted is None or not (difference := what_differs(self._wanted[1], table)):
            return ""
        return sentence(f"{difference}; undo that, or train it again, to count rows in intervals")

    def _refresh(self) -> None:
        is_busy, is_known = self._asked is not None, self._is_known
        figure = self._known[1] if is_known and self._known is not None else None
        self._progress.setVisible(is_busy)
        self.stop.setVisible(is_busy or (figure is not None and figure.is_stopped))
        self.stop.setText("Stop" if is_busy else "Count all rows")
        self._show_figure(figure, self._why_not() or (UNKNOWN if is_known else ""))

    def _ask(self) -> None:
        if not self._is_known:
            self._count()

    @property
    def _is_known(self) -> bool:
        return self._known is not None and self._known[0] == self._key()

    def _count(self) -> None:
        table, wanted = self._context.document.table, self._wanted
        if wanted is None or table is None or self._asked is not None or self._why_not():
            return
        name, result, part, unit = wanted
        self._asked = self._key()
        self._progress.setText("counting")
        self._job = self._context.lanes.studies.submit_latest(
            KEY,
            lambda monitor: look_at_coverage(name, result, table, part, unit, monitor),
            "Counting rows in intervals",
        )
        self._job.advanced.connect(self._on_advanced)
        self._job.ended.connect(self._on_ended)
        self._refresh()

    def _stop_or_count(self) -> None:
        if self._asked is not None:
            self._job.request_stop()
        else:
            self._count()

    def _on_advanced(self, _events: list) -> None:
        if self._job is not None:
            self._progress.setText(self._job.progress.text)

    def _on_ended(self, future) -> None:
        if self._job is None or future is not self._job.future:
            return  # of a model or part that is not looked at any more
        asked, self._asked, self._job = self._asked, None, None
        if not future.cancelled():
            if isinstance(future.exception(), MemoryError):
                self._context.document.post_message("There is not enough memory to count rows in intervals.")
            elif asked is not None:
                self._known = asked, future.result()
        self._refresh()
