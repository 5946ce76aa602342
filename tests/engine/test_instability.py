"""What resampled rows would ask at the nodes of a tree, against stumps grown on the rows of each node."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.errors import DataError
from engine.resampling import questions
from engine.resampling.draws import TableDraws
from engine.resampling.instability import NO_COLUMN, instability
from engine.resampling.questions import Question, band, differences, likeness
from engine.resampling.refits import fit_of
from engine.tree.node_rows import rows_at, rows_by_node
from engine.tree.structure import LEVEL_SET, THRESHOLD
from tests.engine.test_resampling import StopsAfter, classes_table, numbers_table


def stump_of(model, X, y, w=None):
    """Column and threshold of the first question that the rows would ask; None where they ask none."""
    if len(y) == 0 or np.all(y == y[0]):
        return None
    stump = type(model)(**{**model.get_params(), "max_depth": 1}).fit(X, y, w).tree_
    return None if stump.n_nodes == 1 else (int(stump.feature[0]), float(stump.threshold[0]))


@pytest.mark.parametrize("kind", ["classes", "balanced", "numbers", "weighted"])
def test_each_node_asks_what_a_stump_on_its_rows_would(kind):
    X, y = numbers_table(70) if kind in ("numbers", "weighted") else classes_table(70)
    X = X.round(1)
    w = np.random.default_rng(2).integers(0, 3, 70).astype(float) if kind == "weighted" else None
    is_of_numbers = kind in ("numbers", "weighted")
    made = engine.DecisionTreeRegressor if is_of_numbers else engine.DecisionTreeClassifier
    settings = {} if is_of_numbers else {"class_weight": "balanced" if kind == "balanced" else None}
    model = made(max_depth=3, min_samples_leaf=3, **settings).fit(X, y, w)
    sets = TableDraws(X, y, w, n_sets=6)
    found = instability(model, sets)
    tree = model.tree_
    assert found.nodes.tolist() == np.flatnonzero(~tree.is_leaf).tolist()
    for number in range(6):
        rows = sets.rows(number)
        for at, node in enumerate(found.nodes.tolist()):
            inside = rows[rows_at(tree, tree.path_to(node), X[rows])]
            if kind == "balanced" and node != 0:
                continue  # a stump would balance the node's rows
            wanted = stump_of(model, X[inside], y[inside], None if w is None else w[inside])
            column, threshold = found.columns[number, at], found.thresholds[number, at]
            assert (None if column == NO_COLUMN else (column, threshold)) == wanted


def test_first_splits_are_those_of_trees_grown_on_the_resamples():
    X, y = classes_table(80)
    model = engine.DecisionTreeClassifier(max_depth=2).fit(X, y)
    sets = TableDraws(X, y, n_sets=15)
    found = instability(model, sets)
    firsts = Counter(int(fit_of(model, sets, k).tree_.feature[0]) for k in range(15))
    assert dict(found.first_splits) == dict(firsts)
    counts = [n for _, n in found.first_splits]
    assert counts == sorted(counts, reverse=True)


def test_rows_of_a_class_without_weight_are_drawn_and_then_left_out():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    y[50:] = "c"
    model = engine.DecisionTreeClassifier(max_depth=2, class_weight={"a": 1, "b": 1, "c": 0}).fit(X, y)
    sets = TableDraws(X, y, n_sets=4)
    found = instability(model, sets)
    for number in range(4):
        rows = sets.rows(number)
        wanted = stump_of(model, X[rows], y[rows])
        assert (found.columns[number, 0], found.thresholds[number, 0]) == wanted
    of_c = instability(model, TableDraws(X, y, groups=y, how="subsample", share=0.2, n_sets=9))
    assert of_c.errors == {}
    assert NO_COLUMN in of_c.columns[:, 0], "a group of these rows alone"


def test_it_counts_columns_questions_and_runners_up():
    X, y = classes_table(90)
    model = engine.DecisionTreeClassifier(max_depth=3).fit(X, y)
    found = instability(model, TableDraws(X, y, n_sets=20))
    tree, at_node = model.tree_, rows_by_node(model.tree_, X)
    for at, node in enumerate(found.nodes.tolist()):
        own, x = int(tree.feature[node]), X[at_node[node], tree.feature[node]]
        won = [int(column) for column in found.columns[:, at] if column != NO_COLUMN]
        assert found.same_column[at] == won.count(own)
        assert found.n_without[at] == 20 - len(won)
        others = [column for column in won if column != own]
        wanted = min(others, key=lambda c, o=others: (-o.count(c), c)) if others else NO_COLUMN
        assert found.runner_up[at] == wanted
        same = 0
        for column, threshold in zip(found.columns[:, at], found.thresholds[:, at], strict=True):
            moved = np.count_nonzero((x <= threshold) != (x <= tree.threshold[node]))
            is_same = bool(column == own and moved <= len(x) // 10)
            same += is_same
            if column == own:  # the band says the same
                assert (found.bands[at, 0] <= threshold < found.bands[at, 1]) == is_same
        assert found.same_question[at] == same
        assert found.place_of(node) == at
    assert found.place_of(int(np.flatnonzero(tree.is_leaf)[0])) is None
    assert 0 < found.same_question.sum() < found.same_column.sum()


def test_categories_missing_values_and_trees_with_a_branch_a_level():
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "green", "red"], 120)
    y = np.where(colour == "red", "yes", np.where(rng.random(120) < 0.3, "yes", "no"))
    number = np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120))
    table = pd.DataFrame({"colour": pd.Categorical(colour), "number": number})
    for algorithm in ("cart", "id3", "c4.5"):
        model = engine.DecisionTreeClassifier(algorithm=algorithm, max_depth=2).fit(table, y)
        found = instability(model, TableDraws(table, y, n_sets=10))
        assert found.n_resamples == 10
        assert not found.errors
        assert found.own[0] == 0
        assert found.same_column[0] == found.same_question[0] == 10
        assert np.isnan(found.bands[0]).all()


def test_a_tree_of_one_leaf_asks_nothing():
    X, y = numbers_table(20)
    model = engine.DecisionTreeRegressor(min_samples_leaf=15).fit(X, y)
    found = instability(model, TableDraws(X, y, n_sets=3))
    assert found.first_splits == []
    assert found.wins.shape == (0, 3)
    assert found.bands.shape == (0, 2)


def test_any_number_of_threads_gives_the_same_and_a_stop_what_is_done():
    X, y = classes_table(60)
    model = engine.DecisionTreeClassifier(max_depth=3).fit(X, y)
    sets = TableDraws(X, y, n_sets=12)
    one, two = (instability(model, sets, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.columns, two.columns)
    np.testing.assert_array_equal(one.thresholds, two.thresholds)
    monitor = StopsAfter(5)
    found = instability(model, sets, monitor=monitor)
    assert found.stopped
    assert 5 <= found.n_resamples < 12
    np.testing.assert_array_equal(found.columns, one.columns[: found.n_resamples])
    told = [event.so_far() for event in monitor.events if event.so_far is not None]
    assert [each.n_resamples for each in told] == sorted(each.n_resamples for each in told)


def test_another_table_is_refused():
    X, y = classes_table(60)
    model = engine.DecisionTreeClassifier(max_depth=2).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.raises(DataError, match="not the table"):
        instability(model, TableDraws(pd.DataFrame(X, columns=list("xyz")), y))


# questions


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    values=st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, np.nan]), min_size=1, max_size=40),
    own=st.sampled_from([0.5, 1.5, 2.5, 4.0]), other=st.sampled_from([0.5, 1.5, 2.5, 4.0]),
)  # fmt: skip
def test_a_threshold_is_the_same_where_a_tenth_of_the_rows_move_at_most(values, own, other):
    x = np.array(values)
    nothing = np.empty((0, 2), np.int32)
    ask = [Question(0, THRESHOLD, threshold, nothing) for threshold in (own, other)]
    present = [value for value in values if not np.isnan(value)]
    moved = sum((value <= own) != (value <= other) for value in present)
    is_same = moved <= 0.1 * len(present) - 1e-9 or moved == int(0.1 * len(present))
    assert likeness(*ask, x).is_same == is_same
    assert not likeness(*ask, x).is_swapped
    lower, upper = band(own, x)
    if not present:
        assert np.isnan([lower, upper]).all()
    elif min(present) < other < max(present):  # where thresholds lie
        assert (lower <= other < upper) == is_same


def test_parts_of_levels_are_the_same_whichever_branch_is_first():
    x = np.repeat([0.0, 1.0, 2.0], [45, 50, 5])
    first, crosswise, other, few = (
        Question(0, LEVEL_SET, np.nan, np.array(levels, np.int32))
        for levels in (
            [[0, 0], [1, 1], [2, 1]], [[0, 1], [1, 0]], [[0, 0], [1, 0], [2, 1]], [[0, 0], [1, 1], [2, 0]]
        )
    )  # fmt: skip
    assert likeness(first, first, x) == (True, False)
    assert likeness(first, crosswise, x) == (True, True)
    assert not likeness(first, other, x).is_same
    assert likeness(first, few, x) == (True, False)  # five of a hundred rows move
    assert not likeness(first, Question(0, THRESHOLD, 0.5, np.empty((0, 2), np.int32)), x).is_same


def test_two_trees_are_marked_where_they_differ():
    X, y = numbers_table(200, seed=4)
    grow = engine.DecisionTreeRegressor
    one = grow(max_depth=2).fit(X, y)
    assert set(differences(one, one, X)[0].values()) == {questions.SAME}
    deeper = grow(max_depth=3).fit(X, y)
    of_one, of_deeper = differences(one, deeper, X)
    assert sorted(of_one) == list(range(one.tree_.n_nodes))
    assert sorted(of_deeper) == list(range(deeper.tree_.n_nodes))
    leaves = np.flatnonzero(one.tree_.is_leaf)
    assert {of_one[int(leaf)] for leaf in leaves} == {questions.ENDS}
    assert Counter(of_deeper.values())[questions.BELOW] == deeper.tree_.n_nodes - one.tree_.n_nodes
    turned = grow(max_depth=2).fit(X[:, [1, 0, 2]], y)
    of_one, of_turned = differences(one, turned, X)
    assert of_one[0] == of_turned[0] == questions.OTHER
    assert {mark for node, mark in of_one.items() if node} == {questions.BELOW}
    upper = np.quantile(X, 0.8)
    far = np.where(upper < X, X, X.min())  # the first threshold moves up
    moved = grow(max_depth=1).fit(far, y)
    of_stump, _ = differences(grow(max_depth=1).fit(X, y), moved, X)
    assert of_stump == {0: questions.MOVED, 1: questions.SAME, 2: questions.SAME}


def test_trees_with_a_branch_a_level_are_compared_level_by_level():
    levels = pd.CategoricalDtype(["a", "b", "c"])
    table = pd.DataFrame({"x": pd.Categorical(list("aabbcc") * 5, dtype=levels)})
    y = np.array(["no", "no", "yes", "yes", "no", "no"] * 5)
    grow = engine.DecisionTreeClassifier(algorithm="id3")
    one = engine.DecisionTreeClassifier(algorithm="id3").fit(table, y)
    without_c = table["x"] != "c"
    other = grow.fit(table[without_c], y[without_c])
    of_one, of_other = differences(one, other, table)
    assert of_one == {0: questions.SAME, 1: questions.SAME, 2: questions.SAME, 3: questions.ENDS}
    assert of_other == {0: questions.SAME, 1: questions.SAME, 2: questions.SAME}


def test_trees_of_other_columns_are_not_compared():
    X, y = numbers_table(30)
    one = engine.DecisionTreeRegressor().fit(X, y)
    with pytest.raises(DataError, match="other columns"):
        differences(one, engine.DecisionTreeRegressor().fit(X[:, :2], y), X)
