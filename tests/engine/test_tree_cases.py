"""Field cases of single trees that no other file holds: see the case's number in each docstring."""

import sys

import numpy as np
import pandas as pd
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.export.json import from_json, to_json
from engine.jit import kernel
from engine.predict import tree_values
from engine.surface import tree_curve, tree_surface
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.candidates import NodeRows, candidates
from engine.tree.cost_complexity import cut_prices, path_losses, prune_at, pruning_path
from engine.tree.edit import Edit, replay
from engine.tree.growth_rules import make_rules
from engine.tree.inspect import decision_path, describe, format_threshold, merged_rule, threshold_gap
from engine.tree.presort import presort
from engine.tree.prune import prune
from engine.tree.pruning_rules import merge_same_prediction_leaves, pessimistic_prune, reduced_error_prune
from engine.tree.regrow import regrow, training_data
from engine.tree.structure import LEAF, THRESHOLD, Tree

SEEDS = range(20)


# --- C09 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [["A", "B"], ["B", "A"]])
def test_c09_the_words_of_the_split_are_is_missing(names):
    nan = np.nan
    table = pd.DataFrame({"A": [0, 0, 0, 0, nan, nan, nan, nan], "B": [1, 2, 1, 2, 1, 2, 1, 2.0]})[names]
    model = DecisionTreeRegressor(max_depth=1, min_impurity_decrease=0.25)
    model.fit(table, [0, 0, 0, 0, 1, 1, 1, 1])
    told = describe(model.tree_, model.features_)
    assert (told.rule(0), told.full_rule(0)) == ("A is missing", "A is missing")
    assert [told.edge(child, 0) for child in (1, 2)] == ["yes", "no"]
    assert merged_rule(model.tree_, (0,), model.features_) == ["A is missing"]
    assert merged_rule(model.tree_, (1,), model.features_) == ["A is not missing"]
    assert model.get_n_leaves() == 2


@kernel
def count_missing(values):
    n_missing = 0
    for x in values:
        if np.isnan(x):
            n_missing += 1
    return n_missing


def test_c09_compiled_code_knows_missing_values():
    """Fast-math flags that assume no NaN would count 0."""
    assert count_missing(np.array([np.nan, 1.0, 2.0])) == 1


# --- C10, C11 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda model: model, lambda model: from_json(to_json(model))])
def test_c10_unknown_levels_answer_alike_and_shift_no_code(again):
    colour = pd.Categorical(["a"] * 10 + ["b"] * 10 + [None] * 10)
    fitted = DecisionTreeRegressor().fit(pd.DataFrame({"colour": colour}), [0.0] * 10 + [1.0] * 20)
    model = again(fitted)
    for asked in (["a", "b", None, "zz", "aa"], ["aa", None, "a", "zz", "b"]):
        table = pd.DataFrame({"colour": pd.Categorical(asked)})
        expected = {"a": 0.0, "b": 1.0, None: 1.0, "zz": 1.0, "aa": 1.0}  # unknown levels follow missing
        assert model.predict(table).tolist() == [expected[level] for level in asked]


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c4.5"])
def test_c11_levels_are_matched_by_name_in_any_order_and_after_reloading(algorithm):
    names = ["Belgium", "France", "Germany", "Italy", "Spain"]
    table = pd.DataFrame({"land": pd.Categorical(np.repeat(names, 4))})
    model = DecisionTreeClassifier(algorithm=algorithm).fit(table, np.repeat([0, 1, 0, 1, 0], 4))
    expected = {"France": 1, "Germany": 0, "Italy": 1, "Spain": 0}
    for asked in (
        ["France", "Germany", "Italy", "Spain"],
        ["Spain", "Italy", "France", "Germany"],
        ["Italy"],
    ):
        one_level_less = pd.DataFrame({"land": pd.Categorical(asked)})
        for each in (model, from_json(to_json(model))):
            assert each.predict(one_level_less).tolist() == [expected[land] for land in asked]


# --- C14 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c4.5"])
def test_c14_the_same_tree_for_every_seed_and_order_of_rows(algorithm):
    both, x = np.repeat([[1.0], [2], [3], [4]], 2, axis=1), np.array([[1.0], [2], [3]])
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows = rng.permutation(4)
        model = DecisionTreeClassifier(algorithm=algorithm, confidence=None, random_state=seed)
        tree = model.fit(both[rows], np.array([0, 0, 1, 1])[rows]).tree_
        assert (tree.feature[0], tree.threshold[0], tree.n_leaves) == (0, 2.5, 2)
        rows = rng.permutation(3)
        tree = model.set_params(max_depth=1).fit(x[rows], np.array([0, 1, 0])[rows]).tree_
        assert (tree.threshold[0], tree.n_leaves) == (1.5, 2)


