"""Cards of hand-made trees; literal names of cases C32 and C46."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier
from engine.features import FeatureSpec
from engine.tree.parameters import TREE_CLASSIFIER, TREE_REGRESSOR
from engine.tree.structure import LEAF, LEVEL_SET, THRESHOLD, Tree
from tests.workbench.making import Session
from workbench.datasets import make_table
from workbench.document import Document
from workbench.figures.tree import make_tree_figure, number_columns, tree_of_run

CLASSES = ("<15.75", "15.75-19.95", ">=19.95")
FEATURES = (FeatureSpec("<b>x</b> & y"), FeatureSpec("island", levels=("Biscoe", "Dream", "Torgersen")))


def small_tree() -> Tree:
    """Ten rows: a threshold at the root (1 missing, to the left), then a level set."""
    nan = np.nan
    return Tree.from_arrays(
        {
            "feature": [0, 1, -1, -1, -1],
            "kind": [THRESHOLD, LEVEL_SET, LEAF, LEAF, LEAF],
            "threshold": [-2.5, nan, nan, nan, nan],
            "level_offsets": [0, 0, 3, 3, 3, 3],
            "level_sets": [[0, 0], [1, 0], [2, 1]],
            "first_child": [1, 3, -1, -1, -1],
            "n_children": [2, 2, 0, 0, 0],
            "missing_child": [0, 0, -1, -1, -1],
            "unseen_child": [0, 0, -1, -1, -1],
            "value": [[0.5, 0.0, 0.5], [5 / 6, 0, 1 / 6], [0, 0, 1], [1, 0, 0], [0.5, 0, 0.5]],
            "impurity": [0.5, 0.277, 0.0, 0.0, 0.5],
            "gain": [0.333, 0.1, 0, 0, 0],
            "n_node_samples": [10, 6, 4, 4, 2],
            "weighted_n_node_samples": [10, 6, 4, 4, 2],
            "n_missing": [1, 0, 0, 0, 0],
        }
    )


@pytest.fixture
def figure():
    return make_tree_figure(small_tree(), FEATURES, CLASSES)


def test_a_card_says_rows_rule_prediction_and_gain(figure):
    card = figure.card(0)
    assert (card.rows, card.share) == ("10 rows", "100 %")
    assert (card.rule.name, card.rule.rest) == ("<b>x</b> & y", " ≤ −2.5")
    assert card.prediction == "<15.75 50 %"
    assert card.aside == "gain 0.333"


def test_a_leaf_counts_its_majority(figure):
    assert figure.card(4).aside == "1 of 2"
    assert figure.card(2).prediction == ">=19.95 100 %"
    assert (figure.card(2).answer.name, figure.card(2).answer.rest) == (">=19.95", " 100 %")


def test_edges_tell_rows_and_where_the_missing_went(figure):
    assert figure.edge_text(1) == "yes, 6 (1 missing)"
    assert figure.edge_text(2) == "no, 4"


def test_a_level_set_is_named(figure):
    assert figure.card(1).rule.text == "island: Biscoe, Dream"


def test_closed_branches_count_their_leaves(figure):
    assert figure.n_leaves.tolist() == [3, 2, 1, 1, 1]
    assert figure.hidden_text(1) == "+ 2 leaves"


def test_c46_the_story_lists_present_classes_whose_counts_add_up(figure):
    story = figure.story(1)
    assert "<15.75: 83 %, 5 rows" in story
    assert ">=19.95: 17 %, 1 row" in story
    assert "15.75-19.95" not in story.replace("<15.75", "")
    assert figure.class_counts(1).sum() == 6
    assert "<b>x</b> & y ≤ −2.5" in figure.story(0)
    assert "1 row missing, sent to yes" in figure.story(0)


def test_c26_the_story_tells_rows_and_the_sum_of_weights():
    x, y, w = [[0.0], [0.0], [1.0], [1.0]], ["A", "B", "A", "B"], [3, 1, 1, 5]
    model = DecisionTreeClassifier().fit(x, y, w)
    story = make_tree_figure(model.tree_, model.features_, ("A", "B")).story(2).splitlines()
    assert story[1:3] == ["2 rows, 50 % of 4", "Weight 6"]
    unweighted = DecisionTreeClassifier().fit(x, ["A", "B", "B", "B"])
    told = make_tree_figure(unweighted.tree_, unweighted.features_, ("A", "B")).story(0)
    assert "Weight" not in told


@pytest.mark.parametrize("name", ["min_samples_leaf", "min_samples_split"])
def test_c26_the_help_says_that_rows_count_and_not_weights(name):
    for table in (TREE_CLASSIFIER, TREE_REGRESSOR):
        parameter = next(p for p in table if p.name == name)
        assert "counts rows, whatever their weights" in parameter.help


def test_numbers_show_mean_and_deviation():
    tree = small_tree()
    arrays = tree.to_arrays() | {"value": [[3.0], [5.11], [1], [2], [9]], "impurity": [4.0, 0.64, 0, 0, 1]}
    figure = make_tree_figure(Tree.from_arrays(arrays), FEATURES)
    assert figure.card(1).prediction == "5.11 ± 0.8"
    assert (figure.low, figure.high) == (1.0, 10.0)
    median = make_tree_figure(Tree.from_arrays(arrays), FEATURES, kind="median")  # its impurity is a distance
    assert median.card(1).prediction == "5.11 ± 0.64"
    assert "Median 5.11" in median.story(1)
    assert np.isnan(median.description.sd).all()
    rate = make_tree_figure(Tree.from_arrays(arrays), FEATURES, kind="rate")
    assert (rate.card(1).prediction, rate.low, rate.high) == ("5.11", 0.0, 9.0)
    assert rate.deviation(1) == 0.0
    assert np.isnan(rate.description.sd).all()
    step = make_tree_figure(Tree.from_arrays(arrays), FEATURES, kind="step")
    assert step.card(1).prediction == "step +5.11"
    # what boosting's nodes hold in place of an impurity is their part of the objective
    assert "Impurity" not in step.story(0)
    assert "Gain 0.333" in step.story(0)


def test_levels_open_as_far_as_can_be_read(figure):
    assert figure.open_to(1).tolist() == [True, False, False, False, False]
    assert figure.open_to(2).tolist() == [True, True, False, False, False]
    assert figure.readable_depth(3) == 1
    assert figure.readable_depth(5) == 2


@pytest.mark.usefixtures("qapp")
def test_thresholds_are_as_short_as_the_rows_of_the_same_table_allow():
    values = np.arange(60) ** 1.1 / 7
    table = make_table("sevenths", {"x": values, "y": ["low"] * 23 + ["high"] * 37})
    document = Document()
    document.open_table(table)
    document.set_target("y")
    session = Session(document)
    try:
        result = document.run(session.train("tree", max_depth=1)).result
    finally:
        session.close()
    threshold = float(result.trees[0].threshold[0])
    shown = tree_of_run("t", result, 0, table).rule(0)
    assert shown.text == "x ≤ 4.932"
    assert shown.full == f"x ≤ {threshold!r}"
    np.testing.assert_array_equal(values <= 4.932, values <= threshold)
    another = make_table("eighths", {"x": values, "y": ["low"] * 24 + ["high"] * 36})
    for figure in (tree_of_run("t", result), tree_of_run("t", result, 0, another)):
        assert figure.rule(0).text == f"x ≤ {threshold!r}"
    assert list(number_columns(table, result, max_rows=59)) == []
