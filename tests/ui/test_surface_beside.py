"""Several models' surfaces side by side: same columns, same held values, same colours."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from engine.surface import model_surface
from tests.ui.person import CTRL, LEFT, SHIFT, Person
from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui.surface_beside import ALONG_ONE, FULL, NO_CANDIDATE, NO_OTHER


def panel_of(session):
    return session.window.findChild(QWidget, "panel.surface")


def menu_of(session):
    return next(
        (m for m in panel_of(session).findChildren(QMenu, "surface.beside_menu") if m.isVisible()), None
    )


@pytest.fixture(params=["species", "body_mass_g"])
def two(request, qtbot, session):
    """A tree and a forest; the forest is the current one and drawn."""
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target(request.param)
    tree = train(qtbot, session, "tree")
    forest = train(qtbot, session, "forest", n_estimators=5)
    session.window.centre.arrange_as_tabs()
    session.window.centre.show_view("surface")
    qtbot.waitUntil(lambda: panel_of(session).figure is not None, timeout=60_000)
    return tree, forest


def wait_for_other(qtbot, session, name):
    plot = panel_of(session).beside.plots[0]
    qtbot.waitUntil(lambda: plot.isVisible() and plot.figure.title == name, timeout=60_000)
    return plot


def test_nothing_is_offered_where_nothing_can_be_drawn_beside(qtbot, session):
    session.document.open_table(load_sample("rain_and_clouds"))
    train(qtbot, session, "tree")
    panel, action = panel_of(session), session.window.context.actions["action.surface.beside"]
    assert not action.isEnabled()
    assert NO_CANDIDATE in action.toolTip()
    train(qtbot, session, "linear")
    session.window.centre.show_view("surface")
    name = session.document.current_run.name  # until its own picture is there, that of the tree is seen
    qtbot.waitUntil(lambda: panel.figure is not None and panel.figure.title == name)
    assert panel._pictures.currentWidget() is panel.curve
    assert not action.isEnabled()  # a choice would change nothing that is seen
    assert ALONG_ONE in action.toolTip()


def test_along_one_column_others_are_lines_in_the_same_picture(qtbot, session):
    document = session.document
    document.open_table(load_sample("cosine"))
    line, tree = train(qtbot, session, "polynomial", degree=1), train(qtbot, session, "tree")
    session.window.centre.show_view("surface")
    panel = panel_of(session)
    curve = panel.curve
    qtbot.waitUntil(lambda: panel._pictures.currentWidget() is curve and panel.figure is not None)
    assert curve.others == []
    assert [name for name, _ in curve.legend_.entries] == ["rows", "prediction"]
    low, high = curve.plot.vb.viewRange()[1]
    panel.beside.choose(line)
    qtbot.waitUntil(lambda: len(curve.others) == 1, timeout=60_000)
    names = [document.run(run_id).name for run_id in (tree, line)]
    assert [name for name, _ in curve.legend_.entries] == ["rows", *names]
    other = curve.others[0]
    np.testing.assert_allclose(np.diff(other.answer[0], 2), 0, atol=1e-9)
    expected = document.run(line).result.estimator.encoded_answer(other.x.values[:, None])
    np.testing.assert_array_equal(other.answer[0], expected[:, 0])
    assert f"{names[1]}: " in curve.hover_text(QPointF(0.0, 0.0))
    assert not panel.beside.shown
    assert curve.plot.vb.viewRange()[1] == pytest.approx((low, high), abs=0.5)
    document.select_run(line)  # the wish stays, but a model is not beside itself
    qtbot.waitUntil(lambda: panel.figure.title == names[1] and curve.others == [])
    document.select_run(tree)
    qtbot.waitUntil(lambda: panel.figure.title == names[0] and len(curve.others) == 1)
    document.delete_run(line)
    qtbot.waitUntil(lambda: curve.others == [])


def test_a_line_far_away_leaves_the_picture_its_size(qtbot, session):
    document = session.document
    document.open_table(load_sample("few_points"))
    wild, tree = train(qtbot, session, "polynomial", degree=15), train(qtbot, session, "tree")
    session.window.centre.show_view("surface")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.picture() is panel.curve)
    low, high = panel.curve.plot.vb.viewRange()[1]
    document.set_view_state("surface_beside", [tree, wild])
    panel._follow_beside()
    qtbot.waitUntil(lambda: len(panel.curve.others) == 1, timeout=60_000)
    assert np.abs(panel.curve.others[0].answer).max() > 20
    now = panel.curve.plot.vb.viewRange()[1]
    assert now[1] - now[0] < 2.5 * (high - low)


def test_two_columns_after_one_are_compared_again(qtbot, session):
    document = session.document
    document.open_table(load_sample("rain_and_clouds"))
    train(qtbot, session, "tree")
    train(qtbot, session, "linear")
    session.window.centre.show_view("surface")
    action = session.window.context.actions["action.surface.beside"]
    qtbot.waitUntil(lambda: not action.isEnabled())
    document.open_table(load_sample("darts"))
    train(qtbot, session, "tree")
    train(qtbot, session, "linear")
    qtbot.waitUntil(action.isEnabled)


def compare(session, run_id):
    """The other picture is of the other model, over the first one's axes and held values."""
    panel = panel_of(session)
    mine, other = panel.figure, panel.beside.plots[0].figure
    assert (other.x.name, other.y.name) == (mine.x.name, mine.y.name)
    np.testing.assert_array_equal(other.x.values, mine.x.values)
    free = {mine.x.feature, mine.y.feature}
    held = [k for k in range(len(mine.held_encoded)) if k not in free]
    np.testing.assert_array_equal(other.held_encoded[held], mine.held_encoded[held])
    expected = model_surface(
        session.document.run(run_id).result.estimator,
        mine.x.feature, mine.y.feature, mine.x.values, mine.y.values, mine.held_encoded,
    )  # fmt: skip
    np.testing.assert_allclose(other.answer, expected, rtol=0, atol=1e-9)
    if mine.classes:
        assert panel.beside.plots[0].legend_.entries == panel.plot.legend_.entries
    else:
        both = np.concatenate([mine.answer.ravel(), other.answer.ravel()])
        for plot in (panel.plot, panel.beside.plots[0]):
            low, high = plot.image.levels
            assert low <= both.min()
            assert high >= both.max()
        assert tuple(panel.plot.image.levels) == tuple(panel.beside.plots[0].image.levels)


