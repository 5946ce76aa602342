import itertools
import math

import numpy as np
import pytest

from engine.features import FeatureSpec
from engine.tree.inspect import (
    decision_path,
    describe,
    edge_label,
    format_threshold,
    merged_rule,
    threshold_gap,
)
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, MULTIWAY, NO_CHILD, THRESHOLD, Tree
from tests.engine.random_trees import naive_leaf, random_tree

NAN = math.nan
FEATURES = (
    FeatureSpec("bill_length_mm"),
    FeatureSpec("island", levels=("Biscoe", "Dream", "Lost", "Torgersen", "Other")),
    FeatureSpec("size", ordered_levels=("small", "medium", "large")),
)


def chain(*nodes):
    """A tree whose every inner node continues in one child: (kind, feature, threshold, levels, child)."""
    columns = {
        name: [] for name in ("kind", "feature", "threshold", "first_child", "n_children", "missing_child")
    }
    levels, offsets = [], [0]

    def add(kind, feature, threshold, first, n, missing):
        for column, value in zip(
            columns.values(), (kind, feature, threshold, first, n, missing), strict=True
        ):
            column.append(value)

    places = [0]
    for depth, (_, _, _, _, child) in enumerate(nodes):
        places.append(1 + 2 * depth + child)
    for number in range(1 + 2 * len(nodes)):
        if number in places[:-1]:
            depth = places.index(number)
            kind, feature, threshold, pairs, _ = nodes[depth]
            add(kind, feature, threshold, 1 + 2 * depth, 2, 0)
            levels += pairs
        else:
            add(LEAF, -1, NAN, NO_CHILD, 0, NO_CHILD)
        offsets.append(len(levels))
    n = len(columns["kind"])
    ones = np.ones(n)
    return Tree.from_arrays(
        columns
        | {"unseen_child": columns["missing_child"], "level_offsets": offsets,
           "level_sets": np.array(levels, int).reshape(-1, 2), "value": ones[:, None], "impurity": 4 * ones,
           "gain": ones, "n_node_samples": ones, "weighted_n_node_samples": ones,
           "n_missing": [int(kind != LEAF and feature != 0) for kind, feature in
                         zip(columns["kind"], columns["feature"], strict=True)]}
    )  # fmt: skip


SET = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)]


@pytest.mark.parametrize(
    ("node", "rule", "full"),
    [
        ((THRESHOLD, 0, 43.349999999999994, []), "bill_length_mm ≤ 43.35",
         "bill_length_mm ≤ 43.349999999999994"),
        ((THRESHOLD, 0, -0.25, []), "bill_length_mm ≤ −0.25", "bill_length_mm ≤ −0.25"),
        ((IS_MISSING, 0, NAN, []), "bill_length_mm is missing", "bill_length_mm is missing"),
        ((THRESHOLD, 2, 1.5, []), "size ≤ medium", "size ≤ medium"),
        ((LEVEL_SET, 1, NAN, SET), "island: Biscoe, Dream + 2", "island: Biscoe, Dream, Lost, Torgersen"),
        ((MULTIWAY, 1, NAN, [(0, 0), (3, 1)]), "island", "island"),
    ],
)  # fmt: skip
def test_rules_in_words(node, rule, full):
    told = describe(chain((*node, 0)), FEATURES)
    assert [told.rule(i) for i in range(3)] == [rule, "", ""]
    assert [told.full_rule(i) for i in range(3)] == [full, "", ""]
    edges = ["Biscoe", "Torgersen"] if node[0] == MULTIWAY else ["yes", "no"]
    assert [told.edge(1, 0), told.edge(2, 0)] == edges
    np.testing.assert_array_equal(told.sd, [2, 2, 2])


def test_spread_is_told_of_means_only():
    tree = chain((THRESHOLD, 0, 1.0, [], 0))
    assert np.isnan(describe(tree, FEATURES, classes=("a", "b")).sd).all()
    assert np.isnan(describe(tree, FEATURES, is_step=True).sd).all()
    assert edge_label(tree, 0, 1, FEATURES) == "no"


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.5e-06, "2.5e-06"), (2.5e-05, "0.000025"), (12345678.5, "12345678.5"), (43.349999999999994, "43.35"),
     (0.1, "0.1"), (7.0, "7"), (-120.0, "-120"), (1e300, "1e+300"), (1 / 3, repr(1 / 3)),
     (123456.0, "123456"), (5e-324, "4.941e-324"), (0.0, "0"), (1700000001.5, "1700000001.5")],
)  # fmt: skip
def test_thresholds_without_a_table(value, text):
    assert format_threshold(value) == text
    assert abs(float(text) - value) <= 2 * math.ulp(value)


