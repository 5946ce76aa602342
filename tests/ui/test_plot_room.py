"""Pictures of any size have room for what they show: headers and legends give way."""

import numpy as np
import pytest
from PySide6.QtGui import QColor, QFontMetricsF
from PySide6.QtWidgets import QListWidget

from workbench.forcing import Choice, Choices
from workbench.ui import theme
from workbench.ui.plots.base import LegendItem, common_start
from workbench.ui.plots.header import HeaderItem, split_to_fit
from workbench.ui.plots.histogram import HistogramPlot
from workbench.ui.plots.marks import make_room
from workbench.ui.plots.pruning import PruningPlot
from workbench.ui.split_dialog import SplitDialog
from workbench.ui.widgets import Label

LINE = "206 training rows, 69 validation rows, 5 folds of the training rows, band of one standard error"


def test_the_words_of_a_low_picture_begin_beside_its_title(qtbot):
    plot = PruningPlot()
    qtbot.addWidget(plot)
    plot.resize(390, 400)
    plot.show()
    plot.ci.setVisible(True)
    plot.header.say("Decision tree 1", LINE)
    assert not plot.header.beside_title
    assert " ".join(plot.header.shown_lines) == LINE
    tall = plot.header.preferredHeight()
    plot.resize(390, 230)
    assert plot.header.beside_title
    assert " ".join((plot.header.beside_title, *plot.header.shown_lines)) == LINE
    assert plot.header.preferredHeight() == tall - theme.scaled(16)


@pytest.mark.usefixtures("qapp")
def test_the_lines_of_a_low_picture_go_on_without_a_break_between_them():
    header, lines = HeaderItem(), ("206 rows (filled), 69 rows (hollow)", "held: island Biscoe, year 2008")
    header.resize(240, 100)
    header.say("Decision tree 1", *lines)
    assert header.shown_lines == lines
    header.save_room(250)
    assert header.beside_title == "206 rows (filled), 69 rows"
    assert " ".join((header.beside_title, *header.shown_lines)) == "; ".join(lines)
    assert header.shown_lines[0].startswith("(hollow); held: island")


@pytest.mark.usefixtures("qapp")
def test_a_title_as_wide_as_the_picture_has_its_words_below():
    header = HeaderItem()
    header.resize(120, 60)
    header.save_room(250)
    header.say("Decision tree 1 over a long name", "206 rows")
    assert header.beside_title == ""
    assert header.shown_lines == ("206 rows",)
    metrics = QFontMetricsF(theme.font(11))
    assert split_to_fit("one two", metrics, metrics.horizontalAdvance("one tw")) == ("one", "two")


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(("height", "n_lines"), [(250, 3), (140, 1), (90, 0)])
def test_the_lower_a_picture_the_fewer_words_stand_over_it(height, n_lines):
    header = HeaderItem()
    header.resize(200, 60)
    header.save_room(height)
    header.say("Random forest 1", *(f"{LINE} {k}" for k in range(4)))
    assert len(header.shown_lines) == n_lines
    assert header.preferredHeight() <= header.SHARE * height + theme.scaled(4) or n_lines == 0
    assert n_lines or header.beside_title.endswith("…")
    assert LINE in header.toolTip()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("n", [3, 16, 300])
def test_a_legend_takes_no_more_than_its_rows(n):
    legend = LegendItem()
    names = [f"soil class number {k} by the older definition" for k in range(n)]
    legend.resize(360, 400)
    legend.allow_height(theme.scaled(18) * 3)
    legend.show_entries((name, QColor("red")) for name in names)
    texts = legend.shown_texts()
    assert legend.preferredHeight() <= theme.scaled(18) * 3 + 2
    assert len(set(texts)) == len(texts), "what all names begin with would hide which is which"
    if n == 300:
        assert texts[-1] == f"+ {n - len(texts) + 1}"
    assert all(name in legend.toolTip() for name in names)


@pytest.mark.usefixtures("qapp")
def test_short_names_stand_whole_one_after_the_other():
    legend = LegendItem()
    legend.resize(360, 400)
    legend.allow_height(theme.scaled(18))
    legend.show_entries((name, QColor("red")) for name in ("Adelie", "Chinstrap", "Gentoo"))
    assert legend.shown_texts() == ["Adelie", "Chinstrap", "Gentoo"]
    assert legend.preferredHeight() == theme.scaled(18) + 2


@pytest.mark.parametrize(
    ("names", "start"),
    [
        (["soil class 1", "soil class 12"], "soil class "),
        (["soil 1", "soil 2"], "soil "),
        (["Adelie", "Gentoo"], ""),
        (["soil 1"], ""),
        (["one two", "one two three"], "one "),
    ],
)
def test_the_words_that_all_names_begin_with(names, start):
    assert common_start(names) == start


@pytest.mark.parametrize(("n", "in_sight"), [(3, 3), (20, 8)])
def test_the_levels_of_a_split_to_force_are_as_high_as_they_need(qtbot, n, in_sight):
    names = tuple(f"level {k}" for k in range(n))
    choice = Choice("island", names)
    dialog = SplitDialog(None, Choices((choice,), 0, 10), lambda *_: None, lambda: None)
    qtbot.addWidget(dialog)
    dialog.show()
    levels = dialog.findChild(QListWidget, "split.levels")
    assert levels.visualItemRect(levels.item(0)).height() == theme.scaled(theme.CONTROL_HEIGHT)
    row_px = theme.scaled(theme.CONTROL_HEIGHT)
    assert in_sight * row_px <= levels.viewport().height() < in_sight * row_px + 4  # a frame


def test_the_name_of_an_axis_stays_in_the_middle_when_it_is_renamed(qtbot):
    plot = HistogramPlot("any")
    qtbot.addWidget(plot)
    plot.resize(600, 300)
    plot.show()
    for name in ("x", "the mean of a column with a long name", "y"):
        axis = plot.plot.getAxis("bottom")
        axis.set_name(name)
        middle = axis.label.pos().x() + axis.label.boundingRect().width() / 2
        assert middle == pytest.approx(axis.size().width() / 2, abs=1)


def test_a_long_word_is_broken_and_makes_no_window_wide(qtbot):
    label = Label("", "danger", wrap=True)
    qtbot.addWidget(label)
    told = f"the table has no column {'x' * 300!r} any more; choose another"
    label.setText(told)
    assert label.text() == told
    assert label.minimumSizeHint().width() < 300
    label.resize(300, 20)
    assert label.heightForWidth(300) > 5 * label.fontMetrics().height()


@pytest.mark.parametrize("values", [[np.nan, 1.0, np.inf, 3.0], [1.0, 3.0, 1.7e308], [np.inf, np.nan]])
def test_a_curve_with_infinite_errors_is_drawn_as_far_as_there_are_numbers(qtbot, values):
    plot = HistogramPlot("any")
    qtbot.addWidget(plot)
    make_room(plot.plot, np.array(values), 0.0, 4.0, [])
    low, high = plot.plot.vb.viewRange()[1]
    assert (low, high) == pytest.approx((0.9, 3.1) if 1.0 in values else (-0.05, 1.05))
