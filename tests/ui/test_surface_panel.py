"""The Surface view equals the scored model at every point; case C33 on the picture itself."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from tests.ui.training_help import train
from tests.workbench.test_figures_surface import c33_figure
from workbench.datasets import make_table
from workbench.figures.axis import category_axis
from workbench.figures.surface import CurveFigure, SurfaceFigure
from workbench.fitting import inputs_of_result
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.plots.base import LiteralAxis
from workbench.ui.plots.surface import SurfacePlot, point_size, show_axis, widths_of
from workbench.ui.states import BusyBar


def panel_of(session):
    return session.window.findChild(QWidget, "panel.surface")


def wait_for_figure(qtbot, session, x_name, y_name=None):
    panel = panel_of(session)

    def is_there():
        figure = panel.figure
        if y_name is None:
            return isinstance(figure, CurveFigure) and figure.x.name == x_name
        is_surface = isinstance(figure, SurfaceFigure)
        return is_surface and (figure.x.name, figure.y.name) == (x_name, y_name)

    qtbot.waitUntil(is_there, timeout=60_000)
    return panel.figure


def choose(panel, name, text):
    combo = panel.findChild(QComboBox, name)
    combo.setCurrentText(text)
    combo.activated.emit(combo.currentIndex())


def test_c33_pixels_stand_where_the_axes_say(qtbot):
    plot = SurfacePlot()
    qtbot.addWidget(plot)
    plot.resize(700, 500)
    plot.show()
    plot.set_figure(c33_figure())
    picture = plot.grab().toImage()
    ground = theme.tokens().colour("surface")

    def colour_at(x, y):
        place = plot.mapFromScene(plot.plot.vb.mapViewToScene(QPointF(x, y)))
        return picture.pixelColor(place)

    for x, y, label in ((8, 0.05, 1), (8, 0.95, 1), (6, 0.05, 0), (6, 0.95, 0)):
        assert colour_at(x, y) == theme.mix(theme.class_colour(label), ground, 0.5)
    up, down = (plot.plot.vb.mapViewToScene(QPointF(5, y)).y() for y in (0.9, 0.1))
    assert up < down
    for x, y in np.random.default_rng(0).uniform((0, 0), (10, 1), (300, 2)):  # at any point
        plot._on_mouse_moved(plot.plot.vb.mapViewToScene(QPointF(x, y)))
        assert plot._hover.isVisible()
        winner = plot._hover.toPlainText().splitlines()[2]
        assert winner == f"{'b' if x > 7 else 'a'} 100.0 %"
    plot._on_mouse_moved(plot.plot.vb.mapViewToScene(QPointF(10.5, 0.5)))
    assert not plot._hover.isVisible()


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting", "adaboost"])
@pytest.mark.parametrize(("x_name", "y_name"), [("bill_length_mm", "island"), ("flipper_length_mm", "sex")])
def test_1000_random_points_equal_predict_proba(qtbot, session, kind, x_name, y_name):
    import pandas as pd

    document = session.document
    document.open_table(load_sample("penguins"))
    train(qtbot, session, kind, **({} if kind == "tree" else {"n_estimators": 10}))
    panel = panel_of(session)
    document.set_view_state("surface_columns", [x_name, y_name])
    panel._refresh()
    figure = wait_for_figure(qtbot, session, x_name, y_name)
    result = document.current_run.result
    rng = np.random.default_rng(0)
    rows = rng.integers(len(figure.y.values), size=1000)
    columns = rng.integers(len(figure.x.values), size=1000)
    encoded = np.tile(figure.held_encoded, (1000, 1))
    encoded[:, figure.x.feature] = figure.x.values[columns]
    encoded[:, figure.y.feature] = figure.y.values[rows]
    if y_name == "sex":
        assert np.isnan(encoded[:, figure.y.feature]).any()  # missing is a place on the axis
    frame = {}
    for k, spec in enumerate(result.feature_specs):
        column = encoded[:, k]
        if spec.levels is None:
            frame[spec.name] = column
        else:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            frame[spec.name] = pd.Categorical.from_codes(codes, categories=list(spec.levels))
    expected = result.estimator.predict_proba(pd.DataFrame(frame))
    np.testing.assert_allclose(figure.answer[:, rows, columns].T, expected, atol=1e-9)
    stated = {held.name: held.text for held in figure.held}
    assert set(stated) == set(result.features) - {x_name, y_name}
    assert all(f"{name} {text}" in figure.held_text for name, text in stated.items())


def test_it_opens_on_the_two_columns_with_the_largest_gain(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    result = session.document.current_run.result
    first, second = np.argsort(-result.importances, kind="stable")[:2]
    figure = wait_for_figure(qtbot, session, result.features[first], result.features[second])
    plot = panel_of(session).plot
    assert [name for name, _ in plot.legend_.entries] == list(result.classes)
    assert figure.held_text in plot.header.texts
    assert set(figure.points.parts.tolist()) == {0, 1}  # test rows stay unseen
    for combo in (
        panel_of(session)._columns.x,
        panel_of(session)._columns.y,
    ):  # the view is a third of the window
        assert combo.y() == panel_of(session)._hold.y()  # low: one line for both columns
        name = QFontMetricsF(combo.font()).horizontalAdvance(combo.currentText())
        assert combo.width() > name + 30, combo.objectName()


def test_columns_are_chosen_by_hand_and_the_axes_swap(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = panel_of(session)
    names = session.document.current_run.result.features
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    x_name, y_name = panel.figure.x.name, panel.figure.y.name
    panel.findChild(QToolButton, "surface.swap").click()
    wait_for_figure(qtbot, session, y_name, x_name)
    other = next(name for name in names if name not in (x_name, y_name))
    choose(panel, "surface.y_column", other)
    wait_for_figure(qtbot, session, y_name, other)
    assert session.document.view_state["surface_columns"] == [y_name, other]


def test_one_column_shows_data_prediction_and_residuals(qtbot, session):
    import pandas as pd

    x = np.linspace(0, 9, 60)
    session.document.open_table(make_table("line", {"x": x, "y": np.cos(x) + 0.01 * x}))
    session.document.set_target("y")
    train(qtbot, session, "tree")
    figure = wait_for_figure(qtbot, session, "x")
    result = session.document.current_run.result
    predicted = result.estimator.predict(pd.DataFrame({"x": figure.points.x}))
    np.testing.assert_allclose(figure.residuals, figure.points.y - predicted, atol=1e-12)
    np.testing.assert_allclose(
        figure.answer[0], result.estimator.predict(pd.DataFrame({"x": figure.x.values})), atol=1e-12
    )
    plot = panel_of(session).curve
    assert plot.residual_plot.isVisible()
    assert len(plot.curves) == 2


def test_arrow_keys_step_over_the_other_axis(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = panel_of(session)
    names = list(session.document.current_run.result.features)
    session.document.set_view_state("surface_columns", [names[0], names[1]])
    panel._refresh()
    wait_for_figure(qtbot, session, names[0], names[1])
    qtbot.keyClick(panel.findChild(QComboBox, "surface.x_column"), Qt.Key.Key_Down)
    wait_for_figure(qtbot, session, names[2], names[1])
    assert panel.findChild(QComboBox, "surface.y_column").currentText() == names[1]
    qtbot.keyClick(panel.findChild(QComboBox, "surface.x_column"), Qt.Key.Key_Up)
    wait_for_figure(qtbot, session, names[0], names[1])
    qtbot.keyClick(panel.findChild(QComboBox, "surface.x_column"), Qt.Key.Key_Up)  # the first stays
    choose(panel, "surface.x_column", names[1])  # from the list: the axes change places
    wait_for_figure(qtbot, session, names[1], names[0])


def test_held_values_are_changed_by_hand_and_the_surface_follows(qtbot, session):
    import pandas as pd

    document = session.document
    document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree", max_depth=6)
    panel = panel_of(session)
    document.set_view_state("surface_columns", ["flipper_length_mm", "bill_depth_mm"])
    panel._refresh()
    before = wait_for_figure(qtbot, session, "flipper_length_mm", "bill_depth_mm")
    panel.findChild(QToolButton, "surface.hold").click()
    length = panel.findChild(QLineEdit, "surface.held.bill_length_mm")
    assert length.visibleRegion().boundingRect() == length.rect()  # no field is cut by its list's edge
    form = panel.findChild(QWidget, "surface.held_form")
    texts = [label for label in form.findChildren(QLabel) if label.isVisible()]
    assert {label.mapTo(form, label.contentsRect().topLeft()).x() for label in texts} == {
        theme.PANEL_PADDING + 1
    }  # its frame
    assert length.mapTo(form, length.rect().bottomRight()).x() == form.width() - theme.PANEL_PADDING - 2
    length.setFocus()
    length.selectAll()
    qtbot.keyClicks(length, "38.5")
    qtbot.keyClick(length, Qt.Key.Key_Return)
    choose(panel, "surface.held.island", "Dream")
    qtbot.waitUntil(lambda: "bill_length_mm 38.5" in panel.figure.held_text, timeout=60_000)
    qtbot.waitUntil(lambda: "island Dream" in panel.figure.held_text, timeout=60_000)
    figure, result = panel.figure, document.current_run.result
    assert (figure.answer != before.answer).any()
    held = {h.name: h.encoded for h in figure.held}
    frame = {"flipper_length_mm": [figure.x.values[100]], "bill_depth_mm": [figure.y.values[40]]}
    for spec in result.feature_specs:
        if spec.name not in frame:
            value = held[spec.name] if spec.levels is None else spec.levels[int(held[spec.name])]
            frame[spec.name] = [value] if spec.levels is None else pd.Categorical([value], list(spec.levels))
    assert frame["bill_length_mm"] == [38.5]
    np.testing.assert_allclose(
        figure.answer[:, 40, 100],
        result.estimator.predict_proba(pd.DataFrame(frame)[list(result.features)])[0],
        atol=1e-12,
    )
    assert document.view_state["surface_held"] == {"bill_length_mm": 38.5, "island": "Dream"}
    panel.findChild(QPushButton, "surface.held_typical").click()
    qtbot.waitUntil(lambda: panel.figure.held_text == before.held_text, timeout=60_000)
    assert length.text() == f"{next(h.encoded for h in before.held if h.name == 'bill_length_mm'):.12g}"


def test_a_held_value_that_is_no_number_is_refused_in_words(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = panel_of(session)
    session.document.set_view_state("surface_columns", ["flipper_length_mm", "bill_depth_mm"])
    panel._refresh()
    before = wait_for_figure(qtbot, session, "flipper_length_mm", "bill_depth_mm")
    panel.findChild(QToolButton, "surface.hold").click()
    length = panel.findChild(QLineEdit, "surface.held.bill_length_mm")
    length.setText("long")
    qtbot.keyClick(length, Qt.Key.Key_Return)
    problem = panel.findChild(QLabel, "surface.held_problem")
    assert problem.text() == "bill_length_mm: 'long' is no number. Enter one, or leave it empty for missing."
    assert "surface_held" not in session.document.view_state
    assert panel.figure is before


def test_while_a_surface_is_made_the_old_one_stands_at_60_per_cent(qtbot):
    picture = QLabel()
    bar = BusyBar(dims=picture)
    for widget in (picture, bar):
        qtbot.addWidget(widget)
        widget.resize(100, 60)
    picture.show()
    picture.setStyleSheet("background: #000000")
    bar.begin()
    qtbot.waitUntil(lambda: not bar.isHidden(), timeout=5_000)
    shown = picture.grab().toImage().pixelColor(50, 30)
    ground = theme.tokens().colour("surface")
    assert shown.red() == pytest.approx(0.4 * ground.red(), abs=1.5)
    bar.end()
    assert picture.grab().toImage().pixelColor(50, 30).red() == 0


@pytest.mark.parametrize(
    ("low", "high", "size", "expected"),
    [
        (170, 234, 130, 20),
        (170, 234, 400, 10),
        (0, 1.05, 300, 0.2),
        (0, 9, 60, 5),
        (-0.3, 0.3, 200, 0.1),
        (0, 1000, 140, 200),
    ],
)
def test_axes_have_four_ticks_or_as_many_as_have_room(qtbot, low, high, size, expected):
    assert LiteralAxis("left").tickSpacing(low, high, size)[0][0] == pytest.approx(expected)


def test_names_of_many_categories_do_not_touch(qtbot):
    plot = SurfacePlot()
    qtbot.addWidget(plot)
    plot.resize(700, 300)
    plot.show()
    levels = [f"level number {k}" for k in range(40)]
    show_axis(plot.plot.getAxis("bottom"), category_axis("a", 0, levels, False))
    show_axis(plot.plot.getAxis("left"), category_axis("b", 1, levels, False))
    for width in (700, 300):
        plot.resize(width, 300)
        plot.grab()
        axis, wide = plot.plot.getAxis("bottom"), QFontMetricsF(theme.font(11))
        shown = axis._tickLevels[0]
        assert sum(wide.horizontalAdvance(name) for _, name in shown) < axis.geometry().width()
        assert len(shown) >= width // 200
    assert 6 <= len(plot.plot.getAxis("left")._tickLevels[0]) <= 12


def test_the_line_of_held_values_is_written_whole_on_two_lines(qtbot):
    plot = SurfacePlot()
    qtbot.addWidget(plot)
    plot.resize(380, 300)
    plot.show()
    figure = c33_figure()
    text = "held: island Biscoe, bill_depth_mm 17.55, body_mass_g 4050, sex male, year 2008"
    plot.set_figure(replace(figure, held_text=text))
    assert len(plot.header.shown_lines) == 2
    assert " ".join(plot.header.shown_lines) == text
    width = QFontMetricsF(theme.font(11)).horizontalAdvance
    assert max(map(width, plot.header.shown_lines)) <= plot.header.rect().width()


def drawn(qtbot, figure):
    plot = SurfacePlot()
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    assert not plot.ci.isVisible()  # no axes of a range that nothing has
    plot.set_figure(figure)
    qtbot.waitUntil(lambda: plot.ci.layout.isActivated() and plot.plot.layout.isActivated())
    return plot


def test_the_bar_of_values_is_as_high_as_its_picture_and_names_the_quantity(qtbot):
    numbers = drawn(
        qtbot, replace(c33_figure(), classes=(), answer=np.linspace(-5, 5, 10_000).reshape(1, 50, 200))
    )
    picture, bar = numbers.plot.vb.sceneBoundingRect(), numbers.bar.sceneBoundingRect()
    assert (bar.top(), bar.bottom()) == pytest.approx((picture.top(), picture.bottom()), abs=1)
    assert picture.right() < bar.left() + 1 < numbers.bar.axis.sceneBoundingRect().left() + 1
    assert numbers.bar.axis.labelText == "y"
    top, low = (numbers.mapFromScene(QPointF(bar.right() - 4, y)) for y in (bar.top() + 3, bar.bottom() - 3))
    shown = numbers.grab().toImage()
    lightness = [shown.pixelColor(place).lightness() for place in (top, low)]
    assert lightness[0] > lightness[1] + 60, "large values are the light ones, above"
    classes = drawn(qtbot, c33_figure())
    assert not classes.bar.isVisible()
    assert classes.plot.vb.width() > numbers.plot.vb.width() + 40


def test_what_is_far_from_rows_is_hatched_and_named_and_nothing_else(qtbot):
    figure = c33_figure()
    figure.is_empty[:, :120] = True
    plot = drawn(qtbot, figure)
    x, y = plot.hatch.getData()
    assert len(x) > 40
    assert x.min() >= 0
    assert x.max() == pytest.approx(6.0, abs=0.05)
    assert (y.min(), y.max()) == pytest.approx((0, 1), abs=0.02)
    words = plot.no_rows.sceneBoundingRect()
    edge = plot.plot.vb.mapViewToScene(QPointF(6, 0)).x()
    assert plot.no_rows.isVisible()
    assert words.right() <= edge
    figure.is_empty[:, 5:] = False  # a seam, hatched but too narrow for words
    plot.draw()
    assert plot.hatch.getData()[0].max() == pytest.approx(0.25, abs=0.05)
    assert not plot.no_rows.isVisible()


def test_many_points_get_smaller_so_that_the_surface_is_seen():
    assert point_size(0) == point_size(1000) == 7
    assert point_size(4000) == 3.5  # half the width: the same area in all
    assert point_size(10**6) == 3


def test_the_selected_nodes_region_is_outlined(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.ensure_centre()
    panel, selection = panel_of(session), session.window.context.selection
    wait_for_figure(qtbot, session, *panel._wanted_columns(session.document.current_run.result))
    figure, tree = panel.figure, session.document.current_run.result.trees[0]
    assert not panel.plot.node_box.isVisible()
    selection.select_node((0,))
    x, _y = panel.plot.node_box.getData()
    assert panel.plot.node_box.isVisible()
    ink = panel.plot.node_box.opts["pen"].color()
    assert ink == theme.tokens().colour("text"), "a selection is a dark outline: colour means data"
    assert figure.x.feature == tree.feature[0], "the first question's column is across"
    inside = figure.x.edges[np.flatnonzero(figure.x.values <= tree.threshold[0])[-1] + 1]
    assert (x.min(), x.max()) == (figure.x.edges[0], inside)
    selection.select_node(())
    assert not panel.plot.node_box.isVisible()


def test_points_are_as_large_as_adaboost_weighs_their_rows(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_view_state("surface_columns", ["bill_length_mm", "bill_depth_mm"])
    train(qtbot, session, "adaboost", n_estimators=6)
    figure = wait_for_figure(qtbot, session, "bill_length_mm", "bill_depth_mm")
    points = figure.points
    is_training = points.parts == 0
    np.testing.assert_array_equal(np.isfinite(points.weights), is_training)
    assert points.weights[is_training].mean() == pytest.approx(1.0)
    assert "as large as they weigh after round 6" in figure.subtitle
    widths = widths_of(7, points.weights, len(points.x))
    heaviest = np.nanargmax(points.weights)
    assert (
        widths[heaviest]
        == widths.max()
        == pytest.approx(7 * min(points.weights[heaviest] ** 0.5, 3), abs=0.25)
    )
    assert set(widths[~is_training]) == {7.0}
    drawn = [item.data["size"] for item in panel_of(session).plot._points]
    assert max(sizes.max() for sizes in drawn if len(sizes)) >= widths.max()


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_points_follow_the_slider_over_adaboost_s_rounds(qtbot, session, target):
    document, selection = session.document, session.window.context.selection
    document.open_table(load_sample("penguins"))
    document.set_target(target)
    document.set_view_state("surface_columns", ["bill_length_mm", "bill_depth_mm"])
    train(qtbot, session, "adaboost", n_estimators=6)
    wait_for_figure(qtbot, session, "bill_length_mm", "bill_depth_mm")
    result, panel = document.current_run.result, panel_of(session)
    inputs = inputs_of_result(result, document.table)
    rows = inputs.rows_of("train")
    training = inputs.learnable().take(rows)
    for n_rounds in (2, 5, 1):
        selection.look_at_rounds(result, n_rounds)
        told = f"as large as they weigh after round {n_rounds}"
        qtbot.waitUntil(lambda told=told: told in panel.figure.subtitle, timeout=60_000)
        expected = np.full(document.table.n_rows, np.nan)
        shares = result.estimator.row_weights(training.X, training.labels, training.weights, n_rounds)
        expected[rows] = shares * len(rows)
        points = panel.figure.points
        np.testing.assert_array_equal(points.weights, expected[points.rows])
        widths = widths_of(7, points.weights, len(points.x))[np.isfinite(points.x + points.y)]
        drawn = [item.data["size"] for item in panel.plot._points]
        assert max(sizes.max() for sizes in drawn if len(sizes)) >= widths.max()


def test_widths_of_points_are_alike_without_weights():
    assert widths_of(7, None, 3).tolist() == [7.0, 7.0, 7.0]
    assert widths_of(7, np.array([1.0, 4.0, 100.0, 0.0, np.nan]), 5).tolist() == [7, 14, 21, 5, 7]
    assert widths_of(4, np.array([0.0]), 1).tolist() == [4]
