"""How uncertain models are, on the surface: chosen by mouse or keys, in one scale, exported, kept."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from tests.ui.person import CTRL, LEFT, SHIFT, Person
from tests.ui.training_help import train
from workbench.figures.surface import CurveFigure
from workbench.figures.uncertainty import ALEATORIC, EPISTEMIC, LAYERS, NAMES, PREDICTION, TOTAL
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.ui.forms.surface_layer import ALONG_ONE, NO_PICTURE
from workbench.ui.plots.curve import CurvePlot

TARGETS = ["species", "body_mass_g"]
QUICK = {"n_estimators": 2, "max_epochs": 3}


def panel_of(session):
    return session.window.findChild(QWidget, "panel.surface")


def menu_of(session):
    menus = panel_of(session).findChildren(QMenu, "surface.layer_menu")
    return next((menu for menu in menus if menu.isVisible()), None)


def opened(qtbot, session, target):
    session.document.open_table(load_sample("penguins"))
    session.document.set_target(target)
    forest = train(qtbot, session, "forest", n_estimators=5, min_samples_leaf=3)
    session.window.centre.arrange_as_tabs()
    session.window.centre.show_view("surface")
    wait(qtbot, session)
    return forest


def wait(qtbot, session):
    qtbot.waitUntil(lambda: panel_of(session).figure is not None and session.lanes.are_quiet, timeout=60_000)
    return panel_of(session).figure


@pytest.mark.parametrize("target", TARGETS)
def test_a_layer_is_chosen_with_the_mouse_and_kept_in_the_project(qtbot, session, tmp_path, target):
    opened(qtbot, session, target)
    panel, n_steps = panel_of(session), session.document.undo_stack.count()
    before = panel.figure
    QTest.mouseClick(panel._layer.button, LEFT)
    menu = menu_of(session)
    assert [action.text() for action in menu.actions()] == [NAMES[layer] for layer in LAYERS]
    assert [action.isChecked() for action in menu.actions()] == [True, False, False, False]
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(menu.actions()[3]).center())
    qtbot.waitUntil(lambda: panel.figure.layer == EPISTEMIC, timeout=60_000)
    figure = panel.figure
    np.testing.assert_array_equal(panel.plot.image.image, figure.spread.epistemic)
    assert tuple(panel.plot.image.levels) == figure.range
    assert panel.plot.bar.isVisible()
    assert panel.plot.bar.axis.name == figure.quantity
    assert [name for name, _ in panel.plot.legend_.entries] == list(figure.classes)
    assert not panel.plot.borders.isVisible()
    assert not panel.plot.far.image[..., 3].any()  # it is to be read where no rows are, too
    middle = [(axis.edges[1] + axis.edges[2]) / 2 for axis in (figure.x, figure.y)]
    point = panel.plot.plot.vb.mapViewToScene(QPointF(*middle))
    panel.plot._on_mouse_moved(point)
    assert "disagreement" in panel.plot._hover.toPlainText()
    save_project(session.document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    assert load_project(tmp_path / "a.treewright").view_state["surface_layer"] == EPISTEMIC
    panel._layer.choose(PREDICTION)
    wait(qtbot, session)
    np.testing.assert_array_equal(panel.figure.answer, before.answer)
    assert panel.figure.title == before.title
    assert panel.plot.bar.isVisible() == (target == "body_mass_g")
    assert session.document.undo_stack.count() == n_steps  # looking changes nothing


def test_keys_choose_a_layer_and_first_trees_show_what_they_predict(qtbot, session):
    opened(qtbot, session, "species")
    panel = panel_of(session)
    Person(qtbot, session.window).press(Qt.Key.Key_U, CTRL | SHIFT)
    qtbot.waitUntil(lambda: menu_of(session) is not None)
    for _ in range(2):
        QTest.keyClick(menu_of(session), Qt.Key.Key_Down)
    QTest.keyClick(menu_of(session), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.figure.layer == TOTAL, timeout=60_000)
    result = session.document.current_run.result
    session.window.context.selection.look_at_rounds(result, 2)
    qtbot.waitUntil(lambda: panel.figure.layer == PREDICTION and session.lanes.are_quiet, timeout=60_000)
    assert not panel.plot.bar.isVisible()
    assert panel.plot.image.image.shape[-1] == 3  # classes' colours
    session.window.context.selection.look_at_rounds(result, result.n_rounds)
    qtbot.waitUntil(lambda: panel.figure.layer == TOTAL, timeout=60_000)
    assert panel.plot.bar.isVisible()


@pytest.mark.parametrize("target", TARGETS)
def test_models_beside_each_other_have_one_scale_of_uncertainty(qtbot, session, target):
    document = session.document
    forest = opened(qtbot, session, target)
    networks = train(qtbot, session, "networks", **QUICK)
    tree = train(qtbot, session, "tree")
    panel = panel_of(session)
    document.select_run(forest)
    wait(qtbot, session)
    panel._layer.choose(ALEATORIC)
    panel.beside.choose(networks)
    panel.beside.choose(tree)
    qtbot.waitUntil(lambda: len(panel.beside.shown) == 2 and session.lanes.are_quiet, timeout=60_000)
    mine, (of_networks, of_tree) = panel.plot, panel.beside.shown
    assert [plot.figure.layer for plot in (mine, of_networks)] == [ALEATORIC] * 2
    assert tuple(mine.image.levels) == tuple(of_networks.image.levels)
    assert mine.image.levels[1] == max(plot.figure.range[1] for plot in (mine, of_networks))
    assert of_tree.figure.layer == PREDICTION  # it has no other
    document.select_run(tree)  # what stands beside it can still be chosen
    qtbot.waitUntil(
        lambda: panel.figure.title == document.run(tree).name and session.lanes.are_quiet, timeout=60_000
    )
    assert panel._layer.button.isVisible()
    panel.beside.choose(None)
    wait(qtbot, session)
    action = session.window.actions_["action.surface.layer"]
    assert not action.isEnabled()
    assert "Only forests, bags of trees and deep ensembles" in action.toolTip()
    assert not panel._layer.button.isVisible()


@pytest.mark.parametrize("target", TARGETS)
def test_along_one_column_a_band_is_drawn_and_named(qtbot, session, target, dialogs, tmp_path):
    opened(qtbot, session, target)
    panel = panel_of(session)
    panel._choose("flipper_length_mm", None)
    qtbot.waitUntil(lambda: isinstance(panel.figure, CurveFigure), timeout=60_000)
    assert isinstance(panel.picture(), CurvePlot)
    names = [name for name, _ in panel.curve.legend_.entries]
    assert "± 1 standard deviation" in names
    assert len(panel.curve.bands) == (3 if target == "species" else 2)
    assert ALONG_ONE in session.window.actions_["action.surface.layer"].toolTip()
    assert "disagreement" in panel.figure.text_at(200.0)
    for ending in ("svg", "png", "pdf"):
        dialogs.answers.append(tmp_path / f"curve.{ending}")
        session.window.context.actions["action.figure.export"].trigger()
        assert session.document.messages[-1] == f"Picture saved as curve.{ending}"
    assert "± 1 standard deviation" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    train(qtbot, session, "tree")
    qtbot.waitUntil(lambda: panel.figure is not None and panel.figure.band is None, timeout=60_000)
    assert panel.curve.bands == []


def test_the_band_is_live_while_networks_train(qtbot, session):
    document, endless = session.document, {"max_epochs": 100_000, "early_stopping": False}
    document.open_table(load_sample("penguins"))
    document.set_target("body_mass_g")
    document.set_view_state("surface_columns", ["flipper_length_mm", None])
    run_id = document.add_run("networks")
    document.select_run(run_id)
    for name, value in endless.items():
        document.set_parameter(run_id, name, value)
    assert session.trainer.train(run_id), document.messages
    panel = panel_of(session)
    qtbot.waitUntil(
        lambda: panel.figure is not None and "still training" in panel.figure.title, timeout=60_000
    )
    assert panel.figure.band.outer_text == "90 % interval"
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.trainer.stop(run_id)
    qtbot.waitUntil(lambda: "still training" not in panel.figure.title, timeout=60_000)
    assert panel.figure.band.outer_text == "90 % interval"


def test_a_csv_holds_the_layers_of_the_picture(qtbot, session, dialogs, tmp_path):
    session.document.open_table(load_sample("penguins"))
    session.window.centre.show_view("surface")
    action = session.window.context.actions["action.surface.csv"]
    action.trigger()
    assert session.document.messages[-1] == "There is no surface to export yet: train a model first"
    assert NO_PICTURE in session.window.actions_["action.surface.layer"].toolTip()
    opened(qtbot, session, "body_mass_g")
    panel_of(session)._layer.choose(TOTAL)
    figure = wait(qtbot, session)
    dialogs.answers.append(tmp_path / "all.csv")
    action.trigger()
    qtbot.waitUntil(lambda: session.document.messages[-1] == "Surface saved as all.csv", timeout=60_000)
    with open(tmp_path / "all.csv", encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert head[3] == "standard deviation"
    assert [float(line[3]) for line in lines] == figure.spread.total.ravel().tolist()
    dialogs.answers.append(tmp_path / "nowhere" / "all.csv")
    action.trigger()
    qtbot.waitUntil(lambda: "all.csv cannot be written" in session.document.messages[-1], timeout=60_000)