@pytest.mark.parametrize(
    ("value", "gap", "text"),
    [(1 / 3, (0.0, 1.0), "0.3333"), (12345678.5, (12345678.25, 12345678.75), "12345678.5"),
     (1.0000000000000002, (1.0000000000000002, 1.0000000000000004), "1.0000000000000002"),
     (1234567.5, (0.0, 2e6), "1235000"), (1.35e308, (1e308, 1.7e308), "1.35e+308"),
     (9.9999, (9.9998, 10.0), "9.9999"), (5e-324, (5e-324, 1e-323), "4.941e-324"),
     (43.35, (-math.inf, math.inf), "43.35")],
)  # fmt: skip
def test_thresholds_within_the_gap(value, gap, text):
    assert format_threshold(value, gap) == text
    assert gap[0] <= float(text) < gap[1]


def test_no_row_changes_side_by_the_written_threshold():
    rng = np.random.default_rng(0)
    X = np.sort(rng.normal(size=(300, 1)) * 10.0 ** rng.integers(-9, 9, (300, 1)), axis=0)
    tree = chain(*[(THRESHOLD, 0, float((X[i, 0] + X[i + 1, 0]) / 2), [], 1) for i in range(299)])
    told = describe(tree, FEATURES, columns=[X[:, 0]])
    rules = [told.rule(node) for node in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.kind == THRESHOLD):
        written = float(rules[node].split("≤ ")[1].replace("−", "-"))
        np.testing.assert_array_equal(X[:, 0] <= written, X[:, 0] <= tree.threshold[node])
    assert np.mean([len(rule) for rule in rules if rule]) < len("bill_length_mm ≤ ") + 9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaps_are_the_neighbours_and_pass_over_missing_values(dtype):
    values = np.array([1.0, 4.0, NAN, 2.0], dtype)
    assert threshold_gap(values, 2.5) == (2.0, 4.0)
    assert threshold_gap(values, 2.0) == (2.0, 4.0)
    assert threshold_gap(values, 9.0) == (4.0, math.inf)
    assert threshold_gap(values, 0.5) == (-math.inf, 1.0)
    assert threshold_gap(values[2:3], 0.5) == (-math.inf, math.inf)


def test_only_columns_that_are_given_shorten_their_thresholds():
    tree = chain((THRESHOLD, 0, 1 / 3, [], 0), (LEVEL_SET, 1, NAN, SET, 0), (THRESHOLD, 2, 0.5, [], 0))
    told = describe(tree, FEATURES, columns=[np.array([0.0, NAN, 1.0]), None, None])
    assert told.rule(0) == "bill_length_mm ≤ 0.3333"
    assert told.full_rule(0) == f"bill_length_mm ≤ {1 / 3!r}"
    assert [told.rule(node) for node in (1, 3)] == ["island: Biscoe, Dream + 2", "size ≤ small"]


@pytest.mark.parametrize("seed", range(4))
def test_decision_path_ends_in_the_leaf_of_the_row(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 30, 3, categorical=(1,))
    for _ in range(50):
        row = np.array([rng.uniform(0, 10), rng.integers(-1, 5), rng.uniform(0, 10)])
        row[rng.random(3) < 0.2] = NAN
        path = decision_path(tree, row)
        assert path[0] == 0
        assert path[-1] == naive_leaf(tree, row)
        assert all(child in tree.children(node) for node, child in itertools.pairwise(path))


def test_merged_rule_has_one_condition_a_column():
    tree = chain(
        (THRESHOLD, 0, 50.0, [], 0), (LEVEL_SET, 1, NAN, SET, 0), (THRESHOLD, 0, 40.5, [], 1),
        (LEVEL_SET, 1, NAN, [(0, 1), (1, 0), (2, 0)], 1), (THRESHOLD, 2, 0.5, [], 1),
        (THRESHOLD, 0, 60.0, [], 0),
    )  # fmt: skip
    assert merged_rule(tree, (0, 0, 1, 1, 1, 0), FEATURES) == [
        "40.5 < bill_length_mm ≤ 50",
        "island: Biscoe",
        "size > small",
    ]
    # level 3 (Torgersen), unknown to the second set, goes where unseen levels go: to the first child
    assert merged_rule(tree, (0, 0, 1, 0), FEATURES)[1] == "island: Dream, Lost, Torgersen or missing"
    assert merged_rule(tree, (), FEATURES) == []


def test_merged_rule_tells_missing():
    tree = chain((IS_MISSING, 2, NAN, [], 0), (THRESHOLD, 0, 1.0, [], 0))
    assert merged_rule(tree, (0, 1), FEATURES) == ["size is missing", "bill_length_mm > 1"]
    assert merged_rule(tree, (1,), FEATURES) == ["size is not missing"]