# --- C16, C17 ----------------------------------------------------------------------------------


def test_c16_the_scale_of_alpha_is_that_of_the_criterion():
    x, y = np.array([[1.0], [1], [2], [2], [2], [2]]), list("nnjjjn")
    for criterion, alpha in (("misclassification", (3 / 6 - 1 / 6) / (2 - 1)), ("gini", 0.25)):
        model = DecisionTreeClassifier(criterion=criterion).fit(x, y)
        path = pruning_path(model.tree_)
        np.testing.assert_allclose(path.alphas, [0, alpha], rtol=1e-9)
        assert path.n_leaves.tolist() == [2, 1]
        assert model.tree_.threshold[0] == 1.5
        assert model.score(x, y) == pytest.approx(5 / 6)
        root = prune_at(model.tree_, alpha + 1e-9)
        assert (root.n_nodes, root.n_node_samples[0], root.value[0].tolist()) == (1, 6, [0.5, 0.5])
        cut = DecisionTreeClassifier(criterion=criterion, ccp_alpha=alpha + 1e-9).fit(x, y)
        assert cut.score(x, y) == 0.5
    # relative to the root's error: 0.666667
    for percent, n_leaves in ((66.6666, 2), (66.6667, 1)):
        model = DecisionTreeClassifier(criterion="misclassification", min_relative_decrease=percent).fit(x, y)
        assert model.get_n_leaves() == n_leaves


def test_c17_the_weakest_link_is_the_root():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    tree = DecisionTreeClassifier().fit(X, y).tree_
    path = pruning_path(tree)
    assert path.alphas.tolist() == [0, 0.16666666666666666]
    assert path.n_leaves.tolist() == [4, 1]
    assert path.impurities.tolist() == [0, 0.5]
    assert prune_at(tree, 0.16666666666666666).n_leaves == 1
    assert prune_at(tree, 0.16666666666666663).n_leaves == 4
    for step, alpha in enumerate(path.alphas):  # entry k gives entry k's tree, and no tree lies between
        assert prune_at(tree, float(alpha), path).n_leaves == path.n_leaves[step]


# --- C41 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        ([1e-6, 2e-6, 3e-6, 4e-6], [0, 0, 1, 1], "2.5e-06"),
        ([12345678.25, 12345678.75], [0, 1], "12345678.5"),
    ],
)
def test_c41_rules_keep_the_threshold(x, y, text):
    values = np.array(x)
    model = DecisionTreeClassifier().fit(values[:, None], y)
    tree, threshold = model.tree_, float(model.tree_.threshold[0])
    assert float(text) == pytest.approx(threshold, rel=1e-15)
    for columns in ((), (values,)):
        told = describe(tree, model.features_, model.classes_, columns=columns)
        for rule in (told.rule(0), merged_rule(tree, (0,), model.features_)[0]):
            name, written = rule.split(" ≤ ")
            read_back = float(written.replace("\N{MINUS SIGN}", "-"))
            assert name == "x0"
            assert (np.where(values <= read_back, 0, 1) == model.predict(values[:, None])).all()
            assert len(written.split("e")[0].replace(".", "").lstrip("0")) >= 2
        exact = float(told.full_rule(0).split(" ≤ ")[1].replace("\N{MINUS SIGN}", "-"))
        assert exact == threshold
        assert model.predict([[exact], [np.nextafter(exact, np.inf)]]).tolist() == [0, 1]
    assert format_threshold(threshold) == text
    assert format_threshold(threshold, threshold_gap(values, threshold)) != "0.00"


# --- C42 ---------------------------------------------------------------------------------------

DEPTH = 1099


@pytest.fixture(scope="module")
def deep():
    """The case's tree: 1,100 rows, each leaving alone on its own level."""
    return DecisionTreeRegressor().fit(np.eye(DEPTH + 1), np.arange(DEPTH + 1.0))


