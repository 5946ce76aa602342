"""No label is cut off and no two widgets overlap, in every view and both sizes; themes change no measure."""

import re

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QTabBar, QToolButton, QWidget

from tests import screenshots
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.centre import VIEWS
from workbench.ui.inputs import ComboBox
from workbench.ui.stylesheet import style_sheet
from workbench.ui.widgets import ElidedLabel


def cut_off(window):
    """Visible labels and buttons that need more width than they have."""
    told = []
    for widget in window.findChildren(QWidget):
        if widget.visibleRegion().isEmpty():
            continue
        if not isinstance(widget, (QLabel, QAbstractButton)) or isinstance(widget, ElidedLabel):
            continue
        wraps = isinstance(widget, QLabel) and widget.wordWrap()
        if widget.text() and not wraps and widget.width() < widget.minimumSizeHint().width():
            told.append(f"{widget.objectName() or type(widget).__name__}: {widget.text()!r}")
    return told


def without_room_for_their_text(window):
    """Visible line edits, those in spin boxes too, that show less than the text in them."""
    told = []
    for edit in window.findChildren(QLineEdit):
        margins = edit.textMargins()
        room = edit.width() - margins.left() - margins.right()
        if not edit.visibleRegion().isEmpty() and room < edit.fontMetrics().horizontalAdvance(edit.text()):
            told.append(f"{edit.parent().objectName()}: {edit.text()!r}")
    return told


def overlapping(window):
    """Pairs of visible siblings in one layout whose rectangles share a point."""
    told = []
    for parent in window.findChildren(QWidget):
        layout = parent.layout()
        if layout is None or not parent.isVisible():
            continue
        found = [layout.itemAt(i).widget() for i in range(layout.count())]
        shown = [widget for widget in found if widget is not None and not widget.visibleRegion().isEmpty()]
        for i, first in enumerate(shown):
            for second in shown[i + 1 :]:
                if first.geometry().intersects(second.geometry()):
                    told.append(f"{parent.objectName()}: {first.objectName()} and {second.objectName()}")
    return told


def test_nothing_is_cut_off_and_nothing_overlaps(session):
    window, faults, sizes = session.window, {}, {}

    def look(*at):
        faults[at] = cut_off(window) + without_room_for_their_text(window) + overlapping(window)
        sizes[at] = window.size().toTuple()

    for at in screenshots.looks(session, ("light",)):
        look(*at)
    theme.set_appearance("dark")  # of the same measures, as the next test shows; but all fonts are set anew
    screenshots.settle(session)
    look(screenshots.VIEWS[-1], "dark", "small")
    expected = {
        (view, "light", size): measures
        for view in screenshots.VIEWS
        for size, measures in screenshots.SIZES.items()
    }
    expected[screenshots.VIEWS[-1], "dark", "small"] = screenshots.SIZES["small"]
    assert sizes == expected, "the window grew to fit its contents"
    assert faults == {at: [] for at in expected}


def test_both_themes_have_the_same_measures():
    def measures(tokens):
        sheet = style_sheet(tokens).replace("-dark.svg", ".svg").replace("-light.svg", ".svg")
        return re.sub("#[0-9A-F]{6}", "", sheet)

    assert measures(theme.LIGHT) == measures(theme.DARK)


def test_a_label_that_is_cut_off_is_found(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    label = QLabel("a rather long text", parent)
    label.resize(10, 20)
    parent.show()
    assert cut_off(parent) == ["QLabel: 'a rather long text'"]


def drawn(qtbot, width, text="", placeholder=""):
    combo = ComboBox()
    qtbot.addWidget(combo)
    combo.setPlaceholderText(placeholder)
    combo.addItem(text)
    combo.setCurrentIndex(0 if text else -1)
    combo.resize(width, 30)
    return combo.grab().toImage()


def test_a_combo_box_ends_a_name_too_long_for_it_in_dots(qtbot):
    assert drawn(qtbot, 200, "name a") != drawn(qtbot, 200, "name b")
    long = "a column's name that is long "
    assert drawn(qtbot, 100, long + "a") == drawn(qtbot, 100, long + "b")
    assert drawn(qtbot, 200, placeholder="Kind") != drawn(qtbot, 200)


@pytest.mark.parametrize("size", screenshots.SIZES.values(), ids=screenshots.SIZES.keys())
def test_a_view_asked_for_before_the_first_showing_stays_in_front(qtbot, session, size):
    session.window.resize(*size)
    session.window.show()
    centre = session.window.ensure_centre()
    centre.show_view("table")
    session.document.open_table(load_sample("penguins"))
    centre.show_view("table")
    qtbot.waitUntil(lambda: not centre._is_new and not centre._is_to_arrange)
    qtbot.waitUntil(lambda: not centre.docks["table"].visibleRegion().isEmpty())
    assert centre.docks["tree"].visibleRegion().isEmpty()


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_tabs_that_do_not_fit_are_reached_by_arrows_that_are_seen(qtbot, window, document, appearance):
    theme.set_appearance(appearance)
    theme.apply(QApplication.instance())
    window.resize(1024, 700)
    document.open_table(load_sample("penguins"))
    window.ensure_centre()
    window.toggle_settings()
    window.centre.show_view("trees")
    bar = next(bar for bar in window.centre.findChildren(QTabBar) if bar.count() == len(VIEWS))
    arrows = bar.findChildren(QToolButton)
    qtbot.waitUntil(lambda: all(arrow.isVisible() for arrow in arrows))
    for arrow in arrows:
        assert arrow.isEnabled()
        assert arrow.width() >= 24, "a target of the pointer"
        image, ink = arrow.grab().toImage(), theme.tokens().colour("text2")
        drawn = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
        assert ink.name() in drawn, "there is no arrow on it"


def test_all_tabs_are_in_sight_in_a_small_window(qtbot, window, document):
    window.resize(1024, 700)
    document.open_table(load_sample("penguins"))
    window.ensure_centre()
    window.centre.show_view("tree")
    bars = window.centre.findChildren
    qtbot.waitUntil(lambda: any(bar.count() == len(VIEWS) for bar in bars(QTabBar)))
    bar = next(bar for bar in bars(QTabBar) if bar.count() == len(VIEWS))
    qtbot.waitUntil(lambda: bar.tabRect(len(VIEWS) - 1).right() <= bar.width())
    assert not any(arrow.isVisible() for arrow in bar.findChildren(QToolButton))
    window.resize(1800, 1000)
    window.centre.arrange_as_tabs()
    qtbot.waitUntil(lambda: [bar.property("look") for bar in bars(QTabBar) if bar.count() > 1] == [""])
