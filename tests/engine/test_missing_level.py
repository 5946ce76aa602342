"""Missing as a level of its own: in partitions, as a branch of multiway splits, as a question of numbers."""

import numpy as np
import pandas as pd
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.base import begin_fit
from engine.errors import ParameterError
from engine.export.json import from_json, to_json
from engine.export.rules import to_rules
from engine.export.rules_reader import read_rules
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.candidates import NodeRows, candidates, gain_curve
from engine.tree.edit import Edit
from engine.tree.growth_rules import make_rules
from engine.tree.inspect import edge_label, merged_rule
from engine.tree.presort import presort
from engine.tree.regrow import regrow, training_data
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, MULTIWAY, THRESHOLD
from tests.engine import naive
from tests.engine.test_tree import OF_NUMBERS, make, random_table


def larger_child(tree, node):
    left, right = tree.weighted_n_node_samples[list(tree.children(node))]
    return 0 if left >= right else 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("entropy", 3), ("squared_error", 0), ("poisson", 0), ("absolute_error", 0)],
)
def test_every_split_is_the_best_of_all(criterion, n_classes, seed):
    X, y, w = random_table(seed, n_classes, criterion=criterion)
    is_level, limits = [False, True, False, True], {"min_samples_leaf": 1 if n_classes < 3 else 4}
    tree = make(criterion, categorical_features=[1, 3], missing="level", **limits).fit(X, y, w).tree_
    tree.validate()
    for node, rows in enumerate(naive.rows_by_node(tree, X)):
        if tree.kind[node] == LEAF:
            continue
        told = (X[rows], y[rows], w[rows])
        best = naive.best_gain(*told, is_level, criterion, n_classes, **limits, missing_is="level")
        assert tree.gain[node] == pytest.approx(best, abs=1e-12)
        larger = larger_child(tree, node)
        assert tree.kind[node] != IS_MISSING or tree.unseen_child[node] == 1
        if tree.kind[node] == THRESHOLD:
            assert tree.missing_child[node] == larger
        elif tree.kind[node] == LEVEL_SET:
            assert tree.unseen_child[node] == larger


def shares_table():
    """Rows that miss x are like the few rows above 5, so that learning sends them there."""
    x = np.r_[np.zeros(8), np.full(3, 9.0), np.full(3, np.nan)]
    return x[:, None], np.r_[np.zeros(8), np.ones(6)].astype(int)


def test_learned_and_level_are_different_trees():
    X, y = shares_table()
    learned = DecisionTreeClassifier().fit(X, y).tree_
    level = DecisionTreeClassifier(missing="level").fit(X, y).tree_
    assert learned.kind.tolist() == [THRESHOLD, LEAF, LEAF]
    assert (learned.threshold[0], learned.missing_child[0]) == (4.5, 1)
    # the threshold would take 8 + 3 rows to the left (gain 0.276), "is missing" leaves 8 against 3 (0.178)
    assert level.kind.tolist() == [THRESHOLD, IS_MISSING, LEAF, LEAF, LEAF]
    assert (level.threshold[0], level.missing_child[0]) == (4.5, 0)
    assert level.n_node_samples.tolist() == [14, 11, 3, 3, 8]


def test_a_row_that_misses_a_number_stays_in_the_tree():
    X, y = shares_table()
    model = DecisionTreeClassifier(missing="level", max_depth=1).fit(X, y)
    assert model.predict_proba([[np.nan]])[0].tolist() == [8 / 11, 3 / 11]
    assert model.predict([[0.0], [9.0]]).tolist() == [0, 1]


def colours(*values):
    return pd.DataFrame({"colour": pd.Categorical(values, categories=["blue", "green", "red"])})


