"""The Surface view equals the scored model at every point; case C33 on the picture itself."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QComboBox, QWidget

from tests.ui.training_help import train
from tests.workbench.test_figures_surface import c33_figure
from workbench.datasets import make_table
from workbench.figures.surface import CurveFigure, SurfaceFigure
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.plots.surface import SurfacePlot


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
        assert plot.class_at(x, y) == label
    up, down = (plot.plot.vb.mapViewToScene(QPointF(5, y)).y() for y in (0.9, 0.1))
    assert up < down


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
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


def test_columns_are_chosen_by_hand_and_the_axes_swap(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = panel_of(session)
    names = session.document.current_run.result.features
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    x_name, y_name = panel.figure.x.name, panel.figure.y.name
    choose(panel, "surface.x_column", y_name)
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
