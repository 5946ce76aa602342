"""Exact trees against brute force and worked numbers."""

import numpy as np
import pandas as pd
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import ParameterError
from engine.jit import is_compiling
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, THRESHOLD, compact
from tests.engine import naive

CRITERIA = ["gini", "entropy", "misclassification", "squared_error", "poisson", "absolute_error"]
OF_NUMBERS = ("squared_error", "poisson", "absolute_error")

RESTAURANT = """\
Alternate Bar Fri Hungry Patrons Price Rain Reservation Type Estimate WillWait
Yes No No Yes Some $$$ No Yes French 0-10 Yes
Yes No No Yes Full $ No No Thai 30-60 No
No Yes No No Some $ No No Burger 0-10 Yes
Yes No Yes Yes Full $ Yes No Thai 10-30 Yes
Yes No Yes No Full $$$ No Yes French >60 No
No Yes No Yes Some $$ Yes Yes Italian 0-10 Yes
No Yes No No None $ Yes No Burger 0-10 No
No No No Yes Some $$ Yes Yes Thai 0-10 Yes
No Yes Yes No Full $ Yes No Burger >60 No
Yes Yes Yes Yes Full $$$ No Yes Italian 10-30 No
No No No No None $ No No Thai 0-10 No
Yes Yes Yes Yes Full $ No No Burger 30-60 Yes"""


def restaurant():
    names, *rows = [line.split() for line in RESTAURANT.splitlines()]
    table = pd.DataFrame(rows, columns=names).astype("category")
    return table.drop(columns="WillWait"), table["WillWait"]