@pytest.mark.parametrize(("missing", "answer_of_unseen"), [("level", 0.0), ("learned", 1.0)])
def test_unseen_levels_go_to_the_larger_child(missing, answer_of_unseen):
    X, y = colours(*["blue"] * 6, *["red"] * 2, *[None] * 2), np.r_[np.zeros(6), np.ones(4)]
    model = DecisionTreeRegressor(missing=missing).fit(X, y)
    assert model.tree_.kind[0] == LEVEL_SET
    asked = pd.DataFrame({"colour": pd.Categorical(["blue", "red", None, "violet"])})
    assert model.predict(asked).tolist() == [0.0, 1.0, 1.0, answer_of_unseen]


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
def test_missing_has_a_branch_of_its_own(algorithm):
    X = colours(*["blue"] * 4, *["green"] * 5, *["red"] * 2, *[None] * 3)
    y = np.repeat([0, 1, 0, 2], [4, 5, 2, 3])
    model = DecisionTreeClassifier(algorithm=algorithm, missing="level", confidence=None).fit(X, y)
    tree = model.tree_
    tree.validate()
    assert (tree.kind[0], tree.n_children[0]) == (MULTIWAY, 4)
    assert tree.levels(0).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert (tree.missing_child[0], tree.unseen_child[0]) == (3, 1)
    assert tree.gain[0] == pytest.approx(naive.impurity("entropy", y, np.ones(14), 3))
    asked = pd.DataFrame({"colour": pd.Categorical(["blue", "green", "red", None, "violet"])})
    assert model.predict(asked).tolist() == [0, 1, 0, 2, 1]
    assert [edge_label(tree, 0, k, model.features_) for k in range(4)] == ["blue", "green", "red", "missing"]
    assert merged_rule(tree, (3,), model.features_) == ["colour is missing"]
    assert merged_rule(tree, (1,), model.features_) == ["colour: green"]
    data = training_data(model, X, y)
    assert regrow(tree, (), model, data) == tree
    assert read_rules(to_rules(model))[0].tree_ == from_json(to_json(model)).tree_ == tree
    learned = DecisionTreeClassifier(algorithm=algorithm, confidence=None).fit(X, y).tree_
    assert learned.n_children[0] == 3


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
def test_numbers_of_multiway_trees_ask_as_two_way_trees_do(algorithm):
    X, y = shares_table()
    tree = DecisionTreeClassifier(algorithm=algorithm, missing="level", confidence=None).fit(X, y).tree_
    assert tree.kind[0] == THRESHOLD
    assert tree.missing_child[0] == 0
    assert tree.kind[1] == IS_MISSING


def study(criterion):
    X, y, w = random_table(1, 0 if criterion in OF_NUMBERS else 3, 120, criterion)
    model = make(criterion, categorical_features=[1, 3], missing="level", max_depth=2).fit(X, y, w)
    data = begin_fit(model, X, y, w, is_classifier=criterion not in OF_NUMBERS)
    rules = make_rules(model, data, float(w.sum()))
    presorted = presort(data.X, data.features, lambda *_: False)
    return model.tree_, NodeRows(presorted, data.y, data.sample_weight, data.features, rules), (X, y, w)


@pytest.mark.parametrize("criterion", ["gini", "absolute_error"])
def test_candidates_and_the_curve_are_those_of_growing(criterion):
    tree, data, (X, y, w) = study(criterion)
    best = candidates(tree, (), data)[0]
    assert (best.feature, best.gain) == (tree.feature[0], pytest.approx(tree.gain[0], abs=1e-12))
    curve, x = gain_curve(tree, (), 0, data), X[:, 0]
    for threshold, told in zip(curve.thresholds, curve.gains, strict=True):
        takes_first = w[x <= threshold].sum() >= w[x > threshold].sum()
        way = (x <= threshold) | (np.isnan(x) & takes_first)
        assert told == pytest.approx(max(naive.gain(criterion, way, y, w, 3), 0), abs=1e-10)


def test_changes_by_hand_keep_to_it():
    X, y = shares_table()
    model = DecisionTreeClassifier(missing="level", max_depth=1).fit(X, y)
    data = training_data(model, X, y)
    forced = force_split(model.tree_, (), data.features[0].name, data, threshold=4.0, missing="level")
    assert (forced.missing_child[0], forced.n_node_samples.tolist()) == (0, [14, 11, 3])
    edit = Edit("force_split", (), feature=data.features[0].name, threshold=4.0)
    assert edit.apply(model.tree_, data, model) == forced
    colour = colours(*["blue"] * 6, *["red"] * 2, *[None] * 2)
    of_levels = DecisionTreeRegressor(missing="level").fit(colour, np.r_[np.zeros(6), np.ones(4)])
    rows = training_data(of_levels, colour, np.r_[np.zeros(6), np.ones(4)])
    unseen, child = int(of_levels.tree_.unseen_child[0]), int(of_levels.tree_.missing_child[0])
    assert unseen != child
    back = set_missing_direction(of_levels.tree_, (), unseen, rows, "squared_error", missing="level")
    flipped = set_missing_direction(back, (), child, rows, "squared_error", missing="level")
    assert (back.missing_child[0], back.unseen_child[0]) == (unseen, unseen)
    assert (flipped.missing_child[0], flipped.unseen_child[0]) == (child, unseen)
    learned = set_missing_direction(back, (), child, rows, "squared_error")
    assert learned.unseen_child[0] == child


def test_another_word_is_refused():
    with pytest.raises(ParameterError, match="missing"):
        DecisionTreeClassifier(missing="dropped").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
def test_a_category_that_every_row_misses_is_no_question(algorithm):
    X = pd.DataFrame({"c": pd.Categorical([None] * 4, ["a", "b"]), "x": [1.0, 2, 3, 4]})
    model = DecisionTreeClassifier(algorithm=algorithm, missing="level", confidence=None)
    tree = model.fit(X, [0, 0, 1, 1]).tree_
    assert (tree.feature[0], tree.threshold[0], tree.n_nodes) == (1, 2.5, 3)
