"""The Splits view: candidates of the selected node, its gain curve, its gain as arithmetic."""

import re

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QMenu, QTableView, QWidget

from tests.ui.training_help import train
from workbench import editing
from workbench.datasets import make_table
from workbench.figures.words import number
from workbench.forcing import answer_of, can_force
from workbench.runs import SplitSettings
from workbench.samples import load_sample
from workbench.ui.inputs import ComboBox

LEFT = Qt.MouseButton.LeftButton
FORCE = "action.tree.force_candidate"


def panel_of(session):
    return session.window.findChild(QWidget, "panel.splits")


def table_texts(panel):
    model = panel.findChild(QTableView, "splits.table").model()
    return [[model.index(i, k).data() for k in range(model.columnCount())] for i in range(model.rowCount())]


def wait_for(qtbot, session, path):
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel._study is not None and panel._study.path == path, timeout=60_000)
    return panel


@pytest.mark.parametrize("sample", ["penguins", "diabetes"])
def test_candidates_follow_the_selected_node(qtbot, session, sample):
    session.window.show()
    session.document.open_table(load_sample(sample))
    run_id = train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    result = session.document.run(run_id).result
    tree, specs = result.trees[0], result.feature_specs
    for path in ((), (0,)):
        session.window.context.selection.select_node(path)
        wait_for(qtbot, session, path)
        node = tree.node_at(path)
        rows = table_texts(panel)
        assert rows[0][0] == specs[tree.feature[node]].name
        assert float(rows[0][2].replace(",", "")) == pytest.approx(tree.gain[node], rel=0.01)
        gains = [candidate.gain for candidate in panel._study.found]
        assert gains == sorted(gains, reverse=True)
        assert len(rows) == len(gains) > 3
        feature = panel.figure.rows[0].feature
        if feature in panel.figure.curves:
            x, y = panel.plot.curve.getData()
            assert x[np.argmax(y)] == pytest.approx(tree.threshold[node])
            assert y.max() == pytest.approx(tree.gain[node])
            assert panel.plot.best_.value() == tree.threshold[node]


def test_arrows_move_through_the_candidates_and_their_curves(qtbot, session):
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    table, seen = panel.findChild(QTableView, "splits.table"), set()
    table.setFocus()
    for row in panel.figure.rows:
        if row.feature in panel.figure.curves:
            assert panel._curves.shows_content
            assert panel.plot.header.texts[0].endswith(f"gain over {row.column}")
        else:
            assert not panel._curves.shows_content
        seen.add(row.column)
        QTest.keyClick(table, Qt.Key.Key_Down)
    assert {"island", "bill_length_mm"} <= seen


def plain(label):
    """The text of a label whose terms are kept together by spaces that do not break."""
    return label.text().replace("\N{NO-BREAK SPACE}", " ")


def test_the_gain_is_written_out_as_arithmetic(qtbot, session):
    session.window.show()
    document = session.document
    document.open_table(load_sample("restaurant"))
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    train(qtbot, session, "tree", algorithm="id3", min_samples_leaf=1, max_depth=None)
    session.window.centre.show_view("splits")
    told = panel_of(session).findChild(QLabel, "splits.arithmetic")
    # of Yes and No: None 2 rows, all No; Some 4 rows, all Yes; Full 6 rows, 2 Yes and 4 No
    right = "1 − [2/12 H(0,1) + 4/12 H(1,0) + 6/12 H(2/6,4/6)] = 0.541 bits"
    qtbot.waitUntil(lambda: plain(told) == right)
    assert "+ 4/12\N{NO-BREAK SPACE}H(1,0) + " in told.text()  # a line ends between terms
    assert told.toolTip() == "H is the entropy in bits of a branch"
    session.window.context.selection.select_node((1,))
    assert told.text() == "A leaf asks nothing."
    assert told.toolTip() == ""