def test_a_model_is_chosen_with_the_mouse_and_left_again(qtbot, session, two):
    tree, _forest = two
    panel, n_steps = panel_of(session), session.document.undo_stack.count()
    before = panel.plot.image.levels
    QTest.mouseClick(panel.findChild(QToolButton, "surface.beside"), LEFT)
    menu = menu_of(session)
    names = [action.text() for action in menu.actions()]
    assert names == [NO_OTHER, session.document.run(tree).name]
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(menu.actions()[1]).center())
    wait_for_other(qtbot, session, session.document.run(tree).name)
    compare(session, tree)
    assert abs(panel.plot.width() - panel.beside.plots[0].width()) <= 2  # as much room for either
    panel.beside.choose(None)
    assert not panel.beside.plots[0].isVisible()
    np.testing.assert_array_equal(panel.plot.image.levels, before)
    assert session.document.undo_stack.count() == n_steps  # looking changes nothing


def test_keys_choose_a_model_and_it_follows_columns_and_held_values(qtbot, session, two):
    tree, _forest = two
    panel, name = panel_of(session), session.document.run(tree).name
    Person(qtbot, session.window).press(Qt.Key.Key_B, CTRL | SHIFT)
    qtbot.waitUntil(lambda: menu_of(session) is not None)
    menu = menu_of(session)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    plot = wait_for_other(qtbot, session, name)
    y_name = panel.figure.y.name
    panel._columns.swap.click()
    qtbot.waitUntil(lambda: plot.figure.x.name == panel.figure.x.name == y_name, timeout=60_000)
    compare(session, tree)
    before = plot.figure
    panel._on_held("island", "Torgersen")
    qtbot.waitUntil(lambda: plot.figure is not before, timeout=60_000)
    assert "island Torgersen" in plot.figure.held_text
    compare(session, tree)


def test_it_goes_with_its_model_and_comes_back_with_undo(qtbot, session, two):
    tree, _forest = two
    document, panel, name = session.document, panel_of(session), session.document.run(tree).name
    panel.beside.choose(tree)
    wait_for_other(qtbot, session, name)
    current = document.current_run_id
    document.delete_run(tree)
    qtbot.waitUntil(lambda: not panel.beside.plots[0].isVisible())
    assert not session.window.actions_["action.surface.beside"].isEnabled()
    document.undo_stack.undo()
    document.select_run(current)
    wait_for_other(qtbot, session, name)


