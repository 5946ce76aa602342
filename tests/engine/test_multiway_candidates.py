"""Candidates of ID3 and C4.5 nodes: the worked numbers of the restaurant, and splits beside naive gains."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from engine import DecisionTreeClassifier
from engine.base import begin_fit
from engine.errors import DataError
from engine.tree.candidates import NodeRows, candidates, children_of_split, gain_curve
from engine.tree.growth_rules import CRITERIA, make_rules
from engine.tree.presort import presort
from engine.tree.structure import IS_MISSING, MULTIWAY, THRESHOLD
from tests.engine.random_trees import naive_leaf
from tests.engine.test_tree import random_table, restaurant


def study(X, y, w=None, validation=(None, None, None), **settings):
    """A tree, the model, and its node rows."""
    w = np.ones(len(y)) if w is None else w
    model = DecisionTreeClassifier(**settings).fit(X, y, w)
    data = begin_fit(DecisionTreeClassifier(**settings), X, y, w, is_classifier=True)
    rules = make_rules(model, data, float(data.sample_weight.sum()))._replace(criterion=CRITERIA["entropy"])
    presorted = presort(data.X, data.features, lambda *_: False)
    rows = NodeRows(
        presorted, data.y, data.sample_weight, data.features, rules, *validation, algorithm=model.algorithm
    )
    return model.tree_, rows


def entropy(labels, weights):
    found = Counter()
    for label, weight in zip(labels, weights, strict=True):
        found[label] += weight
    total = sum(found.values())
    return sum(-k / total * math.log2(k / total) for k in found.values() if k)


def naive_gain(child, y, w):
    """Entropy less the branches' weighted mean."""
    below = sum(w[child == k].sum() * entropy(y[child == k], w[child == k]) for k in np.unique(child))
    return entropy(y, w) - below / w.sum()


def names_and(found, data, what):
    return [(data.features[c.feature].name, pytest.approx(what(c), abs=1e-6)) for c in found]


def path_of(tree, data, *steps):
    """The path along (column, level) steps of a multiway tree."""
    path = ()
    for column, level in steps:
        node = tree.node_at(path)
        spec = data.features[int(tree.feature[node])]
        assert spec.name == column
        path += (dict(tree.levels(node).tolist())[spec.levels.index(level)],)
    return path


# ---- the restaurant ------------------------------------------------------------------------------

ROOT = {
    "Patrons": 0.540852, "Estimate": 0.207519, "Hungry": 0.195710, "Price": 0.195710, "Fri": 0.020721,
    "Rain": 0.020721, "Reservation": 0.020721, "Alternate": 0, "Bar": 0, "Type": 0,
}  # fmt: skip


def test_id3_ranks_the_root_by_gain():
    tree, data = study(*restaurant(), algorithm="id3")
    found = candidates(tree, (), data)
    assert names_and(found, data, lambda c: c.gain) == list(ROOT.items())
    assert [c.is_tied for c in found] == [True] + [False] * 9
    assert all(c.split.kind == MULTIWAY and c.is_eligible and math.isnan(c.gain_ratio) for c in found)
    assert found[0].split.levels.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_id3_marks_the_tie_under_full_and_offers_no_column_twice():
    tree, data = study(*restaurant(), algorithm="id3")
    found = candidates(tree, path_of(tree, data, ("Patrons", "Full")), data)
    assert len(found) == 9
    tied = [data.features[c.feature].name for c in found if c.is_tied]
    assert len(tied) == 5
    assert tied[0] == "Hungry"
    assert all(c.gain == pytest.approx(0.251629, abs=1e-6) for c in found[:5])
    assert "Patrons" not in {data.features[c.feature].name for c in found}
    path = path_of(tree, data, ("Patrons", "Full"), ("Hungry", "Yes"))
    found = candidates(tree, path, data)
    assert data.features[found[0].feature].name == "Type"
    assert {"Patrons", "Hungry"} & {data.features[c.feature].name for c in found} == set()


