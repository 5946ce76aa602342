"""A histogram's words stand inside the picture and not on each other, wherever its lines are."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.figures.bootstrap import HistogramFigure
from workbench.ui.plots.histogram import HistogramPlot

FIGURE = HistogramFigure(
    "At x 0", "9 fits", "y", np.linspace(0.0, 1.0, 4), np.array([2, 3, 4]), (-0.02, 1.02), 0.5, 0.6,
    value_name="mean", samples_name="fits",
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "truth"),
    [(0.5, 0.6), (0.6, 1.0), (0.97, 1.0), (1.0, 0.97), (0.0, 0.4), (0.03, 0.0), (1.0, 0.0)],
)
def test_words_stand_inside_the_picture_and_not_on_each_other(qtbot, value, truth):
    plot = HistogramPlot("histogram")
    qtbot.addWidget(plot)
    plot.resize(320, 400)
    plot.show()
    plot.set_figure(replace(FIGURE, value=value, truth=truth))
    qtbot.waitUntil(lambda: plot.plot.vb.width() > 100)
    plot.grab()  # places are those of a painted picture
    boxes = [item.mapRectToScene(item.boundingRect()) for item in plot.texts_ if item.toPlainText()]
    assert {item.toPlainText() for item in plot.texts_} == {"mean", "truth"}
    picture = plot.plot.vb.sceneBoundingRect().adjusted(-1, -1, 1, 1)
    assert all(picture.left() <= box.left() and box.right() <= picture.right() for box in boxes)
    first, second = sorted(boxes, key=lambda box: box.left())
    assert first.right() <= second.left() + 1
