"""Case C46 in the window: names with signs of markup, and a level of 200 characters, told in full."""

import html

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QTableWidget, QToolTip, QWidget

from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.ui import theme
from workbench.ui.plots.scores import ROW

FEATURE = "<b>x</b> & y"
LONG = ("a level of <many> signs & more, " * 7)[:195] + "<end>"
LEVELS = ("<15.75", ">=19.95", LONG)


@pytest.fixture
def trained(qtbot, session):
    assert len(LONG) == 200
    x, second = np.random.default_rng(0).normal(size=(2, 120)).round(4)
    codes = np.where(x < 0, 0, np.where(second < 0, 1, 2))
    y = np.array(LEVELS, object)[codes]
    columns = {FEATURE: x, "second": second, "y": list(y)}
    session.document.open_table(make_table("literal", columns, {"y": "category"}))
    session.document.set_target("y")
    train(qtbot, session, "tree")
    return session


@pytest.fixture
def tip_at(qtbot):
    """Returns the text of the tool tip that comes where the pointer rests, as the person reads it."""

    def ask(widget, point: QPoint) -> str:
        QToolTip.hideText()
        event = QHelpEvent(QEvent.Type.ToolTip, point, widget.mapToGlobal(point))
        QApplication.sendEvent(widget, event)
        return readable(QToolTip.text())

    yield ask
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def readable(rich: str) -> str:
    assert rich.startswith("<qt>")
    assert rich.endswith("</qt>")
    inner = rich.removeprefix("<qt>").removesuffix("</qt>").replace("<br>", "\n")
    assert "<" not in inner, "markup in the text itself would be taken as such"
    return html.unescape(inner)


def view(session, name):
    session.window.centre.show_view(name)
    return session.window.findChild(QWidget, f"panel.{name}")


def test_c46_a_node_tells_names_in_full_and_counts_that_add_up(qtbot, trained, tip_at):
    canvas = view(trained, "tree").canvas
    qtbot.waitUntil(lambda: not canvas.visibleRegion().isEmpty() and canvas.figure is not None)
    tree, n_named = canvas.figure.tree, 0
    for node in range(tree.n_nodes):
        canvas.select(tree.path_to(node))
        point = canvas.mapFromScene(canvas.item.card_rect(node).center())
        lines = tip_at(canvas.viewport(), point).split("\n")
        assert (lines[0] == "Leaf") == tree.is_leaf[node]
        assert tree.is_leaf[node] or lines[0].startswith((f"{FEATURE} ≤ ", "second ≤ "))
        told = {level: line for level in LEVELS for line in lines if line.startswith(f"{level}: ")}
        assert set(told) == {
            level for level, share in zip(LEVELS, tree.value[node], strict=True) if share > 0
        }
        n_named += lines[0].startswith(FEATURE)
        rows = [int(line.rsplit(", ", 1)[1].split(" ")[0]) for line in told.values()]
        assert sum(rows) == tree.n_node_samples[node]
    assert n_named


def test_c46_the_legend_tells_names_in_full(qtbot, trained, tip_at):
    plot = view(trained, "surface").plot
    qtbot.waitUntil(lambda: len(plot.legend_.entries) == 3, timeout=60_000)
    qtbot.waitUntil(lambda: not plot.visibleRegion().isEmpty() and plot.legend_.rect().height() > 10)
    assert tuple(name for name, _ in plot.legend_.entries) == LEVELS
    place = plot.mapFromScene(plot.legend_.mapToScene(QPointF(10, 8)))
    assert tip_at(plot.viewport(), place) == "\n".join(LEVELS)
    names = {plot.plot.getAxis(side).name for side in ("left", "bottom")}
    assert names <= {FEATURE, "second"}
    assert FEATURE in names


def test_c46_scores_tell_names_in_full(qtbot, trained, tip_at):
    panel = view(trained, "scores")
    confusion, importances = panel.confusion, panel.importances
    qtbot.waitUntil(lambda: confusion.drawing.rect().width() > 100 and confusion.isVisible())
    names, wide, top = confusion._measures(confusion.drawing.rect())
    high = theme.scaled(ROW)

    def at(plot, x, y):
        return tip_at(plot.viewport(), plot.mapFromScene(plot.drawing.mapToScene(QPointF(x, y))))

    counts = confusion.figure.counts
    assert at(confusion, 10, top + 3.5 * high) == f"true {LONG}"
    assert at(confusion, names + 2.5 * wide, top + 0.5 * high) == f"predicted {LONG}"
    for i, k in ((2, 2), (2, 0)):
        told = at(confusion, names + (k + 0.5) * wide, top + (i + 1.5) * high).split("\n")
        assert told[:2] == [f"true {LONG}", f"predicted {LEVELS[k]}"]
        assert told[2].split(" ")[0] == str(counts[i, k])
    told = {at(importances, 10, 4 + (k + 0.5) * theme.scaled(24)).rsplit(": ", 1)[0] for k in range(2)}
    assert told == {FEATURE, "second"}
    table = panel.findChild(QTableWidget, "scores.classes")
    assert [readable(table.item(k, 0).toolTip()) for k in range(3)] == list(LEVELS)


def test_c46_the_table_and_the_status_line_tell_names_in_full(qtbot, trained):
    panel = view(trained, "table")
    model = panel.findChild(QWidget, "table.view").model()
    assert [model.headerData(k, Qt.Orientation.Horizontal) for k in range(3)] == [FEATURE, "second", "y"]
    row = next(row for row in range(120) if model.table.column("y").text(row) == LONG)
    assert LONG in readable(model.index(row, 2).data(Qt.ItemDataRole.ToolTipRole))
    trained.document.post_message(f"{FEATURE}: {LONG}")
    label = trained.window.findChild(QLabel, "status.message")
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert trained.window.status.message == f"{FEATURE}: {LONG}"
    trained.window.resize(1024, 700)
    qtbot.waitUntil(lambda: label.text() != trained.window.status.message)
    assert readable(label.toolTip()) == f"{FEATURE}: {LONG}"
