"""The Scores view: how good the current model is, on which rows, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.figures.scores import (
    PART_TEXTS,
    ScoreBlock,
    class_rows,
    cross_validation_block,
    make_confusion,
    make_importances,
    make_predicted_actual,
    out_of_bag_block,
    part_block,
    parts_of,
)
from workbench.figures.words import fixed
from workbench.fitting import what_differs
from workbench.rounds import has_rounds, keep_rounds, stage_text
from workbench.runs import RunResult
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.inputs import ComboBox, Slider
from workbench.ui.out_of_bag_box import OutOfBagBox
from workbench.ui.plots.scores import ConfusionPlot, ImportancesPlot, ScatterPlot
from workbench.ui.reliability_box import CoverageBox, ReliabilityBox
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, bare_button, button, clear, column, literal, row

ROUNDS_KEY = "scores of the first rounds"
GOAL = "how good it is on rows it has never seen"
CLASS_HEADS = ("Class", "Rows", "Precision", "Recall", "F1")


class ScoresPanel(QWidget):
    """Key figures first, cross-validated ones in front where the table is small (D31)."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.scores")
        self._context = context
        self._result: Any = None
        self._name = ""  # of the model, and of how many of its rounds
        self._part = ComboBox()
        self._part.setObjectName("scores.part")
        self._part.setMinimumContentsLength(18)
        self._part.activated.connect(self._on_part_chosen)
        self._blocks = column(spacing=16)
        self.confusion, self.importances, self.scatter = ConfusionPlot(), ImportancesPlot(), ScatterPlot()
        self._cut = Slider("scores.cut_off", "Cut-off")
        self._cut.setRange(1, 99)
        self._cut.setValue(50)
        self._cut.valueChanged.connect(self._refresh_confusion)
        self._cut_text = Label("", "secondary", wrap=True)
        self._cut_text.setObjectName("scores.cut_off_text")
        self._classes = self._make_class_table()
        self.reliability, self.coverage = ReliabilityBox(context), CoverageBox(context)
        self.more = OutOfBagBox(context)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self.picture, "scores")
        self._empty = EmptyState("scores", "")
        self._switch = Switch(self._empty, self._make_page(), self)
        self.setLayout(column(self._switch))
        self._cv_text: Label | None = None
        self._rounds: tuple[RunResult, RunResult] | None = None  # a result, and its first rounds scored
        self._rounds_sight = Sight(self, self._ask_rounds)
        self._connect(context)
        self._refresh()

    def _connect(self, context: Context) -> None:
        document = context.document
        document.table_changed.connect(self._refresh)
        document.columns_changed.connect(self._tell_progress)
        document.current_run_changed.connect(self._refresh)
        document.run_changed.connect(self._on_run_changed)
        context.selection.preview_changed.connect(self._on_preview_changed)
        for signal in context.trainer.work_signals:
            signal.connect(self._tell_progress)
        context.trainer.cross_validation_started.connect(self._on_run_changed)
        context.trainer.cross_validation_ended.connect(self._on_run_changed)
        context.trainer.cross_validation_advanced.connect(lambda run_id, _e: self._on_cv_advanced(run_id))

    def _make_class_table(self) -> QTableWidget:
        table = QTableWidget(0, len(CLASS_HEADS))
        table.setObjectName("scores.classes")
        table.setHorizontalHeaderLabels(CLASS_HEADS)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.scaled(28))
        table.setShowGrid(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setFont(theme.font(11, 600))
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for place in range(len(CLASS_HEADS)):
            side = Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight
            head = table.horizontalHeaderItem(place)
            assert head is not None
            head.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            if place:
                table.setColumnWidth(place, theme.scaled(80))
        return table

    def _make_page(self) -> QScrollArea:
        page = QWidget()
        page.setProperty("look", "panel")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        export = bare_button("picture", "Export picture", self._export, "scores.export")
        head = row(Label("Scores on", "secondary"), self._part, -1, export)
        self._confusion_box, self._cut_box = QWidget(), QWidget()
        self._cut_box.setLayout(column(self._cut, self._cut_text, spacing=4))
        self._confusion_box.setLayout(column(self.confusion, self._cut_box, self._classes, spacing=12))
        page.setLayout(
            column(
                head,
                self._blocks,
                self._confusion_box,
                self.scatter,
                self.reliability,
                self.coverage,
                self.importances,
                self.more,
                -1,
                margins=16,
                spacing=16,
            )
        )
        area = QScrollArea()
        area.setObjectName("scores.page")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        return area

    def picture(self):
        """The first picture on the page; None without scores."""
        if not self._switch.shows_content:
            return None
        return self.confusion if self._result.classes else self.scatter

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._refresh)

    def _on_cv_advanced(self, run_id: str) -> None:
        job = self._context.trainer.cross_validation_job
        if run_id == self._context.document.current_run_id and job is not None and self._cv_text is not None:
            self._cv_text.setText(f"Cross-validating: {job.progress.text}")

    def _on_part_chosen(self, _index: int) -> None:
        self._context.document.set_view_state("scores_part", self._part.currentData())
        self._refresh()

    def _refresh(self, *_: object) -> None:
        run = self._context.document.current_run
        result = run.result if run is not None else None
        name = "" if run is None else run.name
        if (cut := self._scored_rounds(result)) is not None and result is not None:
            name, result = f"{name}, {stage_text(result, cut.n_rounds)}", cut
        self._result, self._name = result, name
        self._switch.show_content(result is not None and bool(result.scores))
        self._say_why(result)
        self.more.show_run(name, result if result is not None and result.scores else None)
        if run is None or result is None or not result.scores:
            self.reliability.show_run("", None, "")
            self.coverage.show_run("", None, "")
            return
        part = self._fill_parts(parts_of(result))
        self._refresh_blocks(run.run_id, name, result, part)
        is_classes = bool(result.classes)
        self._confusion_box.setVisible(is_classes)
        self.scatter.setVisible(not is_classes)
        if is_classes:
            self._refresh_confusion()
        else:
            title = f"{name}: predicted and actual"
            self.scatter.set_figure(make_predicted_actual(title, result, part, bool(self._unit(result))))
        self.reliability.show_run(name, result, part)
        self.coverage.show_run(name, result, part, self._unit(result))
        self.importances.set_figure(make_importances(f"{name}: importance of columns", result))

    def _scored_rounds(self, result) -> RunResult | None:
        """The first rounds that are looked at, scored; asked for in the background where they are not yet."""
        preview = self._context.selection.preview_of(result)
        if result is None or preview is None or preview.grown_tree is not None:
            self._rounds = None
            return None
        known = self._rounds
        is_known = known is not None and known[0] is result and known[1].n_rounds == preview.n_rounds
        if not is_known:
            self._rounds_sight.ask()
        return known[1] if known is not None and known[0] is result else None

    def _on_preview_changed(self) -> None:
        run = self._context.document.current_run
        if run is not None and has_rounds(run.result):
            self._rounds_sight.ask()

    def _ask_rounds(self) -> None:
        document, run = self._context.document, self._context.document.current_run
        result, table = run.result if run is not None else None, document.table
        preview = self._context.selection.preview_of(result)
        if preview is None:
            if self._rounds is not None:
                self._refresh()
            return
        if result is None or table is None or what_differs(result, table):
            return
        n_rounds = preview.n_rounds

        def work(monitor):
            cut = keep_rounds(result, table, n_rounds, monitor)
            return result, replace(cut, n_test_looks=result.n_test_looks)  # looked at, not chosen

        job = self._context.lanes.studies.submit_latest(ROUNDS_KEY, work, "Scoring the first rounds")
        job.ended.connect(self._on_rounds)

    def _on_rounds(self, future) -> None:
        if not future.cancelled():
            self._rounds = future.result()
            self._refresh()

    def _say_why(self, result) -> None:
        if result is not None and not result.scores:
            if len(result.parts):
                self._empty.say("It was stopped before it was scored.", "Train it again to see its scores.")
            else:
                self._empty.say("A model file holds no scores.", "Open its project to see them.")
            self._empty.offer(None)
        elif result is None:
            self._empty.say_what_is_missing(self._context, GOAL)

    def _tell_progress(self, *_: object) -> None:
        self._say_why(self._result)

    def _fill_parts(self, parts: list[str]) -> str:
        wanted = self._context.document.view_state.get("scores_part", parts[0])
        wanted = wanted if wanted in parts else parts[0]
        self._part.clear()
        for part in parts:
            self._part.addItem(PART_TEXTS[part], part)
        self._part.setCurrentIndex(parts.index(wanted))
        return wanted

    def _refresh_blocks(self, run_id: str, name: str, result, part: str) -> None:
        clear(self._blocks)
        self._cv_text = None
        cv = cross_validation_block(name, result, self._unit(result))
        if cv is not None:
            self._blocks.addWidget(self._make_block(cv, "scores.cross_validation"))
        elif self._is_cross_validating(run_id):
            self._cv_text = Label("Cross-validating", "secondary")
            stop = button("Stop", "quiet", self._context.trainer.stop_cross_validation, "scores.stop")
            self._blocks.addLayout(row(self._cv_text, stop, -1))
        self._blocks.addWidget(
            self._make_block(part_block(name, result, part, self._unit(result)), "scores.key_figures")
        )
        out_of_bag = out_of_bag_block(name, result, self._unit(result))
        if out_of_bag is not None:
            self._blocks.addWidget(self._make_block(out_of_bag, "scores.out_of_bag"))

    def _unit(self, result) -> str:
        """Unit of the target where it has one that is known: days of a date."""
        table = self._context.document.table
        is_date = table is not None and result.target in table.names
        return "days" if is_date and table.column(result.target).kind == "date" else ""

    def _is_cross_validating(self, run_id: str) -> bool:
        return self._context.trainer.cross_validation_job is not None

    def _make_block(self, block: ScoreBlock, object_name: str) -> QWidget:
        made = QWidget()
        made.setObjectName(object_name)
        is_doubtful = any("flatter" in note for note in block.notes)
        figures = []
        for key in block.key_figures:
            value = Label(key.value, "figure")
            value.setObjectName(f"{object_name}.{key.metric}")
            value.setEnabled(not is_doubtful)
            interval = [Label(key.interval, "caption")] if key.interval else []
            figures.append(column(Label(key.name, "secondary"), value, *interval, spacing=0))
        title, rows_text = Label(block.title, "name"), Label(block.rows_text, "caption")
        notes = [Label(note, "caption", wrap=True) for note in block.notes]
        made.setLayout(column(title, rows_text, 4, row(*figures, -1, spacing=32), 4, *notes, spacing=0))
        return made

    def _refresh_confusion(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or not run.result.classes:
            return
        cut = self._cut.value() / 100
        title = f"{self._name}: confusion"
        figure = make_confusion(title, self._result, self._part.currentData(), cut)
        self._cut_box.setVisible(figure.cut is not None)
        if figure.cut is not None and figure.event_idx is not None:
            event = figure.classes[figure.event_idx]
            told = f"{event} from probability {fixed(cut, 2)} on: {figure.sentence()}"
            self._cut_text.setText(f"{told}; accuracy {fixed(figure.accuracy)}")
        self.confusion.set_figure(figure)
        self._fill_classes(class_rows(figure))

    def _fill_classes(self, rows) -> None:
        self._classes.setRowCount(len(rows))
        for i, texts in enumerate(rows):
            for k, text in enumerate(texts):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignLeft if k == 0 else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(literal(text))
                self._classes.setItem(i, k, item)
        self._classes.setFixedHeight(theme.scaled(28) * (len(rows) + 1) + 8)

    def _export(self) -> None:
        self._exports.ask(self, self.picture(), "scores")