def random_table(seed, n_classes, n_rows=60, criterion=""):
    """Two numbers with ties, two categories of up to 8 levels, missing values, weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n_rows).round(1),
            rng.integers(0, 8, n_rows),
            rng.integers(0, 5, n_rows),
            rng.integers(0, 3, n_rows),
        ]
    ).astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[:, 2] = np.where(seed % 2, rng.permutation(n_rows), X[:, 2])  # a column without missing values
    w = rng.integers(1, 4, n_rows) * (1.0 if seed % 3 else 0.37)
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows) + 1000.0
    if criterion == "poisson":
        y = rng.poisson(0.9, n_rows)
    return X, y, w


def make(criterion, **settings):
    kind = DecisionTreeRegressor if criterion in OF_NUMBERS else DecisionTreeClassifier
    return kind(criterion=criterion, **settings)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [
        ("gini", 2),
        ("gini", 4),
        ("entropy", 2),
        ("entropy", 3),
        ("misclassification", 2),
        ("misclassification", 3),
        ("squared_error", 0),
        ("poisson", 0),
        ("absolute_error", 0),
    ],
)
def test_every_split_is_the_best_of_all(criterion, n_classes, seed):
    X, y, w = random_table(seed, n_classes, criterion=criterion)
    model = make(criterion, categorical_features=[1, 3]).fit(X, y, w)
    tree, is_level = model.tree_, [False, True, False, True]
    tree.validate()
    for node, rows in enumerate(naive.rows_by_node(tree, X)):
        best = naive.best_gain(X[rows], y[rows], w[rows], is_level, criterion, n_classes)
        if tree.kind[node] == LEAF:
            assert best is None or len(set(y[rows])) == 1
        else:
            assert tree.gain[node] == pytest.approx(best, abs=1e-12)
            first = naive.child_of(tree, node, np.nan)
            x = X[rows, tree.feature[node]]
            goes_left = np.array([naive.child_of(tree, node, value) == 0 for value in x])
            assert naive.gain(criterion, goes_left, y[rows], w[rows], n_classes) == pytest.approx(
                tree.gain[node], abs=1e-12
            )
            assert first in (0, 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("criterion", "n_classes", "levels"),
    [
        ("gini", 4, [1, 3]),
        ("entropy", 3, [1, 3]),
        ("gini", 2, []),
        ("entropy", 2, []),
        ("misclassification", 3, [1, 3]),
        ("misclassification", 2, []),
        ("squared_error", 0, []),
        ("poisson", 0, []),
        ("absolute_error", 0, [1, 3]),
    ],
)
def test_the_best_split_that_leaves_enough_rows_on_both_sides(criterion, n_classes, levels, seed):
    """Levels only where all partitions are tried: the order by means is exact without a limit alone (D29)."""
    X, y, w = random_table(seed, n_classes, 80, criterion)
    tree = make(criterion, categorical_features=levels, min_samples_leaf=9).fit(X, y, w).tree_
    is_level = [feature in levels for feature in range(4)]
    assert tree.n_leaves > 3
    for node, rows in enumerate(naive.rows_by_node(tree, X)):
        assert len(rows) >= 9
        best = naive.best_gain(X[rows], y[rows], w[rows], is_level, criterion, n_classes, min_samples_leaf=9)
        if tree.kind[node] == LEAF:
            assert best is None or len(set(y[rows])) == 1
        else:
            assert tree.gain[node] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_first_growth_without_a_binding_limit_is_the_same_tree(criterion, seed):
    n_rows = 150 if is_compiling() else 60  # plain Python looks for medians for a long time
    X, y, w = random_table(seed, 0 if criterion in OF_NUMBERS else 3, n_rows, criterion)
    settings = {"categorical_features": [1, 3], "min_samples_leaf": 3}
    depth_first = make(criterion, **settings).fit(X, y, w).tree_
    for limit in (depth_first.n_leaves, 10_000):
        assert make(criterion, max_leaf_nodes=limit, **settings).fit(X, y, w).tree_ == depth_first


@pytest.mark.parametrize("seed", range(3))
def test_best_first_growth_splits_the_largest_decrease_next(seed):
    """One leaf more is one split more, always of the leaf that gains most."""
    X, y, w = random_table(seed, 3, 150)
    trees = [
        DecisionTreeClassifier(categorical_features=[1, 3], max_leaf_nodes=n).fit(X, y, w).tree_
        for n in range(2, 16)
    ]
    whole = DecisionTreeClassifier(categorical_features=[1, 3]).fit(X, y, w).tree_
    decrease = whole.gain * whole.weighted_n_node_samples
    split, frontier = set(), {()}
    for tree in trees:
        chosen = max(frontier, key=lambda path: decrease[whole.node_at(path)])
        split.add(chosen)
        frontier = (frontier - {chosen}) | {(*chosen, 0), (*chosen, 1)}
        assert {tree.path_to(node) for node in np.flatnonzero(~tree.is_leaf)} == split


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 9}, {"max_depth": 3}, {"min_samples_leaf": 4}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_add_up_at_every_node(criterion, settings, seed):
    n_classes = 0 if criterion in OF_NUMBERS else 3
    X, y, w = random_table(seed, n_classes, 150, criterion)
    tree = make(criterion, categorical_features=[1, 3], **settings).fit(X, y, w).tree_
    rows = naive.rows_by_node(tree, X)
    assert tree.n_node_samples.tolist() == [len(r) for r in rows]
    np.testing.assert_allclose(tree.weighted_n_node_samples, [w[r].sum() for r in rows])
    for node, node_rows in enumerate(rows):
        expected = naive.impurity(criterion, y[node_rows], w[node_rows], n_classes)
        assert tree.impurity[node] == pytest.approx(expected, abs=1e-12)
        if n_classes:
            fractions = np.bincount(y[node_rows], weights=w[node_rows], minlength=3) / w[node_rows].sum()
        else:
            fractions = [naive.answer(criterion, y[node_rows], w[node_rows])]
        np.testing.assert_allclose(tree.value[node], fractions, rtol=1e-12)
        if tree.kind[node] == LEAF:
            assert (tree.feature[node], tree.n_missing[node], tree.gain[node]) == (-1, 0, 0.0)
            continue
        x = X[node_rows, tree.feature[node]]
        assert tree.n_missing[node] == np.isnan(x).sum()
        left, right = (tree.weighted_n_node_samples[child] for child in tree.children(node))
        larger = 0 if left >= right else 1
        if tree.n_missing[node] == 0:
            assert tree.missing_child[node] == tree.unseen_child[node] == larger
        if tree.kind[node] == THRESHOLD:
            left_x, right_x = x[x <= tree.threshold[node]], x[x > tree.threshold[node]]
            assert left_x.max() <= tree.threshold[node] < right_x.min()
            assert tree.threshold[node] == (left_x.max() + right_x.min()) / 2
        if tree.kind[node] == LEVEL_SET:
            assert tree.levels(node)[:, 0].tolist() == sorted(set(x[~np.isnan(x)].astype(int)))
            check_yes_side(tree.levels(node))


def check_yes_side(levels):
    """Child 0 holds fewer levels; on a tie the lowest code."""
    n_yes, n_no = (levels[:, 1] == 0).sum(), (levels[:, 1] == 1).sum()
    assert n_yes < n_no or (n_yes == n_no and levels[0, 1] == 0)


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 9}])
def test_nodes_are_numbered_canonically(settings):
    X, y, w = random_table(0, 3, 150)
    tree = DecisionTreeClassifier(categorical_features=[1, 3], **settings).fit(X, y, w).tree_
    assert compact(tree.to_arrays()) == tree


def test_the_restaurant_root_is_some_patrons():
    X, y = restaurant()
    for criterion, expected in (("entropy", 0.459148), ("gini", 0.25)):
        model = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
        tree, patrons = model.tree_, X.columns.get_loc("Patrons")
        assert (tree.feature[0], tree.kind[0]) == (patrons, LEVEL_SET)
        assert tree.gain[0] == pytest.approx(expected, abs=1e-6)
        levels = [model.features_[patrons].levels[code] for code, child in tree.levels(0) if child == 0]
        assert levels == ["Some"]
        assert tree.value[1].tolist() == [0.0, 1.0]


def gain_of_counts(criterion, left, right):
    """Gain of the one split of a table with class counts left and right of it."""
    counts = np.array([left, right])
    x = np.repeat([0.0, 1.0], counts.sum(axis=1))
    y = np.concatenate([np.repeat([0, 1], left), np.repeat([0, 1], right)])
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(x[:, None], y).tree_
    return tree.impurity[0], tree.gain[0], tree.impurity[1:].tolist()


@pytest.mark.parametrize(
    ("criterion", "left", "right", "root", "gain"),
    [
        ("entropy", (24, 1), (25, 50), None, 0.250417),
        ("entropy", (0, 50), (49, 50), 0.913756, 0.249376),
        ("gini", (0, 50), (49, 50), None, 0.109241),
        ("entropy", (1, 3), (1, 2), None, 0.005978),
        ("entropy", (0, 2), (2, 3), None, 0.169584),
        ("gini", (1, 4), (2, 3), 0.42, 0.42 - 0.40),
        ("gini", (0, 5), (3, 2), 0.42, 0.42 - 0.24),
        ("gini", (8, 2), (2, 8), 0.5, 0.5 - 0.32),
        ("entropy", (8, 2), (2, 8), 1.0, 1.0 - 0.721928),
        ("gini", (6, 4), (4, 6), 0.5, 0.5 - 0.48),
        ("entropy", (6, 4), (4, 6), 1.0, 1.0 - 0.970951),
        ("gini", (6, 0), (4, 10), 0.5, 0.5 - 0.285714),
        ("entropy", (6, 0), (4, 10), 1.0, 1.0 - 0.604184),
    ],
)
def test_worked_gains(criterion, left, right, root, gain):
    found_root, found_gain, _ = gain_of_counts(criterion, left, right)
    assert root is None or found_root == pytest.approx(root, abs=1e-6)
    assert found_gain == pytest.approx(gain, abs=1e-6)


def test_worked_entropies_of_rain_and_clouds():
    """H(Y | raining) and H(Y | X) of 24 cloudy and 1 not, 25 and 50; knowing X never adds entropy."""
    root, gain, (raining, dry) = gain_of_counts("entropy", (24, 1), (25, 50))
    assert raining == pytest.approx(0.242292, abs=1e-6)
    assert 0.25 * raining + 0.75 * dry == pytest.approx(0.749295, abs=1e-6)
    assert root - gain == pytest.approx(0.749295, abs=1e-6)
    joint = DecisionTreeClassifier(criterion="entropy").fit(
        np.zeros((100, 1)), np.repeat(range(4), (24, 1, 25, 50))
    )
    assert joint.tree_.impurity[0] == pytest.approx(1.560573, abs=1e-6)


def test_worked_impurities():
    for counts, expected in (((2, 3), 0.48), ((2, 1, 1, 1), 0.72), ((2, 2, 1), 0.64)):
        y = np.repeat(np.arange(len(counts)), counts)
        tree = DecisionTreeClassifier().fit(np.zeros((5, 1)), y).tree_
        assert tree.impurity[0] == pytest.approx(expected, abs=1e-12)
    for counts, expected in (((8, 1), 0.503258), ((4, 5), 0.991076), ((1, 1), 1.0)):
        y = np.repeat([0, 1], counts)
        tree = DecisionTreeClassifier(criterion="entropy").fit(np.zeros((len(y), 1)), y).tree_
        assert tree.impurity[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 4}])
def test_xor_grows_four_pure_leaves_through_a_root_without_gain(settings):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    model = DecisionTreeClassifier(**settings).fit(X, y)
    assert model.tree_.gain[0] == 0.0
    assert model.get_n_leaves() == 4
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("repeated", [False, True])
def test_the_least_decrease_is_scaled_by_weight(repeated):
    """Case C26."""
    x, y, w = np.array([0, 0, 1, 1.0]), np.array(["A", "B", "A", "B"]), np.array([3, 1, 1, 5])
    if repeated:
        x, y, w = np.repeat(x, w), np.repeat(y, w), None
    for least, n_leaves in ((0.1633, 2), (0.1634, 1)):
        model = DecisionTreeClassifier(min_impurity_decrease=least).fit(x[:, None], y, w)
        assert model.get_n_leaves() == n_leaves
        assert model.tree_.impurity[0] == pytest.approx(0.48)


@pytest.mark.parametrize(
    ("lower", "upper", "threshold"),
    [
        (1.0e308, 1.7e308, 1.35e308),
        (-1.7e308, 1.7e308, 0.0),
        (1.0000000000000002, 1.0000000000000004, 1.0000000000000002),
        (5e-324, 1e-323, 5e-324),
        (0.0, 1e-7, 5e-8),
        (16777216.0, 16777217.0, 16777216.5),
    ],
)
def test_thresholds_lie_between_the_values(lower, upper, threshold):
    """Cases C12 and C13."""
    model = DecisionTreeClassifier().fit([[lower], [upper]], [0, 1])
    assert model.tree_.threshold[0] == threshold
    assert model.tree_.n_node_samples.tolist() == [2, 1, 1]
    assert model.predict([[lower], [upper]]).tolist() == [0, 1]


def test_a_value_equal_to_the_threshold_goes_left():
    """Case C13 (c)."""
    model = DecisionTreeClassifier().fit([[0.0], [0.4]], [0, 1])
    assert model.tree_.threshold[0] == 0.2
    assert model.predict([[0.2], [0.200000001]]).tolist() == [0, 1]


def test_minus_zero_is_zero():
    """Case C15 (b)."""
    tree = DecisionTreeClassifier().fit([[-0.0], [0.0], [1.0]], [0, 1, 1]).tree_
    assert tree.threshold[0] == 0.5
    assert tree.value[1].tolist() == [0.5, 0.5]
    as_level = DecisionTreeClassifier(categorical_features=[0]).fit([[-0.0], [0.0], [1.0]], [0, 1, 1])
    assert as_level.features_[0].levels == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_ties_go_to_the_lowest_column_then_the_lowest_threshold(seed):
    """Case C14."""
    rows = np.random.default_rng(seed).permutation(4)
    X, y = np.repeat([[1.0], [2], [3], [4]], 2, axis=1)[rows], np.array([0, 0, 1, 1])[rows]
    tree = DecisionTreeClassifier(random_state=seed).fit(X, y).tree_
    assert (tree.feature[0], tree.threshold[0]) == (0, 2.5)
    rows = rows[rows < 3]
    x, y = np.array([1.0, 2, 3])[rows], np.array([0, 1, 0])[rows]
    assert DecisionTreeClassifier(max_depth=1).fit(x[:, None], y).tree_.threshold[0] == 1.5


@pytest.mark.parametrize("columns", [(0, 1), (1, 0)])
def test_missing_or_present_is_a_split(columns):
    """Case C09."""
    nan = np.nan
    A, B = [0, 0, 0, 0, nan, nan, nan, nan], [1, 2, 1, 2, 1, 2, 1, 2.0]
    X, y = np.column_stack([A, B])[:, columns], [0, 0, 0, 0, 1, 1, 1, 1]
    trees = [
        DecisionTreeRegressor(max_depth=1, min_impurity_decrease=0.25, random_state=seed).fit(X, y).tree_
        for seed in range(20)
    ]
    tree = trees[0]
    assert all(other == tree for other in trees)
    assert (tree.kind[0], tree.feature[0]) == (IS_MISSING, columns.index(0))
    assert (tree.impurity[0], tree.gain[0]) == (0.25, 0.25)
    assert tree.value[1:, 0].tolist() == [1.0, 0.0]
    assert (tree.missing_child[0], tree.unseen_child[0], tree.n_missing[0]) == (0, 1, 4)


def test_a_column_of_nothing_but_missing_is_never_asked():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1]).tree_
    assert (tree.feature[0], tree.threshold[0]) == (1, 2.5)


def test_rows_of_weight_zero_change_nothing():
    """Case C25 (a) and (b)."""
    x = np.array([[1.0], [2], [3], [4], [1000]])
    tree = DecisionTreeRegressor(max_depth=1).fit(x, [0, 0, 1, 1, 999], [1, 1, 1, 1, 0]).tree_
    assert (tree.threshold[0], tree.n_node_samples[0], tree.value[1:, 0].tolist()) == (2.5, 4, [0.0, 1.0])
    tree = DecisionTreeRegressor(min_samples_leaf=2).fit(x[:4], [5, 0, 0, 0], [1, 1, 1, 0]).tree_
    assert (tree.n_nodes, tree.n_node_samples[0]) == (1, 3)


def test_unknown_levels_take_one_documented_side():
    """Case C10: missing was seen, so unknown levels follow it."""
    colour = pd.Categorical(["a"] * 10 + ["b"] * 10 + [None] * 10)
    model = DecisionTreeRegressor().fit(pd.DataFrame({"colour": colour}), [0.0] * 10 + [1.0] * 20)
    asked = pd.DataFrame({"colour": pd.Categorical(["a", "b", None, "zz", "aa"])})
    assert model.predict(asked).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_levels_are_matched_by_name():
    """Case C11."""
    names = ["Belgium", "France", "Germany", "Italy", "Spain"]
    table = pd.DataFrame({"land": pd.Categorical(np.repeat(names, 4))})
    model = DecisionTreeClassifier().fit(table, np.repeat([0, 1, 0, 1, 0], 4))
    asked = pd.DataFrame({"land": pd.Categorical(["France", "Germany", "Italy", "Spain"])})
    assert model.predict(asked).tolist() == [1, 0, 1, 0]


def test_three_hundred_levels_do_not_wrap():
    """Case C47 (a)."""
    codes = np.repeat(np.arange(300), 3)
    X = pd.DataFrame({"lev": pd.Categorical(codes)})
    model = DecisionTreeClassifier().fit(X, (codes >= 256).astype(int))
    assert model.score(X, (codes >= 256).astype(int)) == 1.0
    assert model.get_n_leaves() == 2


def test_many_levels_and_classes_follow_the_first_principal_component():
    """Twelve levels in two groups that differ in the classes: the groups are found."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(12), 40)
    group = np.isin(codes, [1, 4, 5, 9])
    y = np.where(group, rng.choice(3, 480, p=[0.8, 0.1, 0.1]), rng.choice(3, 480, p=[0.1, 0.45, 0.45]))
    tree = DecisionTreeClassifier(categorical_features=[0], max_depth=1).fit(codes[:, None], y).tree_
    assert [code for code, child in tree.levels(0).tolist() if child == 0] == [1, 4, 5, 9]


