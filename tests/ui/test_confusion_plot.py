"""The confusion of many classes: numbers are whole or left to the tip, and every column has its name."""

import xml.etree.ElementTree as ET

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator

from workbench.figures.scores import ConfusionFigure
from workbench.ui.plots.scores import ConfusionPlot

N_CLASSES, ROOM = 30, 620.0  # room: the Scores view at 1024 x 700


def make_plot(qtbot):
    """The confusion of 30 classes: 7 rows right in each, 12 and 1,234 rows wrong in two cells."""
    counts = 7 * np.eye(N_CLASSES, dtype=np.int64)
    counts[2, 3], counts[4, 5] = 12, 1234
    names = tuple(f"k{k:03}" for k in range(N_CLASSES))
    plot = ConfusionPlot()
    qtbot.addWidget(plot)
    plot.set_figure(ConfusionFigure("Tree 1", "60 held-out test rows", names, counts, None, None))
    return plot


def texts_in(plot, wide, path):
    """What is written in the picture of a width, by a painter that keeps words."""
    picture = QSvgGenerator()
    picture.setFileName(str(path))
    painter = QPainter(picture)
    plot.paint_into(painter, QRectF(0, 0, wide, plot.height_needed()))
    painter.end()
    return ["".join(item.itertext()).strip() for item in ET.parse(path).iter() if item.tag.endswith("}text")]


def test_numbers_in_narrow_cells_are_whole_or_dots(qtbot, tmp_path):
    plot = make_plot(qtbot)
    texts = texts_in(plot, ROOM, tmp_path / "confusion.svg")
    assert texts.count("7") == N_CLASSES
    assert texts.count("0") == N_CLASSES * (N_CLASSES - 1) - 2
    assert texts.count("12") == 1
    assert texts.count("…") == 1  # never a part of 1,234
    texts = texts_in(plot, 2400.0, tmp_path / "wide.svg")
    assert texts.count("1,234") == 1


def test_many_columns_have_their_names(qtbot, tmp_path):
    plot = make_plot(qtbot)
    texts = texts_in(plot, ROOM, tmp_path / "confusion.svg")
    assert [texts.count(name) for name in plot.figure.classes] == [2] * N_CLASSES  # of a row and of a column


def test_the_tip_tells_what_a_narrow_cell_cannot(qtbot):
    plot = make_plot(qtbot)
    plot.resize(700, plot.height_needed())
    plot.show()
    qtbot.waitUntil(lambda: plot.drawing.rect().height() > 600)
    names, wide, top = plot._measures(plot.drawing.rect())
    x, bottom = names + 5.5 * wide, plot.drawing.rect().height()
    told = {plot.tip_at(QPointF(x, float(y))) for y in range(int(top), int(bottom))}
    assert "true k004\npredicted k005\n1,234 rows" in told
    assert "predicted k005" in told  # over the name of the column
