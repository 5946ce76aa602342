"""The Pruning view: its curve, its marks, its slider and buttons, and undo of a whole drag."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QStyle, QStyleOptionSlider, QWidget

from engine.tree.cost_complexity import prune_at, pruning_path
from engine.tree.pruning_rules import pessimistic_prune
from tests.ui.training_help import train
from workbench import tree_editor
from workbench.datasets import make_table
from workbench.editing import alpha_of
from workbench.figures.surface import make_surface
from workbench.figures.surface_inputs import surface_inputs
from workbench.runs import SplitSettings
from workbench.samples import load_sample


@pytest.fixture
def run_id(qtbot, session):
    """A tree on Penguins, its cross-validated curve being drawn."""
    session.document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    session.window.centre.show_view("pruning")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.figure is not None and panel.figure.best is not None, timeout=60_000)
    return run_id


def panel_of(session):
    return session.window.findChild(QWidget, "panel.pruning")


def says(panel):
    return panel.findChild(QLabel, "pruning.says").full_text()


def test_curve_and_marks_are_of_the_grown_tree(session, run_id):
    document, panel = session.document, panel_of(session)
    result, figure = document.run(run_id).result, panel.figure
    path = pruning_path(result.grown_tree)
    assert [stop.n_leaves for stop in figure.stops[:-1]] == path.n_leaves[::-1][
        : len(figure.stops) - 1
    ].tolist()
    assert figure.stops[-1] == (result.grown_tree.n_leaves, None)
    assert [line.name for line in figure.lines] == ["training", "validation", "cross-validated"]
    for part, line in zip(("train", "validation"), figure.lines, strict=False):
        assert line.y[-1] == pytest.approx(1 - result.scores[part].accuracy.value)
        np.testing.assert_allclose(panel.plot.curves[figure.lines.index(line)].getData()[1], line.y)
    assert np.all(np.diff(figure.lines[0].y) <= 1e-12)  # training errors fall with every leaf
    errors = figure.lines[2].y
    assert errors[figure.best] == errors.min()
    assert figure.one_se <= figure.best
    assert errors[figure.one_se] <= figure.band[1][figure.best]
    assert panel.plot.best_.value() == pytest.approx(np.log10(figure.stops[figure.best].n_leaves))
    assert panel.plot.one_se_.value() == pytest.approx(np.log10(figure.stops[figure.one_se].n_leaves))
    assert figure.here.error == pytest.approx(1 - result.scores["validation"].accuracy.value)


def test_a_drag_prunes_live_and_is_one_undo_step(session, run_id):
    document, panel = session.document, panel_of(session)
    grown = document.run(run_id).result.grown_tree
    n_steps = document.undo_stack.count()
    for stop in reversed(range(len(panel.figure.stops) - 1)):
        panel.slider.setValue(stop)
        result = document.run(run_id).result
        n_leaves, alpha = panel.figure.stops[stop]
        assert result.trees[0] == prune_at(grown, alpha)
        assert result.trees[0].n_leaves == n_leaves == panel.figure.here.n_leaves
        assert says(panel).startswith("1 leaf" if n_leaves == 1 else f"{n_leaves} leaves")
    assert document.undo_stack.count() == n_steps + 1
    assert document.run(run_id).result.n_test_looks == 1
    document.undo_stack.undo()
    assert document.run(run_id).result.trees[0] == grown
    assert panel.slider.value() == len(panel.figure.stops) - 1
    assert "as grown" in says(panel)
    document.undo_stack.redo()
    assert document.run(run_id).result.trees[0].n_leaves == 1
    assert panel.slider.value() == 0


def test_c17_no_tree_between_four_leaves_and_one_is_shown(qtbot, session):
    """The weakest link is the root, although each node below looks weaker on its own."""
    document = session.document
    document.open_table(make_table("xor", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("nyyn")}))
    document.set_roles(["a", "b"], "feature")
    document.set_target("y")
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    run_id = train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    session.window.centre.show_view("pruning")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    grown = document.run(run_id).result.grown_tree
    assert [tuple(stop) for stop in panel.figure.stops] == [(1, pytest.approx(1 / 6)), (4, None)]
    for stop, n_leaves in ((0, 1), (1, 4)):
        panel.slider.setValue(stop)
        drawn = document.run(run_id).result.trees[0]
        assert drawn == (grown if n_leaves == 4 else prune_at(grown, 1 / 6))
        assert drawn.n_leaves == panel.figure.here.n_leaves == n_leaves


def drag_to(slider, stop):
    """Press the slider's handle and move it to a stop, without letting go."""
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    parts = (QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider)
    handle = slider.style().subControlRect(*parts).center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=handle)
    room = slider.width() - 2 * handle.y()
    QTest.mouseMove(
        slider, QPoint(handle.x() - room * (slider.maximum() - stop) // slider.maximum(), handle.y())
    )


@pytest.mark.parametrize("small_cells", [20_000, 0], ids=["scored at once", "scored by a worker"])
def test_tree_and_surface_follow_the_mouse_and_the_scores_come_after(
    qtbot, session, run_id, monkeypatch, small_cells
):
    monkeypatch.setattr(tree_editor, "SMALL_CELLS", small_cells)
    document, panel, selection = session.document, panel_of(session), session.window.context.selection
    canvas = session.window.findChild(QWidget, "tree.canvas")
    surface = session.window.findChild(QWidget, "panel.surface")
    qtbot.waitUntil(lambda: surface.figure is not None, timeout=60_000)
    before, rows, steps = document.run(run_id).result, surface.figure.points.rows, document.undo_stack.count()
    drag_to(panel.slider, 1)
    stop = panel.slider.value()
    assert 0 < stop < panel.slider.maximum()
    assert panel.slider.isSliderDown()
    right = prune_at(before.grown_tree, panel.figure.stops[stop].alpha)
    qtbot.waitUntil(lambda: canvas.figure.tree == right)
    assert says(panel).startswith(f"{right.n_leaves} leaves, a leaf costs")
    preview = selection.preview_of(before)
    if preview is not None:  # until the slider was held still for long enough to be scored
        assert preview.scores is before.scores
        assert preview.trees[0] == right
    QTest.mouseRelease(panel.slider, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: document.run(run_id).result is not before, timeout=60_000)
    result = document.run(run_id).result
    assert result.trees[0] == right
    assert result.scores["validation"].metrics != before.scores["validation"].metrics
    assert document.undo_stack.count() == steps + 1
    assert selection.preview_of(result) is None
    qtbot.waitUntil(lambda: surface._inputs.result is result, timeout=60_000)
    wanted = make_surface(
        surface_inputs("", result, document.table), surface.figure.x.name, surface.figure.y.name
    )
    np.testing.assert_array_equal(surface.figure.answer, wanted.answer)
    np.testing.assert_array_equal(surface.figure.points.is_wrong, wanted.points.is_wrong)
    np.testing.assert_array_equal(surface.figure.points.rows, rows)
    document.undo_stack.undo()
    assert canvas.figure.tree == before.trees[0]
    assert panel.slider.value() == panel.slider.maximum()
    qtbot.waitUntil(lambda: surface._inputs.result is before and session.lanes.are_quiet, timeout=60_000)


def test_undo_while_a_slider_is_dragged_forgets_what_it_asked_for(qtbot, session, run_id):
    document, panel = session.document, panel_of(session)
    canvas = session.window.findChild(QWidget, "tree.canvas")
    document.prune(run_id, (1,))
    panel._rest.setInterval(60_000)  # a busy machine does not make the hand rest
    drag_to(panel.slider, 1)
    selection = session.window.context.selection
    qtbot.waitUntil(lambda: selection.preview_of(document.run(run_id).result) is not None)
    document.undo_stack.undo()
    result = document.run(run_id).result
    assert result.edits == ()
    assert selection.preview_of(result) is None
    assert canvas.figure.tree is result.trees[0]
    QTest.mouseRelease(panel.slider, Qt.MouseButton.LeftButton)
    assert document.run(run_id).result is result
    assert panel.slider.value() == panel.slider.maximum()
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def test_dragging_back_leaves_nothing_to_undo(session, run_id):
    document, panel = session.document, panel_of(session)
    n_steps = document.undo_stack.count()
    panel.slider.setValue(1)
    panel.slider.setValue(len(panel.figure.stops) - 1)
    assert document.undo_stack.count() == n_steps
    assert document.run(run_id).result.edits == ()


def test_buttons_keys_and_clicks_prune(qtbot, session, run_id):
    document, panel = session.document, panel_of(session)
    figure = panel.figure
    for name, mark in (("pruning.one_standard_error", figure.one_se), ("pruning.best", figure.best)):
        qtbot.mouseClick(panel.findChild(QPushButton, name), Qt.MouseButton.LeftButton)
        assert document.run(run_id).result.trees[0].n_leaves == figure.stops[mark].n_leaves
    panel.slider.setFocus()
    before = panel.slider.value()
    QTest.keyClick(panel.slider, Qt.Key.Key_Left)
    assert document.run(run_id).result.trees[0].n_leaves == figure.stops[before - 1].n_leaves
    place = panel.plot.plot.vb.mapViewToScene(QPointF(0.0, figure.lines[0].y[-1]))
    qtbot.mouseClick(panel.plot.viewport(), Qt.MouseButton.LeftButton, pos=panel.plot.mapFromScene(place))
    assert document.run(run_id).result.trees[0].n_leaves == 1


def test_a_tree_cut_by_hand_lies_beside_the_curve(session, run_id):
    document, panel = session.document, panel_of(session)
    assert panel.figure.here.is_on_path
    document.prune(run_id, (1,))
    result = document.run(run_id).result
    assert not panel.figure.here.is_on_path
    assert panel.figure.here.n_leaves == result.trees[0].n_leaves
    assert panel.figure.here.error == pytest.approx(1 - result.scores["validation"].accuracy.value)
    assert says(panel).endswith(", changed by hand")
    panel.slider.setValue(2)
    result = document.run(run_id).result
    assert alpha_of(result) == panel.figure.stops[2].alpha
    assert [edit.kind for edit in result.edits] == ["cost_complexity", "prune"]


def test_rules_prune_by_the_menu_in_one_undo_step(qtbot, session, run_id):
    document, panel = session.document, panel_of(session)
    grown = document.run(run_id).result.grown_tree
    qtbot.mouseClick(panel.findChild(QPushButton, "pruning.by_rule"), Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    assert [action.text() for action in menu.actions()] == [
        "Prune on Validation Rows", "Prune by Expected Errors", "Merge Equal Leaves",
    ]  # fmt: skip
    menu.close()
    wrong = panel.figure.here.error
    for rule in ("reduced_error", "pessimistic"):
        n_steps = document.undo_stack.index()
        session.window.context.actions[f"action.tree.{rule}"].trigger()
        pruned = document.run(run_id).result
        assert pruned.trees[0].n_leaves < grown.n_leaves
        assert all(edit.kind == "prune" for edit in pruned.edits)
        assert document.undo_stack.index() == n_steps + 1
        if rule == "reduced_error":
            assert panel.figure.here.error <= wrong
        else:
            assert pruned.trees[0] == pessimistic_prune(grown)
        document.undo_stack.undo()
        assert document.run(run_id).result.trees[0] == grown


def test_a_rule_that_cuts_nothing_says_so(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "tree", max_depth=1)
    session.window.ensure_centre()
    session.window.context.actions["action.tree.merge"].trigger()
    assert document.messages[-1].startswith("merging leaves that answer the same cuts nothing in this tree")
    assert document.run(run_id).result.edits == ()
    document.set_split(SplitSettings(0, 0.8, 0.0, 0.2))
    train(qtbot, session, "tree")
    session.window.context.actions["action.tree.reduced_error"].trigger()
    assert document.messages[-1].startswith("there are no validation rows to prune by")


def test_what_cannot_be_pruned_says_so(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    for kind, parameters, words in (
        ("forest", {"n_estimators": 3}, "Trees inside ensembles are not pruned."),
        ("tree", {"min_samples_leaf": 1000}, "This tree is a single leaf."),
    ):
        train(qtbot, session, kind, **parameters)
        session.window.centre.show_view("pruning")
        panel = panel_of(session)
        assert panel.figure is None
        assert words in [label.text() for label in panel.findChildren(QLabel)]


def test_the_wheel_scrolls_past_a_slider(session, run_id):
    panel = panel_of(session)
    result, value = session.document.run(run_id).result, panel.slider.value()
    place = QPointF(panel.slider.rect().center())
    turned = QWheelEvent(
        place, panel.slider.mapToGlobal(place), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(panel.slider, turned)
    assert panel.slider.value() == value
    assert session.document.run(run_id).result is result


def test_what_the_tree_is_stands_whole_beside_the_slider(session, run_id):
    panel = panel_of(session)
    session.window.context.editor.prune(run_id, (0,))
    label = panel.findChild(QLabel, "pruning.says")
    assert label.full_text().endswith("changed by hand")
    QApplication.processEvents()
    assert label.text() == label.full_text(), f"cut off at {label.width()} px"


def test_the_slider_keeps_its_length_while_it_is_dragged(session, run_id):
    panel = panel_of(session)
    QApplication.processEvents()
    slider, told, lengths = panel.slider, set(), set()
    for stop in (*range(slider.maximum() + 1), slider.maximum()):
        slider.setValue(stop)
        QApplication.processEvents()
        told.add(says(panel))
        lengths.add(slider.width())
        assert panel.findChild(QLabel, "pruning.says").text() == says(panel)
    session.window.context.editor.prune(run_id, (0,))
    QApplication.processEvents()
    assert len(told) > 2
    assert lengths == {slider.width()}