def test_weights_lost_in_rounding_do_no_harm():
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    w = np.array([1.0, 1e-20, 1.0, 1e-20])
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        tree = model.fit(X, y, w).tree_
        assert np.isfinite(tree.value).all()
        assert np.isfinite(tree.gain).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_depth": 0}, "max_depth is 0"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf is 1.5"),
        ({"min_samples_split": 1}, "min_samples_split is 1"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes is 1"),
        ({"max_features": 1.5}, "max_features is 1.5"),
        ({"criterion": "mse"}, "criterion is 'mse'"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf is 0.6"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ParameterError, match=message):
        DecisionTreeClassifier(**settings).fit([[0.0], [1.0]], [0, 1])


def test_shares_count_rows_rounded_up():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 3 == 0
    few = DecisionTreeClassifier(min_samples_leaf=0.21).fit(X, y).tree_
    assert few.n_node_samples[few.kind == LEAF].min() >= 5
    assert few == DecisionTreeClassifier(min_samples_leaf=5).fit(X, y).tree_
    split = DecisionTreeClassifier(min_samples_split=0.5).fit(X, y).tree_
    assert split.n_node_samples[split.kind != LEAF].min() >= 10


def test_random_columns_depend_on_the_seed_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.integers(0, 2, 200)
    trees = [DecisionTreeClassifier(max_features=2, random_state=s).fit(X, y).tree_ for s in (1, 1, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_constant_columns_do_not_count_as_drawn():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros((50, 9)), rng.normal(size=50)])
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(X, X[:, 9] > 0)
    assert model.tree_.feature[0] == 9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_tables_give_float64_thresholds(dtype):
    X = np.array([[0.1], [0.3]], dtype)
    tree = DecisionTreeClassifier().fit(X, [0, 1]).tree_
    assert tree.threshold[0] == (float(X[0, 0]) + float(X[1, 0])) / 2


def test_levels_of_equal_mean_stand_in_the_order_of_their_codes():
    """However the rows of a level add up: weights and repetition round such sums apart."""
    codes, y = np.array([0.0, 1, 2, 3, 4]), np.array([1.1, 1.1, 1.1, 1.1, 5.3])
    for w in np.array([[2, 6, 7, 8, 5], [6, 5, 4, 7, 4], [8, 1, 1, 7, 4], [1, 4, 9, 6, 4]]):
        settings = {"categorical_features": [0], "max_depth": 1, "min_weight_fraction_leaf": 0.2}
        weighted = DecisionTreeRegressor(**settings).fit(codes[:, None], y, w).tree_
        repeated = DecisionTreeRegressor(**settings).fit(np.repeat(codes, w)[:, None], np.repeat(y, w)).tree_
        assert weighted.levels(0).tolist() == repeated.levels(0).tolist()
        behind = np.cumsum(w[::-1])[::-1] / w.sum()
        first = int(np.flatnonzero(behind >= 0.2)[-1])  # the last level that has to go with level 4
        with_4 = weighted.levels(0)[:, 1] == weighted.levels(0)[4, 1]
        assert with_4.tolist() == [code >= first for code in range(5)]