def test_id3_and_c45_have_candidates_with_a_branch_a_level(qtbot, session):
    session.window.show()
    document = session.document
    document.open_table(load_sample("restaurant"))
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    train(qtbot, session, "tree", algorithm="id3", min_samples_leaf=1, max_depth=None)
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    rows = table_texts(panel)
    assert [row[0] for row in rows[:2]] == ["Patrons", "Estimate"]
    assert rows[0][1:] == ["3 branches", "0.541", ""]
    assert len(rows) == 10
    assert not panel._curves.shows_content
    session.window.context.selection.select_node((0,))  # under Full, Hungry tied with four others
    rows = table_texts(wait_for(qtbot, session, (0,)))
    assert [row[2] for row in rows[:6]] == ["0.252"] + ["= 0.252"] * 4 + ["0.109"]
    assert len(rows) == 9
    assert "Patrons" not in [row[0] for row in rows]

    settings = {"min_samples_leaf": 1, "max_depth": None, "confidence": None}
    run_id = train(qtbot, session, "tree", algorithm="c4.5", **settings)
    session.window.context.selection.select_node(())
    told, tree = panel.findChild(QLabel, "splits.arithmetic"), document.run(run_id).result.trees[0]
    qtbot.waitUntil(lambda: panel._study.tree is tree and panel._study.path == (), timeout=60_000)
    assert told.text().endswith("= 0.541 bits; ratio 0.541/1.46 = 0.371")
    panel.resize(700, 400)
    heads = [panel.model.headerData(k, Qt.Orientation.Horizontal) for k in range(5)]
    assert heads == ["Column", "Best question", "Gain", "Gain ratio", "On validation"]
    assert table_texts(panel)[0][2:] == ["0.541", "0.371", ""]
    tip = panel.model.index(9, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "Passed over: it gains less than the columns on average" in tip


def test_an_ensemble_says_why_it_has_no_candidates(qtbot, session):
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=3)
    session.window.centre.show_view("splits")
    texts = [label.text() for label in panel_of(session).findChildren(QLabel)]
    assert "Trees of ensembles were grown on drawn rows." in texts


def test_candidates_are_never_looked_for_in_the_rows_of_another_model(qtbot, session):
    session.window.show()
    document, selection = session.document, session.window.context.selection
    document.open_table(load_sample("penguins"))
    first = train(qtbot, session, "tree")
    document.set_roles(["flipper_length_mm"], "ignored")
    second = train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    document.select_run(first)
    panel = panel_of(session)
    tree = document.run(first).result.trees[0]
    qtbot.waitUntil(lambda: panel._study is not None and panel._study.tree is tree, timeout=60_000)
    document.select_run(second)
    selection.select_node((0,))  # before the second model's first study has ended
    tree = document.run(second).result.trees[0]
    qtbot.waitUntil(lambda: panel._study.tree is tree and panel._study.path == (0,), timeout=60_000)
    columns = {row.column for row in panel.figure.rows}
    assert "flipper_length_mm" not in columns
    assert columns <= set(document.run(second).result.features)
    assert panel.figure.rows[0].is_taken


def test_c14_an_equally_good_choice_is_told(qtbot, session):
    session.window.show()
    document = session.document
    document.open_table(
        make_table("ties", {"p": [1, 2, 3, 4], "q": [1, 2, 3, 4], "y": ["no", "no", "yes", "yes"]})
    )
    document.set_roles(["p", "q"], "feature")
    document.set_target("y")
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    train(qtbot, session, "tree", min_samples_leaf=1)
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    assert [(row.column, row.is_taken, row.is_tied) for row in panel.figure.rows] == [
        ("p", True, True), ("q", False, True),
    ]  # fmt: skip
    told = panel.findChild(QLabel, "splits.arithmetic").text().split("\n")
    assert told[0].endswith("= 0.5")
    assert told[1] == "Equally good: q; of columns that gain as much the first in the table is asked."
    tip = panel.model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "the first column in the table is taken" in tip


