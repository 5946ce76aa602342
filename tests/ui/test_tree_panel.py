"""The Tree view: drawing, opening, selecting by mouse and keyboard, pruning with undo."""

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSpinBox, QWidget

from engine.features import FeatureSpec
from engine.tree.structure import LEAF, MULTIWAY, THRESHOLD, Tree
from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.figures.tree import Rule, make_tree_figure
from workbench.figures.words import number
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.plots.bar_pieces import bar_pieces
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.plots.tree_item import (
    LEAST_PX,
    MARK,
    RULE_AND_BAR,
    WHOLE_CARD,
    TreeItem,
    _Brush,
)

NO_BUTTON, NO_KEY = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier


def balanced_tree(n_levels: int) -> Tree:
    """A full binary tree in which every node splits its rows in halves."""
    n = 2**n_levels - 1
    n_inner = 2 ** (n_levels - 1) - 1
    node = np.arange(n)
    level = np.floor(np.log2(node + 1)).astype(int)
    is_inner = node < n_inner
    rows = 2 ** (n_levels - level)
    share = ((node * 7) % 10) / 10
    return Tree.from_arrays(
        {
            "feature": np.where(is_inner, 0, -1),
            "kind": np.where(is_inner, THRESHOLD, LEAF),
            "threshold": np.where(is_inner, node + 0.5, np.nan),
            "level_offsets": np.zeros(n + 1),
            "level_sets": np.empty((0, 2)),
            "first_child": np.where(is_inner, 2 * node + 1, -1),
            "n_children": np.where(is_inner, 2, 0),
            "missing_child": np.where(is_inner, 0, -1),
            "unseen_child": np.where(is_inner, 0, -1),
            "value": np.column_stack([share, 1 - share]),
            "impurity": np.full(n, 0.3),
            "gain": np.where(is_inner, 0.1, 0),
            "n_node_samples": rows,
            "weighted_n_node_samples": rows,
            "n_missing": np.zeros(n),
        }
    )


def figure_of(n_levels):
    return make_tree_figure(balanced_tree(n_levels), (FeatureSpec("x"),), ("no", "yes"), title="tree")


@pytest.fixture
def canvas(qtbot):
    made = TreeCanvas()
    qtbot.addWidget(made)
    made.resize(1200, 900)
    made.show()
    return made


def paint(canvas) -> int:
    """Repaint at once; the number of cards painted."""
    canvas.viewport().grab()
    return canvas.item.n_painted


def test_a_small_tree_opens_whole_and_fits(canvas):
    canvas.set_figure(figure_of(3))
    assert len(canvas.item.nodes) == 7
    assert canvas.zoom >= 0.7
    seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
    assert seen.contains(canvas.item.boundingRect())
    assert not canvas.mini_map.isVisible()


def test_deeper_levels_start_closed_and_are_never_too_small_to_read(canvas):
    canvas.set_figure(figure_of(7))
    assert canvas.zoom >= RULE_AND_BAR
    closed = [int(n) for n in canvas.item.nodes if canvas.item.is_closed(int(n))]
    assert closed
    hidden = {canvas.figure.hidden_text(node) for node in closed}
    assert len(hidden) == 1
    assert sum(int(canvas.figure.n_leaves[n]) for n in closed) == 64


def star(n_levels: int) -> Tree:
    """A question with a branch for each of many levels."""
    n, none = n_levels + 1, [-1] * n_levels
    return Tree.from_arrays(
        {
            "feature": [0, *none],
            "kind": [MULTIWAY, *[LEAF] * n_levels],
            "threshold": np.full(n, np.nan),
            "level_offsets": [0, *[n_levels] * n],
            "level_sets": np.column_stack([np.arange(n_levels)] * 2),
            "first_child": [1, *none],
            "n_children": [n_levels, *[0] * n_levels],
            "missing_child": [0, *none],
            "unseen_child": [0, *none],
            "value": np.column_stack([np.ones(n), np.zeros(n)]),
            "impurity": np.zeros(n),
            "gain": np.zeros(n),
            "n_node_samples": [n_levels, *[1] * n_levels],
            "weighted_n_node_samples": [n_levels, *[1] * n_levels],
            "n_missing": np.zeros(n),
        }
    )


