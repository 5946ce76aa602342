import numpy as np
import pytest

from engine.errors import ParameterError
from engine.tree.edit import Edit, replay
from engine.tree.prune import prune
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