# ---- forcing a candidate ---------------------------------------------------------------------------


def open_candidates(qtbot, session):
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    return wait_for(qtbot, session, ())


def force_by(panel, table, how):
    if how == "button":
        QTest.mouseClick(panel.findChild(QWidget, "splits.force"), LEFT)
    elif how == "enter":
        table.setFocus()
        QTest.keyClick(table, Qt.Key.Key_Return)
    elif how == "double click":
        at = table.visualRect(table.currentIndex()).center()
        QTest.mouseClick(table.viewport(), LEFT, pos=at)
        QTest.mouseDClick(table.viewport(), LEFT, pos=at)
    else:
        table.customContextMenuRequested.emit(table.visualRect(table.currentIndex()).center())
        menu = next(menu for menu in panel.findChildren(QMenu) if menu.isVisible())
        QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(menu.actions()[0]).center())


@pytest.mark.parametrize("how", ["button", "enter", "double click", "menu"])
def test_a_candidate_is_forced(qtbot, session, how):
    panel = open_candidates(qtbot, session)
    document = session.document
    grown = document.current_run.result.trees[0]
    table = panel.findChild(QTableView, "splits.table")
    table.selectRow(0)
    assert not panel.findChild(QWidget, "splits.force").isEnabled()  # the node asks it already
    at = next(k for k, row in enumerate(panel.figure.rows) if not row.is_taken)
    table.selectRow(at)
    candidate = panel._study.found[at]
    force_by(panel, table, how)
    tree = document.current_run.result.trees[0]
    assert (tree.n_nodes, tree.feature[0], tree.kind[0]) == (3, candidate.feature, candidate.split.kind)
    assert tree.gain[0] == pytest.approx(candidate.gain)
    assert tree.missing_child[0] == candidate.split.missing_child or candidate.split.missing_child < 0
    wait_for(qtbot, session, ())
    qtbot.waitUntil(lambda: panel._study.tree is tree, timeout=60_000)
    assert panel.figure.rows[0].feature == grown.feature[0]
    session.window.actions_["action.edit.undo"].trigger()
    assert document.current_run.result.trees[0] is grown


def test_every_candidate_is_forced_as_it_was_shown(qtbot, session):
    panel = open_candidates(qtbot, session)
    found, specs = panel._study.found, panel._study.rows.features
    result, table = session.document.current_run.result, session.document.table
    for candidate in found:
        answer = answer_of(candidate, specs[candidate.feature])
        tree = editing.force_split(result, table, (), specs[candidate.feature].name, answer).trees[0]
        assert tree.gain[0] == pytest.approx(candidate.gain), specs[candidate.feature].name
        assert not can_force(candidate, tree, 0)


def test_limits_on_leaves_keep_missing_values_where_the_candidate_has_them(qtbot, session):
    """Without the missing one the left leaf has four rows of five; turned by hand it can be forced back."""
    session.window.show()
    document = session.document
    cells = {"x": [1] * 4 + [None] + [2] * 5, "y": ["no"] * 4 + ["yes"] * 6}
    document.open_table(make_table("limits", cells))
    document.set_roles(["x"], "feature")
    document.set_target("y")
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    run_id = train(qtbot, session, "tree", min_samples_leaf=5)
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    grown = document.current_run.result.trees[0]
    assert (grown.missing_child[0], grown.gain[0]) == (0, pytest.approx(0.32))
    for change in (document.prune, document.flip_missing):
        change(run_id, ())
        changed = document.current_run.result.trees[0]
        qtbot.waitUntil(lambda changed=changed: panel._study.tree is changed, timeout=60_000)
        panel.table.selectRow(0)
        assert panel._study.found[0].gain == pytest.approx(0.32)
        force = panel.findChild(QWidget, "splits.force")
        qtbot.waitUntil(force.isEnabled)
        force_by(panel, panel.table, "button")
        forced = document.current_run.result.trees[0]
        assert (forced.missing_child[0], forced.gain[0]) == (0, pytest.approx(0.32))
        qtbot.waitUntil(lambda forced=forced: panel._study.tree is forced, timeout=60_000)
        assert not force.isEnabled()