def test_c45_ranks_by_the_ratio_of_those_that_gain_the_average():
    X, y = restaurant()
    tree, data = study(X, y, algorithm="c4.5", confidence=None)
    found = candidates(tree, (), data)
    assert (data.features[found[0].feature].name, found[0].is_tied) == ("Patrons", True)
    assert found[0].gain_ratio == pytest.approx(0.370663, abs=1e-6)
    gains = [c.gain for c in found]
    positive = [gain for gain in gains if gain > 1e-12]
    assert np.mean(positive) == pytest.approx(0.171708, abs=1e-6)
    assert [c.is_eligible for c in found] == [c.gain >= np.mean(gains) for c in found]
    ratios = [c.gain_ratio for c in found if c.is_eligible]
    assert ratios == sorted(ratios, reverse=True)
    assert not any(c.is_eligible for c in found[len(ratios) :])

    full = path_of(tree, data, ("Patrons", "Full"))
    found = candidates(tree, full, data)
    tied = [(data.features[c.feature].name, c.gain_ratio) for c in found if c.is_tied]
    assert tied == [(name, pytest.approx(0.274018, abs=1e-6)) for name in ("Hungry", "Price", "Reservation")]

    found = candidates(tree, (*full, path_of(tree, data, ("Patrons", "Full"), ("Hungry", "Yes"))[-1]), data)
    ratio = {data.features[c.feature].name: c.gain_ratio for c in found}
    assert data.features[found[0].feature].name == "Fri"
    assert ratio["Fri"] == pytest.approx(0.383689, abs=1e-6)
    assert ratio["Type"] == pytest.approx(0.333333, abs=1e-6)


# ---- any table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_candidate_is_what_the_node_asks_and_gains_are_those_of_the_rows(seed, algorithm):
    X, y, w = random_table(seed, 3, 120)
    settings = {"categorical_features": [1, 3], "max_depth": 3, "confidence": None}
    tree, data = study(X, y, w, (X[60:], y[60:].astype(float), w[60:]), algorithm=algorithm, **settings)
    encoded, n_told = data.presorted.X, 0
    paths = [tree.path_to(naive_leaf(tree, row)) for row in encoded]
    for node in range(tree.n_nodes):
        path = tree.path_to(node)
        at = np.array([p[: len(path)] == path for p in paths])
        found = candidates(tree, path, data)
        if not at.any():
            assert found == []
            continue
        for c in found:
            x = encoded[:, c.feature]
            child = children_of_split(c.split, x[at], c.split.missing_child, c.split.missing_child)
            assert c.gain == pytest.approx(naive_gain(child, y[at], w[at]), abs=1e-10)
            if c.split.missing_child >= 0:
                later = at & (np.arange(120) >= 60)
                child = children_of_split(c.split, x[later], c.split.missing_child, c.split.missing_child)
                if len(np.unique(child)) > 1:
                    assert c.validation_gain == pytest.approx(
                        naive_gain(child, y[later], w[later]), abs=1e-10
                    )
                    n_told += 1
                else:
                    assert math.isnan(c.validation_gain)
        if not tree.is_leaf[node]:
            assert found[0].feature == tree.feature[node]
            assert found[0].split.kind == tree.kind[node]
            assert found[0].gain == pytest.approx(tree.gain[node], abs=1e-12)
            if tree.kind[node] == THRESHOLD:
                assert found[0].split.threshold == tree.threshold[node]
    assert n_told > 5


def test_the_gain_curve_of_a_number_is_in_bits():
    X, y, w = random_table(1, 3, 80)
    tree, data = study(X, y, w, algorithm="c4.5", categorical_features=[1, 3], max_depth=1, confidence=None)
    best = {c.feature: c for c in candidates(tree, (), data)}[0]
    curve = gain_curve(tree, (), 0, data)
    assert curve.gains.max() == pytest.approx(best.gain, abs=1e-10)
    assert best.split.kind in (THRESHOLD, IS_MISSING)
    with pytest.raises(DataError, match="no thresholds"):
        gain_curve(tree, (), 1, data)


def test_levels_that_training_lacks_go_with_missing_or_with_the_most():
    X = pd.DataFrame({"c": pd.Categorical(["a"] * 3 + ["b"] * 2, ["a", "b", "z"])})
    y = np.array([0, 0, 1, 1, 1])
    later = np.array([[0.0], [1.0], [2.0], [np.nan]])
    tree, data = study(X, y, None, (later, np.array([0.0, 1, 0, 0]), np.ones(4)), algorithm="id3")
    (found,) = candidates(tree, (), data)
    # z and missing go to a, where three of five rows are: 0, 0, 0 beside 1
    assert found.validation_gain == pytest.approx(entropy([0, 0, 0, 1], [1] * 4))
    assert found.split.missing_child == -1


def test_a_branch_without_rows_and_a_node_that_is_not_there():
    X, y = restaurant()
    tree, data = study(X, y, algorithm="id3")
    empty = next(n for n in range(tree.n_nodes) if tree.n_node_samples[n] == 0)
    assert candidates(tree, tree.path_to(empty), data) == []
    with pytest.raises(DataError, match="below the root the tree has no such node"):
        candidates(tree, (9,), data)