def test_a_single_model_has_nothing_to_stand_beside(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    assert not session.window.actions_["action.surface.beside"].isEnabled()


def test_a_model_trained_with_another_event_has_the_same_colours(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("sex")
    document.set_event_class("male")
    tree = train(qtbot, session, "tree")
    document.set_event_class("female")
    forest = train(qtbot, session, "forest", n_estimators=3)
    assert document.run(tree).result.event_class != document.run(forest).result.event_class
    session.window.centre.arrange_as_tabs()
    session.window.centre.show_view("surface")
    qtbot.waitUntil(lambda: panel_of(session).figure is not None, timeout=60_000)
    panel_of(session).beside.choose(tree)
    plot = wait_for_other(qtbot, session, document.run(tree).name)
    assert plot.legend_.entries == panel_of(session).plot.legend_.entries


def test_both_pictures_leave_in_one_file(qtbot, session, two, dialogs, tmp_path):
    tree, forest = two
    panel, document = panel_of(session), session.document
    panel.beside.choose(tree)
    plot = wait_for_other(qtbot, session, document.run(tree).name)
    for ending in ("svg", "png", "pdf"):
        dialogs.answers.append(tmp_path / f"both.{ending}")
        QTest.mouseClick(panel.findChild(QToolButton, "surface.export"), LEFT)
        assert document.messages[-1] == f"Picture saved as both.{ending}"
    elements = ET.parse(tmp_path / "both.svg").iter()
    texts = ["".join(e.itertext()) for e in elements if e.tag.endswith("text")]
    for run_id in (tree, forest):
        assert document.run(run_id).name in texts
    left, right = (
        view.viewport().mapTo(session.window, view.rect().topLeft()) for view in (panel.plot, plot)
    )
    assert right.x() > left.x()
    image = QImage(str(tmp_path / "both.png"))
    assert image.width() == 2 * (right.x() - left.x() + plot.viewport().width())
    assert image.height() == 2 * plot.viewport().height()
    panel.beside.choose(None)
    dialogs.answers.append(tmp_path / "one.png")
    session.window.context.actions["action.figure.export"].trigger()
    assert QImage(str(tmp_path / "one.png")).width() == 2 * panel.plot.viewport().width()


def test_three_others_stand_beside_in_one_range_of_colours_and_a_fourth_waits(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("body_mass_g")
    others = [train(qtbot, session, "tree", max_depth=depth) for depth in (1, 2, 3, 4)]
    train(qtbot, session, "forest", n_estimators=3)
    session.window.centre.arrange_as_tabs()
    session.window.centre.show_view("surface")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    for run_id in others[:3]:
        panel.beside.choose(run_id)
    qtbot.waitUntil(lambda: len(panel.beside.shown) == 3, timeout=60_000)
    assert [plot.figure.title for plot in panel.beside.shown] == [document.run(i).name for i in others[:3]]
    plots = [panel.plot, *panel.beside.shown]
    low = min(float(plot.figure.range[0]) for plot in plots)
    high = max(float(plot.figure.range[1]) for plot in plots)
    assert {tuple(plot.image.levels) for plot in plots} == {(low, high)}

    def sizes():
        return [plot.width() for plot in plots], [plot.height() for plot in plots]

    qtbot.waitUntil(lambda: all(max(s) - min(s) <= 3 for s in sizes()))  # once laid out
    assert min(min(s) for s in sizes()) > 250  # two rows of two
    corners = {(round(plot.mapTo(panel, plot.rect().topLeft()).x(), -2)) for plot in plots}
    assert len(corners) == 2
    panel.beside.button.click()
    menu = menu_of(session)
    assert [a.isChecked() for a in menu.actions()] == [False, True, True, True, False]
    assert not menu.actions()[-1].isEnabled()
    assert menu.actions()[-1].toolTip() == FULL
    menu.close()
    panel.beside.choose(others[3])  # full: nothing changes
    assert len(panel.beside.shown) == 3
    panel.beside.choose(others[1])  # and once more takes it away
    qtbot.waitUntil(
        lambda: (
            [plot.figure.title for plot in panel.beside.shown]
            == [document.run(others[k]).name for k in (0, 2)]
        ),
        timeout=60_000,
    )