def chain_of_columns(depth=1100):
    """The same chain with a column a level: a row of k ones and then zeros ends in the leaf of value k."""
    tree, node = chain_of_classes(depth), np.arange(2 * depth + 1)
    changes = {
        "feature": np.where(tree.is_leaf, -1, node // 2),
        "threshold": np.where(tree.is_leaf, np.nan, 0.5),
        "value": (node // 2)[:, None],
    }
    return Tree.from_arrays(tree.to_arrays() | changes)


def chain_of_classes(depth=1100):
    """x = 1 .. depth + 1, each leaving alone on its own level; the last alone is of class 1."""
    n = 2 * depth + 1
    node = np.arange(n)
    is_inner = (node % 2 == 0) & (node < n - 1)
    rows = np.where(is_inner, depth + 1 - node // 2, 1)
    share = np.where(is_inner | (node == n - 1), 1 / rows, 0.0)
    return Tree.from_arrays(
        {
            "feature": np.where(is_inner, 0, -1),
            "kind": np.where(is_inner, THRESHOLD, LEAF),
            "threshold": np.where(is_inner, node // 2 + 1.5, np.nan),
            "level_offsets": np.zeros(n + 1),
            "level_sets": np.empty((0, 2)),
            "first_child": np.where(is_inner, node + 1, -1),
            "n_children": np.where(is_inner, 2, 0),
            "missing_child": np.where(is_inner, 1, -1),
            "unseen_child": np.where(is_inner, 1, -1),
            "value": np.column_stack([1 - share, share]),
            "impurity": 2 * share * (1 - share),
            "gain": np.where(is_inner, 1e-6, 0.0),
            "n_node_samples": rows,
            "weighted_n_node_samples": rows,
            "n_missing": np.zeros(n),
        }
    )


def test_c42_a_tree_of_1099_levels_grows_and_predicts(deep):
    tree, X, y = deep.tree_, np.eye(DEPTH + 1), np.arange(DEPTH + 1.0)
    assert sys.getrecursionlimit() == 1000
    assert (deep.get_depth(), tree.n_leaves, tree.n_nodes) == (DEPTH, DEPTH + 1, 2 * DEPTH + 1)
    assert deep.predict(X).tolist() == y.tolist()
    tree.validate()
    best_first = DecisionTreeRegressor(max_leaf_nodes=DEPTH + 1).fit(X, y)
    assert best_first.tree_ == tree
    again = from_json(to_json(deep))
    assert again.tree_ == tree
    assert again.predict(X).tobytes() == y.tobytes()


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c4.5"])
def test_c42_every_algorithm_grows_a_tree_of_1100_levels(algorithm):
    """Classes in turn, each row lighter than the one before: the heaviest is split off on every level."""
    x, y, w = np.arange(1101.0)[:, None], np.arange(1101) % 2, 1e90 * 1.5 ** -np.arange(1101.0)
    model = DecisionTreeClassifier(algorithm=algorithm, criterion="entropy", confidence=None).fit(x, y, w)
    assert (model.get_depth(), model.get_n_leaves()) == (1100, 1101)
    assert model.predict(x).tolist() == y.tolist()
    assert from_json(to_json(model)).tree_ == model.tree_
    pruned = pessimistic_prune(model.tree_)
    assert pruned == pessimistic_prune(pruned)
    assert merge_same_prediction_leaves(model.tree_, is_classifier=True) == model.tree_
    deepest = model.tree_.path_to(model.tree_.n_nodes - 1)
    assert merged_rule(model.tree_, deepest, model.features_) == ["x0 > 1099.5"]


def test_c42_a_deep_tree_is_pruned_by_every_rule(deep):
    tree, X, y = deep.tree_, np.eye(DEPTH + 1), np.arange(DEPTH + 1.0)
    ones = np.ones(DEPTH + 1)
    path = pruning_path(tree)
    assert np.all(np.diff(path.alphas) > 0)
    assert (path.n_leaves[0], path.n_leaves[-1]) == (DEPTH + 1, 1)
    assert [prune_at(tree, float(a), path).n_leaves for a in path.alphas[::300]] == path.n_leaves[
        ::300
    ].tolist()
    losses = path_losses(tree, path, path.alphas, X, y, ones, loss="squared_error").means()
    assert losses.mean[0] == 0
    assert losses.mean[-1] == pytest.approx(y.var())
    prices = cut_prices(tree, X, y, ones, loss="squared_error")
    assert prices[0] == pytest.approx(y.var())
    assert reduced_error_prune(tree, X, y, ones, loss="squared_error") == tree
    assert reduced_error_prune(tree, X, 0 * y + y.mean(), ones, loss="squared_error").n_nodes == 1
    assert merge_same_prediction_leaves(tree, is_classifier=False) == tree
    deepest = tree.path_to(tree.n_nodes - 1)
    assert len(deepest) == DEPTH
    cut, lost = replay([Edit("prune", deepest[:-1]), Edit("prune", deepest[:600])], tree)
    assert (cut.max_depth, lost) == (600, [])
    assert (
        DecisionTreeRegressor(ccp_alpha=float(path.alphas[-2])).fit(X, y).get_n_leaves() == path.n_leaves[-2]
    )


def test_c42_a_deep_tree_of_classes_is_pruned_by_every_rule():
    tree = chain_of_classes()
    tree.validate()
    assert tree.max_depth == 1100
    x, y = np.arange(1.0, 1102.0)[:, None], np.r_[np.zeros(1100), 1.0]
    assert np.argmax(tree_values([tree], x), axis=1).tolist() == y.tolist()
    assert merge_same_prediction_leaves(tree, is_classifier=True) == tree  # the last leaf is of another class
    assert reduced_error_prune(tree, x, y, np.ones(1101), loss="misclassification") == tree
    assert reduced_error_prune(tree, x, 0 * y, np.ones(1101), loss="misclassification").n_nodes == 1
    assert pessimistic_prune(tree).n_nodes == 1  # one error in 1,101 rows against 1,101 leaves of one row


def test_c42_a_deep_tree_is_read_and_drawn_as_a_surface(deep):
    tree, rows = deep.tree_, np.eye(DEPTH + 1)
    told = describe(tree, deep.features_)
    assert all(told.rule(node) for node in np.flatnonzero(~tree.is_leaf))
    deepest = tree.n_nodes - 1
    rule = merged_rule(tree, tree.path_to(deepest), deep.features_)
    assert len(rule) == DEPTH
    lengths = [len(decision_path(tree, row)) for row in rows[:: DEPTH // 5]]
    assert max(lengths) <= DEPTH + 1
    assert [deep.predict(row[None])[0] for row in rows[:3]] == [0.0, 1.0, 2.0]
    asked, held = int(tree.feature[0]), np.zeros(DEPTH + 1)
    other = int(tree.feature[tree.parent[deepest]])
    cells = np.array([0.0, 1.0])
    surface = tree_surface([tree], asked, other, cells, cells, held)
    curve = tree_curve([tree], asked, cells, held)
    for i, x in enumerate(cells):
        for j, y in enumerate(cells):
            row = held.copy()
            row[asked], row[other] = x, y
            assert surface[0, j, i] == deep.predict(row[None])[0]
        row = held.copy()
        row[asked] = x
        assert curve[0, i] == deep.predict(row[None])[0]


def test_c42_a_deep_tree_is_changed_by_hand_and_looked_into(deep):
    tree, X, y = deep.tree_, np.eye(DEPTH + 1), np.arange(DEPTH + 1.0)
    data = training_data(deep, X, y)
    last = tree.path_to(tree.n_nodes - 1)
    above = last[:-1]  # two rows are left there
    asked = int(tree.feature[tree.node_at(above)])
    presorted = presort(data.X, data.features, lambda *_: False)
    rows = NodeRows(presorted, data.y, data.sample_weight, data.features, make_rules(deep, data, DEPTH + 1.0))
    found = candidates(tree, above, rows)
    assert asked in {candidate.feature for candidate in found if candidate.is_tied}
    assert candidates(tree, last, rows) == []
    cut = prune(tree, above)
    assert regrow(cut, above, deep, data) == tree
    half = prune(tree, last[:3])
    assert regrow(half, last[:3], deep, data) == tree
    other = next(candidate.feature for candidate in found if candidate.feature != asked)
    forced = force_split(tree, above, data.features[other].name, data, "squared_error", threshold=0.5)
    assert forced.max_depth == DEPTH
    assert tree_values([forced], X)[:, 0].tolist() == y.tolist()
    turned = set_missing_direction(tree, above, 1 - int(tree.missing_child[tree.node_at(above)]), data)
    assert turned.max_depth == DEPTH


# --- C47 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c4.5"])
def test_c47_levels_do_not_wrap_at_256(algorithm):
    codes = np.repeat(np.arange(300), 3)
    X, y = pd.DataFrame({"lev": pd.Categorical(codes)}), (codes >= 256).astype(int)
    model = DecisionTreeClassifier(algorithm=algorithm, confidence=None).fit(X, y)
    assert model.score(X, y) == 1.0
    assert from_json(to_json(model)).score(X, y) == 1.0


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c4.5"])
def test_c47_a_level_for_every_row_ends_with_little_to_log(algorithm, caplog):
    n = 50_000
    X = pd.DataFrame({"name": pd.Categorical([f"p{i:05d}" for i in range(n)])})
    with caplog.at_level("DEBUG"):
        model = DecisionTreeClassifier(algorithm=algorithm, confidence=None).fit(X, np.arange(n) % 2)
    assert model.predict(X.iloc[:4]).tolist() == [0, 1, 0, 1]
    assert len(caplog.text) < 1_000_000