def test_of_ten_thousand_branches_only_those_in_view_are_labelled(canvas):
    names = tuple(f"level {k}" for k in range(10_000))
    figure = make_tree_figure(star(10_000), (FeatureSpec("x", names),), ("no", "yes"), title="star")
    assert [figure.branch(node) for node in range(1, figure.n_nodes)] == list(names)
    canvas.set_figure(figure)
    canvas.open_all()
    canvas._set_zoom(1.0)
    canvas.select((5000,))
    assert paint(canvas) < 60
    assert 0 < canvas.item.n_labelled < 60
    assert canvas.item.n_labelled <= canvas.item.n_lines < 300


def test_of_ten_thousand_nodes_only_those_in_view_are_painted(canvas):
    canvas.set_figure(figure_of(13))
    canvas.open_all()
    assert len(canvas.item.nodes) == 8191
    canvas._set_zoom(1.0)
    assert paint(canvas) < 60
    assert canvas.mini_map.isVisible()


def test_every_level_of_detail_paints(canvas):
    canvas.set_figure(figure_of(4), np.arange(15) < 7)
    for zoom in (1.2, 0.75, 0.5, 0.1):
        canvas._set_zoom(zoom)
        canvas.centerOn(canvas.item.boundingRect().center())
        assert paint(canvas) > 0


def click(qtbot, canvas, point):
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=canvas.mapFromScene(QPointF(point)))


def test_a_click_on_a_card_selects_and_on_a_pill_opens(qtbot, canvas):
    canvas.set_figure(figure_of(3), np.array([1, 0, 0, 0, 0, 0, 0], bool))
    with qtbot.waitSignal(canvas.node_selected) as selected:
        click(qtbot, canvas, canvas.item.card_rect(2).center())
    assert selected.args == [(1,)]
    click(qtbot, canvas, canvas.item.pill_rect(2).center())
    assert bool(canvas.item.is_open[2])
    assert canvas.item.nodes.tolist() == [0, 1, 2, 5, 6]


def test_the_keyboard_moves_opens_and_asks_to_prune(qtbot, canvas):
    canvas.set_figure(figure_of(3))
    for key, path in (
        (Qt.Key.Key_Down, ()),
        (Qt.Key.Key_Down, (0,)),
        (Qt.Key.Key_Right, (1,)),
        (Qt.Key.Key_Down, (1, 0)),
        (Qt.Key.Key_Left, (0, 1)),
        (Qt.Key.Key_Up, (0,)),
    ):
        qtbot.keyClick(canvas, key)
        assert canvas.selected_path == path
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert canvas.item.is_closed(1)
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert not canvas.item.is_closed(1)
    with qtbot.waitSignal(canvas.prune_asked) as asked:
        qtbot.keyClick(canvas, Qt.Key.Key_Delete)
    assert asked.args == [(0,)]


def test_closing_above_the_selection_selects_what_was_closed(canvas):
    canvas.set_figure(figure_of(3))
    canvas.select((0, 1))
    canvas.set_open(0, False)
    assert canvas.selected_path == ()


def test_selecting_a_hidden_node_opens_the_way(canvas):
    canvas.set_figure(figure_of(4), np.zeros(15, bool))
    canvas.select((1, 0))
    assert canvas.selected_path == (1, 0)
    assert bool(canvas.item.is_open[0])
    assert bool(canvas.item.is_open[2])