def test_a_click_on_the_curve_takes_its_threshold_into_the_dialog(qtbot, session):
    panel = open_candidates(qtbot, session)
    grown = session.document.current_run.result.trees[0]
    table = panel.findChild(QTableView, "splits.table")
    at = next(k for k, row in enumerate(panel.figure.rows) if row.column == "body_mass_g")
    table.selectRow(at)
    plot, curve = panel.plot, panel.figure.curves[panel.figure.rows[at].feature]
    threshold = float(curve.thresholds[len(curve.thresholds) // 3])
    QApplication.processEvents()
    scene = plot.plot.vb.mapViewToScene(QPointF(threshold, 0.5 * float(curve.gains.max())))
    QTest.mouseClick(plot.viewport(), LEFT, pos=plot.mapFromScene(scene))
    dialog = session.window.findChild(QDialog, "split")
    assert dialog.findChild(ComboBox, "split.column").currentText() == "body_mass_g"
    shown = float(dialog.findChild(QLineEdit, "split.threshold").text())
    assert shown == pytest.approx(threshold, rel=0.02)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    tree = session.document.current_run.result.trees[0]
    assert (tree.n_nodes, tree.threshold[0]) == (3, shown)
    session.window.actions_["action.edit.undo"].trigger()
    assert session.document.current_run.result.trees[0] is grown


def test_long_names_and_many_classes_leave_room_for_question_and_figures(qtbot, session):
    rows = np.arange(96)
    name = "a very long name of a column that measures the temperature outside"
    table = {name: rows // 2 + 0.5, "y": [f"class {row // 12}" for row in rows]}
    session.window.show()
    session.document.open_table(make_table("long", pd.DataFrame(table)))
    session.document.set_target("y")
    session.document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    panel.resize(390, 300)
    told = panel.findChild(QLabel, "splits.arithmetic")
    root = session.document.current_run.result.trees[0]
    left, right = (number(float(root.impurity[k])) for k in root.children(0))
    n_left, n_right = (int(root.n_node_samples[k]) for k in root.children(0))
    assert f"[{n_left}/96 G({left}) + {n_right}/96 G({right})]" in plain(told)
    candidates = panel.table
    head = candidates.horizontalHeader()
    assert head.length() <= candidates.viewport().width()
    assert head.sectionSize(1) >= candidates.sizeHintForColumn(1)
    for column in range(2, head.count()):
        assert head.sectionSize(column) >= candidates.sizeHintForColumn(column)


@pytest.mark.parametrize(("missing", "question"), [("level", "3 branches, missing: its own"),
                                                   ("learned", "2 branches, missing: red")])  # fmt: skip
def test_missing_has_a_branch_of_its_own_or_joins_one(qtbot, session, missing, question):
    document = session.document
    cells = {"colour": ["red", "blue", None] * 8, "y": ["no", "yes", "no"] * 8}
    document.open_table(make_table("colours", cells))
    document.set_target("y")
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    train(qtbot, session, "tree", algorithm="id3", missing=missing, min_samples_leaf=1)
    session.window.centre.show_view("splits")
    panel = wait_for(qtbot, session, ())
    qtbot.waitUntil(lambda: panel.figure is not None)
    panel.resize(700, 400)
    assert [row[1] for row in table_texts(panel)] == [question]


@pytest.mark.parametrize("width", [390, 376])
def test_in_a_narrow_view_questions_leave_where_missing_values_go_to_the_tool_tip(qtbot, session, width):
    panel = open_candidates(qtbot, session)
    names = {row.column: row.full_question for row in panel.figure.rows}
    assert re.fullmatch(r"≤ 207\.5, missing: (yes|no)", names["flipper_length_mm"])
    panel.resize(700, 400)
    table, model = panel.table, panel.model
    assert [row[:2] for row in table_texts(panel)] == [list(pair) for pair in names.items()]
    panel.resize(width, 300)
    assert [row[1] for row in table_texts(panel)] == [text.split(", missing")[0] for text in names.values()]
    heads = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(4)]
    assert heads == ["Column", "Question", "Gain", "Validation"]
    for at, row in enumerate(panel.figure.rows):
        assert row.full_question in model.index(at, 1).data(Qt.ItemDataRole.ToolTipRole)
    head = table.horizontalHeader()
    assert head.length() <= table.viewport().width()
    for at in range(head.count()):  # nothing is cut
        assert head.sectionSize(at) >= max(table.sizeHintForColumn(at), head.sectionSizeHint(at))
    panel.resize(700, 400)
    assert model.headerData(3, Qt.Orientation.Horizontal) == "On validation"


def test_a_low_gain_curve_names_its_column_in_the_title_alone(qtbot, session):
    panel = open_candidates(qtbot, session)
    plot, column = panel.plot, panel.figure.rows[0].column
    axis = plot.plot.getAxis("bottom")
    plot.resize(376, 130)
    assert plot.header.texts[0].endswith(f"gain over {column}")
    assert not axis.label.isVisible()
    plot.resize(376, 400)
    assert axis.labelText == column
    assert axis.label.isVisible()


def test_what_is_told_at_the_pointer_stands_whole_in_a_low_plot(qtbot, session):
    panel = open_candidates(qtbot, session)
    plot, curve = panel.plot, panel.figure.curves[panel.figure.rows[0].feature]
    plot.resize(376, 130)
    QApplication.processEvents()
    picture = QRectF(plot.rect())
    for threshold in curve.thresholds[[0, len(curve.thresholds) // 2, -1]]:
        for gain in (0.0, float(curve.gains.max())):
            point = QPointF(float(threshold), gain)
            plot.show_hover(plot.hover_text(point), point)
            told = plot._hover.mapRectToScene(plot._hover.boundingRect())
            assert picture.contains(told), "a line of it is cut off"
            assert not told.contains(plot.plot.vb.mapViewToScene(point)), "it hides what it is about"
            assert plot._hover.parentItem() is None, "the plot would clip it"


def test_the_row_that_was_forced_stays_chosen(qtbot, session):
    panel = open_candidates(qtbot, session)
    table = panel.table
    at = next(k for k, row in enumerate(panel.figure.rows) if row.column == "island")
    assert at > 0
    table.selectRow(at)
    session.window.actions_[FORCE].trigger()
    tree = session.document.current_run.result.trees[0]
    qtbot.waitUntil(lambda: panel._study.tree is tree, timeout=60_000)
    assert panel.figure.rows[table.currentIndex().row()].column == "island"
    session.window.context.selection.select_node((0,))
    qtbot.waitUntil(lambda: panel._study.path == (0,), timeout=60_000)
    assert table.currentIndex().row() == 0  # another node: its best question


def test_no_candidate_is_forced_before_there_are_any(window):
    window.ensure_centre()
    assert not window.actions_[FORCE].isEnabled()


def test_behind_a_tab_no_candidate_of_another_node_is_forced(qtbot, session):
    panel = open_candidates(qtbot, session)
    panel.findChild(QTableView, "splits.table").selectRow(1)
    force, centre = session.window.actions_[FORCE], session.window.centre
    assert force.isEnabled()
    centre.show_view("training")
    qtbot.waitUntil(lambda: panel.visibleRegion().isEmpty())
    session.window.context.selection.select_node((0,))
    assert not force.isEnabled()
    tree = session.document.current_run.result.trees[0]
    force.trigger()
    assert session.document.current_run.result.trees[0] is tree
    centre.show_view("splits")
    wait_for(qtbot, session, (0,))
    panel.findChild(QTableView, "splits.table").selectRow(1)
    assert force.isEnabled()
