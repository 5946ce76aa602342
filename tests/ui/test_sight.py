"""Views behind a tab: they ask for nothing, and are right when they are raised."""

import numpy as np
from PySide6.QtWidgets import QLabel, QWidget

from tests.ui.training_help import train
from workbench.figures.scores import part_block
from workbench.samples import load_sample
from workbench.ui.centre import VIEWS
from workbench.ui.item_models.table_model import MARKED_ROLE
from workbench.ui.sight import Sight, is_in_sight


def panel_of(session, name):
    return session.window.findChild(QWidget, f"panel.{name}")


def wait_for_quiet(qtbot, session):
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def test_views_behind_a_tab_ask_for_no_study_and_are_right_when_raised(qtbot, session):
    document, centre = session.document, session.window.ensure_centre()
    document.open_table(load_sample("penguins"))
    qtbot.waitUntil(lambda: not (centre._is_new or centre._is_to_arrange))
    centre.arrange_as_tabs()
    centre.show_view("compare")
    qtbot.waitUntil(lambda: [name for name in VIEWS if is_in_sight(panel_of(session, name))] == ["compare"])
    run_id = train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    document.prune(run_id, (0, 0))
    session.window.context.selection.select_node((0,))
    wait_for_quiet(qtbot, session)
    assert panel_of(session, "pruning")._asked_of is panel_of(session, "splits")._asked is None
    assert panel_of(session, "surface")._asked is panel_of(session, "tree")._prices is None
    assert panel_of(session, "table")._job is None
    assert panel_of(session, "compare").model.figure.rows[0].run_id == run_id  # the one in sight follows
    result, tree = document.run(run_id).result, document.run(run_id).result.trees[0]

    panel = panel_of(session, "pruning")
    assert panel.figure is None
    centre.show_view("pruning")
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    assert panel.figure.stops[-1].n_leaves == result.grown_tree.n_leaves

    panel = panel_of(session, "splits")
    centre.show_view("splits")
    qtbot.waitUntil(lambda: panel._study is not None, timeout=60_000)
    assert panel._study.tree is tree
    assert panel._study.path == (0,)

    panel = panel_of(session, "table")
    centre.show_view("table")
    qtbot.waitUntil(lambda: panel.model.index(0, 0).data(MARKED_ROLE) is not None, timeout=60_000)
    qtbot.waitUntil(lambda: "in the selected node" in panel._caption.full_text(), timeout=60_000)

    panel = panel_of(session, "tree")
    assert panel.canvas.figure.tree is tree  # commands act on it wherever they are given
    centre.show_view("tree")
    qtbot.waitUntil(lambda: panel._prices is not None and panel._prices.tree is tree, timeout=60_000)

    panel = panel_of(session, "surface")
    assert panel.figure is None
    centre.show_view("surface")
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    assert panel._inputs.result is result
    x, _y = panel.plot.node_box.getData()
    assert panel.plot.node_box.isVisible()
    assert len(x)

    panel = panel_of(session, "scores")
    centre.show_view("scores")
    qtbot.waitUntil(lambda: panel._result is result)
    shown = panel.findChild(QLabel, "scores.key_figures.accuracy")
    part = panel._part.currentData()
    assert shown.text() == part_block("", result, part, "").key_figures[0].value


def test_a_curve_that_was_asked_for_is_never_drawn_over_another_model(qtbot, session):
    document, centre = session.document, session.window.ensure_centre()
    document.open_table(load_sample("penguins"))
    first = train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    second = train(qtbot, session, "tree", max_depth=2)
    document.select_run(first)
    panel = panel_of(session, "pruning")
    centre.show_view("pruning")
    qtbot.waitUntil(lambda: panel._job is not None, timeout=60_000)
    centre.show_view("training")
    qtbot.waitUntil(lambda: not is_in_sight(panel))
    document.select_run(second)
    wait_for_quiet(qtbot, session)
    centre.show_view("pruning")
    tree = document.run(second).result.grown_tree
    qtbot.waitUntil(lambda: panel.figure is not None and panel._curve.tree is tree, timeout=60_000)
    assert panel.figure.stops[-1].n_leaves == tree.n_leaves
    assert panel.slider.maximum() == len(panel.figure.stops) - 1
    wait_for_quiet(qtbot, session)


def test_work_is_done_once_when_the_view_is_raised(qtbot):
    view, done = QWidget(), []
    qtbot.addWidget(view)
    sight = Sight(view, lambda: done.append(len(done)))
    sight.ask()
    sight.ask()
    assert done == []
    view.show()
    qtbot.waitUntil(lambda: done == [0])
    sight.ask()
    assert done == [0, 1]
    view.hide()
    sight.ask()
    assert done == [0, 1]
    view.show()
    qtbot.waitUntil(lambda: np.array_equal(done, [0, 1, 2]))
