"""The nodes of a tree with what resampled rows would ask: rows in the tree's order, wins, CSV."""

import csv
import io

import numpy as np
import pytest

from engine.monitor import NULL_MONITOR
from engine.resampling.questions import ENDS, MOVED, OTHER
from tests.workbench.making import Session, open_flowers
from workbench.figures.instability import HEADS, MARK_TEXTS, make_instability
from workbench.figures.tree import tree_of_run
from workbench.instability import InstabilitySettings, grow_two, study, why_not

pytestmark = pytest.mark.usefixtures("qapp")
SETTINGS = InstabilitySettings(n_resamples=12, seed=3, first=2, second=5)


@pytest.fixture
def session(qapp):
    made = Session(open_flowers())
    yield made
    made.close()


def figure_of(session, **parameters):
    document = session.document
    run = document.run(session.train("tree", **parameters))
    found = study(run.name, run.result, document.table, SETTINGS, NULL_MONITOR).instability
    return run, make_instability(run.name, tree_of_run(run.name, run.result, 0, document.table), found)


def test_rows_stand_in_the_order_of_the_tree(session):
    run, figure = figure_of(session, max_depth=3)
    tree = run.result.trees[0]
    inner = [node for node in tree.walk() if tree.n_children[node]]
    assert figure.n_nodes == len(inner) >= 3
    assert [tree.node_at(path) for path in figure.paths] == inner
    assert figure.row_of(()) == 0
    assert figure.row_of(tree.path_to(inner[2])) == 2
    assert figure.row_of((5,)) is None
    assert [figure.n_rows(row) for row in range(figure.n_nodes)] == tree.n_node_samples[inner].tolist()
    assert figure.cell(0, 0) == figure.tree.rule(0).text
    assert figure.subtitle == "12 resamples of the 72 training rows"


def test_shares_are_those_of_the_wins(session):
    _run, figure = figure_of(session, max_depth=3)
    for row in range(figure.n_nodes):
        at = figure.places[row]
        wins, own = figure.found.wins[at], int(figure.found.own[at])
        assert figure.cell(row, HEADS.index("Same column")) == f"{100 * wins[own] / 12:.0f} %"
        shown = figure.wins_at(row)
        assert shown.values.tolist() == sorted((n for n in wins if n), reverse=True)
        assert shown.text(0) == f"{wins.max()} of 12"
        n_without = figure.found.n_without[at]
        assert wins.sum() + n_without == 12
    told = [figure.wins_at(row).subtitle for row in range(figure.n_nodes)]
    assert any("are the same question, half of all are from" in text for text in told), told


def test_csv_has_a_line_a_node_with_the_wins_of_every_column(session):
    run, figure = figure_of(session, max_depth=2)
    lines = list(csv.DictReader(io.StringIO(figure.to_csv())))
    assert lines[0]["node"] == "root"
    assert lines[0]["rows"] == "72"
    names = [f"wins of {name}" for name in run.result.features]
    for row, line in enumerate(lines):
        assert [int(line[name]) for name in names] == figure.found.wins[figure.places[row]].tolist()


def test_a_tree_without_a_question_has_no_rows(session):
    _run, figure = figure_of(session, max_depth=1, min_samples_leaf=72)
    assert figure.n_nodes == 0


def test_two_trees_are_grown_on_their_own_resamples(session):
    document = session.document
    run = document.run(session.train("tree", max_depth=3))
    found = grow_two(run.result, document.table, SETTINGS, NULL_MONITOR)
    for estimator, rows, marks in zip(found.estimators, found.rows, found.marks, strict=True):
        assert len(rows) == 72
        assert set(rows) <= set(np.flatnonzero(run.result.parts == 0))
        assert estimator.tree_.n_node_samples[0] == 72
        codes = document.table.column("kind").label_codes()[0][rows]
        np.testing.assert_allclose(estimator.tree_.value[0], np.bincount(codes, minlength=3) / 72)
        assert set(marks) == set(range(estimator.tree_.n_nodes))
    same = grow_two(run.result, document.table, InstabilitySettings(12, 3, 4, 4), NULL_MONITOR)
    assert not {mark for marks in same.marks for mark in marks.values()} & {MOVED, OTHER, ENDS}
    assert set(MARK_TEXTS) == {MOVED, OTHER, ENDS}


def test_what_is_no_single_tree_of_this_table_is_refused(session):
    document = session.document
    run_id = document.add_run("tree")
    assert why_not(None, document.table) == "there is no trained model"
    assert why_not(document.run(run_id), document.table) == "there is no trained model"
    session.retrain(run_id)
    assert why_not(document.run(run_id), document.table) == ""
    forest = session.train("forest", n_estimators=2)
    assert why_not(document.run(forest), document.table) == "it is not a single tree"
    assert why_not(document.run(run_id), open_flowers(n=60).table) != ""