def test_a_bar_gives_two_pixels_to_every_class_present():
    pieces = bar_pieces(np.array([0.001, 0.0, 0.999]), 100)
    assert [c for c, _, _ in pieces] == [0, 2]
    assert pieces[0][1:] == (0.0, 2.0)
    assert pieces[1][1] == 3.0
    assert pieces[1][1] + pieces[1][2] == pytest.approx(100)


@pytest.mark.parametrize("path", [(), (0,)])
def test_a_branch_that_comes_back_is_shown_as_deep_as_before(qtbot, session, path):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = session.window.findChild(QWidget, "panel.tree")
    panel.canvas.open_all()
    shown = set(panel.canvas.item.place)
    session.document.prune(session.document.current_run_id, path)
    assert len(panel.canvas.item.place) < len(shown)
    session.document.undo_stack.undo()
    assert set(panel.canvas.item.place) == shown


def test_of_a_large_branch_that_comes_back_as_much_is_shown_as_can_be_read(qtbot, session):
    rng = np.random.default_rng(0)
    columns = {"x": rng.random(600).tolist(), "y": rng.integers(0, 2, 600).tolist()}
    session.document.open_table(make_table("noise", columns))
    session.document.set_target("y")
    train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    panel = session.window.findChild(QWidget, "panel.tree")
    session.document.prune(session.document.current_run_id, ())
    session.document.undo_stack.undo()
    figure = panel.canvas.figure
    assert figure.n_nodes > 100
    is_shown = figure.depth <= figure.readable_depth()
    assert set(panel.canvas.item.place) == set(np.flatnonzero(is_shown).tolist())


def test_prune_undo_redo_change_the_drawing_and_the_scores(qtbot, session):
    document, window = session.document, session.window
    document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "tree")
    panel = window.findChild(QWidget, "panel.tree")
    before, scores = panel.canvas.figure, document.run(run_id).result.scores
    assert before.n_nodes > 3
    panel.canvas.node_selected.emit((0,))
    assert document.current_run_id == run_id
    window.context.actions["action.tree.prune"].trigger()
    pruned = panel.canvas.figure
    assert pruned.is_leaf(pruned.tree.node_at((0,)))
    assert pruned.edited == {(0,)}
    assert document.run(run_id).result.scores["train"].accuracy < scores["train"].accuracy
    assert window.context.actions["action.tree.restore"].isEnabled()
    document.undo_stack.undo()
    assert panel.canvas.figure.tree == before.tree
    document.undo_stack.redo()
    assert panel.canvas.figure.tree == pruned.tree
    window.context.actions["action.tree.restore"].trigger()
    assert panel.canvas.figure.tree == before.tree


@pytest.mark.parametrize("sample", ["penguins", "diabetes"])
def test_a_cut_is_priced_under_the_pointer_before_it_is_made(qtbot, session, sample):
    document, window = session.document, session.window
    window.show()
    document.open_table(load_sample(sample))
    run_id = train(qtbot, session, "tree")
    panel = window.findChild(QWidget, "panel.tree")
    qtbot.waitUntil(lambda: panel._prices is not None, timeout=30_000)
    subtitle, canvas = panel._subtitle, panel.canvas
    for node in np.flatnonzero(~canvas.figure.tree.is_leaf)[:4]:
        window.context.selection.select_node(canvas.figure.tree.path_to(int(node)))
        assert subtitle.full_text() == panel._prices.sentence(int(node))
        hover(canvas, 0)
        assert subtitle.full_text() == panel._prices.sentence(0)
        assert canvas.told_of(0).splitlines()[-1] == panel._prices.sentence(0)  # never cut
        hover(canvas, None)
        change = r"([\d.,]+)(?: %)? → ([\d.,]+)(?: %)?"
        words = rf"Cut here: −(\d+) lea(?:f|ves); .* {change} in training, {change} in validation"
        told = re.fullmatch(words, subtitle.full_text())
        before = document.run(run_id).result
        document.prune(run_id, canvas.selected_path)
        after = document.run(run_id).result
        assert before.trees[0].n_leaves - after.trees[0].n_leaves == int(told[1])
        errors = [error_text(result, part) for part in ("train", "validation") for result in (before, after)]
        assert [told[k] for k in range(2, 6)] == errors
        document.undo_stack.undo()
        qtbot.waitUntil(lambda: panel._prices is not None, timeout=30_000)
    leaf = int(np.flatnonzero(canvas.figure.tree.is_leaf)[0])
    window.context.selection.select_node(canvas.figure.tree.path_to(leaf))
    assert subtitle.full_text() == canvas.figure.subtitle


