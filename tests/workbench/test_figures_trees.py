"""The list of an ensemble's trees: sizes, contributions, and out-of-bag errors beside a loop."""

from dataclasses import replace

import numpy as np
import pytest

from engine.export.json import from_json, to_json
from engine.features import encode
from engine.predict import leaf_numbers
from tests.workbench.making import Session, open_flowers
from workbench.datasets import feature_frame
from workbench.figures.trees import (
    has_out_of_bag,
    known_errors,
    make_trees,
    out_of_bag_errors,
    with_errors,
)
from workbench.fitting import inputs_of_result


@pytest.fixture
def session(qapp):
    made = Session(open_flowers())
    yield made
    made.close()


def test_boosting_of_three_classes_lists_what_each_tree_adds_to(session):
    result = session.document.run(session.train("boosting", n_estimators=4)).result
    figure = make_trees("b", result)
    assert figure.title == "b: 12 trees in 4 rounds"
    assert figure.heads == ("Tree", "Adds to", "Depth", "Leaves", "Mean step")
    assert figure.n_trees == 12
    assert figure.texts[1][:4] == (*result.classes, result.classes[0])
    for k, tree in enumerate(result.trees):
        leaves = [node for node in range(tree.n_nodes) if tree.n_children[node] == 0]
        assert figure.texts[3][k] == str(len(leaves))
        moved = sum(abs(tree.value[node, 0]) * tree.n_node_samples[node] for node in leaves)
        assert figure.columns[4][k] == pytest.approx(moved / sum(tree.n_node_samples[n] for n in leaves))
    assert not has_out_of_bag(result)


def test_a_forest_s_errors_are_those_of_a_loop_over_rows(session):
    result = session.document.run(session.train("forest", n_estimators=6)).result
    table = session.document.table
    assert has_out_of_bag(result)
    errors = out_of_bag_errors(result, table)
    rows = inputs_of_result(result, table).rows_of("train")
    X = np.asarray(encode(feature_frame(table, result.features), result.feature_specs))[rows]
    y = table.column(result.target).label_codes()[0][rows]
    for member, tree in enumerate(result.trees):
        drawn = set(result.estimator.bootstrap_draws(member).tolist())
        left_out = [k for k in range(len(rows)) if k not in drawn]
        wrong = sum(int(np.argmax(tree.value[_leaf(tree, X[k])])) != y[k] for k in left_out)
        assert errors[member] == pytest.approx(wrong / len(left_out))
    np.testing.assert_allclose(known_errors(result), errors, rtol=1e-12)  # told by the training: not again
    figure = with_errors(make_trees("f", result), errors, True)
    assert figure.heads == ("Tree", "Depth", "Leaves", "Gain", "Out of bag")
    assert figure.texts[4][0].endswith("%")


def _leaf(tree, row):
    return int(leaf_numbers(tree, row[None, :])[0])


def test_a_forest_from_a_file_has_the_errors_its_training_told_and_no_rows_to_ask(session):
    for wants_score in (True, False):
        trained = session.train("forest", n_estimators=5, oob_score=wants_score)
        result = session.document.run(trained).result
        loaded = replace(result, estimator=from_json(to_json(result.estimator)))
        assert not has_out_of_bag(loaded)
        errors = known_errors(loaded)
        if wants_score:
            np.testing.assert_array_equal(errors, result.estimator.member_oob_loss_)
        else:
            assert errors is None


def test_errors_of_numbers_are_mean_squares_and_absent_without_a_bootstrap(qapp):
    session = Session(open_flowers("size"))
    result = session.document.run(session.train("forest", n_estimators=3)).result
    errors = out_of_bag_errors(result, session.document.table)
    assert np.all((errors > 0) & np.isfinite(errors))
    plain = session.document.run(session.train("forest", n_estimators=3, bootstrap=False)).result
    assert not has_out_of_bag(plain)
    session.close()


def test_the_order_puts_unknown_values_last_and_keeps_equals_as_grown(session):
    result = session.document.run(session.train("forest", n_estimators=4)).result
    figure = with_errors(make_trees("f", result), np.array([0.3, np.nan, 0.1, 0.3]), True)
    assert figure.order_by(4, is_descending=False).tolist() == [2, 0, 3, 1]
    assert figure.order_by(4, is_descending=True).tolist() == [0, 3, 2, 1]
    assert figure.order_by(0, is_descending=True).tolist() == [3, 2, 1, 0]
