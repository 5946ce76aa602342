import numpy as np
import pytest

from engine import DecisionTreeClassifier
from engine.errors import ParameterError
from engine.tree.cost_complexity import prune_at
from engine.tree.edit import Edit, replay, replay_beside_uncut
from engine.tree.prune import prune
from engine.tree.regrow import training_data
from engine.tree.splice import branch_at
from engine.tree.structure import single_leaf
from tests.engine.random_trees import random_tree


def test_replay_applies_edits_in_order():
    tree = random_tree(np.random.default_rng(0), 40)
    edits = [Edit("prune", (0, 0)), Edit("prune", (0,))]
    edited, lost = replay(edits, tree)
    assert edited == prune(tree, (0,))
    assert lost == []


def test_edits_that_no_longer_hold_are_reported():
    tree = random_tree(np.random.default_rng(0), 40)
    edits = [Edit("prune", (0,)), Edit("prune", (0, 0)), Edit("prune", (1,))]
    edited, lost = replay(edits, tree)
    assert edited == prune(prune(tree, (0,)), (1,))
    assert lost == [Edit("prune", (0, 0))]
    stump = single_leaf(1.0, 0.0, 3, 3.0)
    assert replay(edits, stump) == (stump, edits)


def test_an_edit_of_unknown_kind_is_refused():
    with pytest.raises(ParameterError, match="'grow'"):
        Edit("grow", ())


def test_a_price_of_a_leaf_prunes_the_tree_that_earlier_edits_left():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] > 0
    tree = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    path = tree.path_to(int(np.flatnonzero(~tree.is_leaf)[-1]))
    edits = [Edit("prune", path), Edit("cost_complexity", (), 0.01)]
    assert replay(edits, tree) == (prune_at(prune(tree, path), 0.01), [])
    assert replay(edits[1:], tree)[0].n_leaves < tree.n_leaves


@pytest.mark.parametrize("alpha", [-0.1, float("nan")])
def test_a_price_below_0_is_refused(alpha):
    with pytest.raises(ParameterError, match="the price of a leaf is 0 or more"):
        Edit("cost_complexity", (), alpha)


def grown_on_three_columns():
    """A tree of classes that depend on two columns, with its training rows and estimator."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] > 0
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree, data = model.tree_, training_data(model, X, y)
    return tree, data, model


def test_splits_that_were_cut_come_back_with_other_changes_in_place():
    tree, data, model = grown_on_three_columns()
    forced = Edit("force_split", (1,), feature=data.features[2].name, threshold=0.0)
    edits = [Edit("prune", (0,)), forced, Edit("splits", n_splits=2)]
    few, _ = replay(edits, tree, data, model)
    assert few.n_leaves == 3
    n_below = int(np.sum(~branch_at(tree, tree.node_at((0,))).is_leaf))
    assert replay([*edits[:2], Edit("splits", n_splits=2 + n_below)], tree, data, model) == (
        replay([forced], tree, data, model)[0],
        [],
    )
    too_many = Edit("splits", n_splits=3 + n_below)
    assert replay([*edits[:2], too_many], tree, data, model)[1] == [too_many]
    assert replay_beside_uncut(edits, tree, data, model) == (
        few, replay([forced], tree, data, model)[0], [],
    )  # fmt: skip
    assert Edit.from_plain(edits[2].to_plain()) == edits[2]


def test_a_change_whose_node_was_cut_comes_back_with_it():
    tree, data, model = grown_on_three_columns()
    forced = Edit("force_split", (0,), feature=data.features[2].name, threshold=0.0)
    whole = replay([forced], tree, data, model)[0]
    edits = [Edit("prune", ()), forced]
    done = replay_beside_uncut(edits, tree, data, model)
    assert (done.tree.n_nodes, done.uncut, done.lost) == (1, whole, [forced])
    all_splits = Edit("splits", n_splits=whole.n_leaves - 1)
    assert replay([*edits, all_splits], tree, data, model) == (whole, [])
    assert replay([all_splits, *edits], tree, data, model) == (done.tree, [forced])


def test_fewer_than_no_splits_are_refused():
    with pytest.raises(ParameterError, match="0 splits or more"):
        Edit("splits", n_splits=-1)