def hover(canvas, node):
    """Move the pointer over a node's card, or off the canvas."""
    QTest.mouseMove(canvas.viewport(), QPoint(1, 1))  # a pointer that stays where it is tells nothing
    if node is None:
        QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
        return
    canvas.ensureVisible(canvas.item.card_rect(node))
    QTest.mouseMove(canvas.viewport(), canvas.mapFromScene(canvas.item.card_rect(node).center()))
    QApplication.processEvents()


def error_text(result, part):
    metrics = result.scores[part].metrics
    if result.classes:
        return f"{100 * (1 - metrics['accuracy'].value):.1f}"
    return number(metrics["rmse"].value ** 2)


def test_a_forest_lets_one_choose_the_tree(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=5)
    panel = session.window.findChild(QWidget, "panel.tree")
    first = panel.canvas.figure.tree
    which = panel.findChild(QSpinBox, "tree.which")
    which.setValue(3)
    middle, up = which.rect().center().toPointF(), QPoint(0, 120)
    turned = QWheelEvent(middle, middle, QPoint(), up, NO_BUTTON, NO_KEY, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(which, turned)  # the wheel scrolls past
    assert which.value() == 3
    result = session.document.current_run.result
    assert panel.canvas.figure.tree is result.trees[2]
    assert panel.canvas.figure.tree != first
    assert "tree 3 of 5" in panel.canvas.figure.subtitle
    assert not session.window.context.actions["action.tree.prune"].isEnabled()


def test_the_outline_shows_the_same_nodes_and_selects(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = session.window.findChild(QWidget, "panel.tree")
    model = panel.outline.model()
    root = model.index(0, 0)
    assert model.data(root) == panel.canvas.figure.rule(0).text
    child = model.index(1, 0, root)
    assert model.data(child).startswith("no: ")
    assert model.parent(child) == root
    panel.outline.setCurrentIndex(child)
    assert panel.canvas.selected_path == (1,)
    assert session.window.context.selection.node_path == (1,)


def smallest_letters(canvas):
    """Pixels on screen of the smallest letters on the canvas."""
    brush = _Brush(QPainter(), canvas.figure, canvas.zoom)
    whole = (brush.small, brush.body, brush.name)
    used = whole if canvas.zoom >= WHOLE_CARD else (brush.name, brush.short)
    return min(font.pixelSize() for font in used) * canvas.zoom


@pytest.mark.parametrize("zoom", [0.6, 0.65, 0.7, 0.84, 0.85, 1.0])
def test_no_letter_is_painted_smaller_than_nine_pixels(canvas, zoom):
    canvas.set_figure(figure_of(3))
    canvas._set_zoom(zoom)
    assert smallest_letters(canvas) >= 9


def test_the_penguins_tree_opens_whole_and_readable_beside_the_settings(qtbot, session):
    session.window.resize(1440, 900)
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    canvas = session.window.findChild(QWidget, "panel.tree").canvas
    assert session.window.docks["settings"].isVisible()

    def is_whole():
        seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
        everything = len(canvas.item.nodes) == canvas.figure.n_nodes == 11
        return everything and seen.contains(canvas.item.boundingRect())

    qtbot.waitUntil(is_whole, timeout=10_000)
    assert smallest_letters(canvas) >= 9


@pytest.mark.parametrize("height", range(300, 900, 75))
def test_what_opens_by_itself_is_in_view_with_its_rules(canvas, height):
    canvas.resize(700, height)
    canvas.set_figure(figure_of(7))
    seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
    if len(canvas.item.nodes) > 3:  # the root and its children are shown in any room
        assert seen.contains(canvas.item.boundingRect())
    assert not canvas.mini_map.isVisible() or len(canvas.item.nodes) <= 3


def dark_pixels(canvas) -> int:
    """How many pixels are as dark as only letters are."""
    image = canvas.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    values = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return int((values[..., :3].max(axis=2) < 90).sum())


def test_rules_are_written_at_the_very_bound(canvas):
    canvas.set_figure(figure_of(3))
    canvas._set_zoom(RULE_AND_BAR - 1e-9)  # what rounding may leave of it
    canvas.centerOn(canvas.item.boundingRect().center())
    assert dark_pixels(canvas) > 20
    canvas._set_zoom(RULE_AND_BAR - 0.01)
    assert dark_pixels(canvas) == 0


def test_cards_glide_to_their_places_and_themes_may_change_on_the_way(canvas):
    canvas.set_figure(figure_of(4))
    canvas.set_open(1, False)
    item = canvas.item
    was = {node: canvas.mapFromScene(item.drawn_rect(node).topLeft()) for node in item.place}
    theme.set_reduces_motion(False)
    canvas.set_open(1, True)
    canvas.glide.pause()

    def seen(node):
        return canvas.mapFromScene(item.drawn_rect(node).topLeft())

    assert all((seen(node) - place).manhattanLength() <= 2 for node, place in was.items())
    assert (seen(3) - was[1]).manhattanLength() <= 2  # what opens comes out of its parent
    canvas.glide.setCurrentTime(70)
    assert seen(2) != was[2]
    assert seen(2) != canvas.mapFromScene(item.card_rect(2).topLeft())
    for name in ("dark", "light", "dark", "light"):
        theme.set_appearance(name)
        canvas.grab()
    canvas.glide.setCurrentTime(140)
    assert all(item.drawn_rect(node) == item.card_rect(node) for node in item.place)
    canvas.set_figure(None)
    canvas.grab()


def test_reduced_motion_and_many_cards_are_there_at_once(canvas):
    canvas.set_figure(figure_of(4))
    canvas.set_open(1, False)
    assert canvas.item.drawn_rect(2) == canvas.item.card_rect(2)
    assert canvas.glide.state() == canvas.glide.State.Stopped
    theme.set_reduces_motion(False)
    canvas.set_figure(figure_of(10))
    canvas.open_all()
    assert canvas.glide.state() == canvas.glide.State.Stopped
    assert canvas.item.drawn_rect(900) == canvas.item.card_rect(900)
    canvas.set_figure(figure_of(4))
    canvas.set_open(1, False)
    assert canvas.glide.state() == canvas.glide.State.Running
    canvas.glide.end()


def test_a_number_is_never_cut_only_names_are():
    rule = Rule("a_name_much_longer_than_any_card_is_wide", " ≤ 0.12345678901234567", "")
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    brush = _Brush(painter, figure_of(2), 1.0)
    painted = []
    brush._text = lambda rect, text, *_: painted.append(text)
    brush._rule(QRectF(0, 0, 140, 18), rule)
    painter.end()
    assert painted[0].endswith(rule.rest)


@pytest.mark.parametrize("zoom", [RULE_AND_BAR, 0.7, 1.0])
def test_the_mark_of_a_change_by_hand_has_room_above_the_root(zoom):
    item = TreeItem()
    item.set_figure(replace(figure_of(3), edited=frozenset({()})))
    mark = max(MARK, LEAST_PX / zoom)  # on the card's edge, with a ground 3 wide around it
    assert item.boundingRect().top() < item.card_rect(0).top() - mark / 2 - 3
