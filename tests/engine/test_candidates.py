"""Candidates of a node beside the naive search, and the gain over all thresholds of a column."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.base import begin_fit
from engine.errors import DataError
from engine.tree import node_search
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.candidates import NodeRows, candidates, children_of_split, gain_curve
from engine.tree.growth_rules import CRITERIA as CRITERIA_BY_NAME
from engine.tree.growth_rules import make_rules
from engine.tree.presort import presort
from engine.tree.regrow import training_data
from engine.tree.structure import LEVEL_SET, THRESHOLD
from tests.engine import naive
from tests.engine.test_tree import CRITERIA, OF_NUMBERS, random_table

CHOOSERS = [
    {"criterion": "gini"}, {"criterion": "squared_error"}, {"criterion": "absolute_error"},
    {"criterion": "poisson"}, {"algorithm": "id3"}, {"algorithm": "c4.5", "confidence": None},
]  # fmt: skip


def study(criterion, seed, **settings):
    """A tree, and its node rows with the second half of the table for validation."""
    n_classes = 0 if criterion in OF_NUMBERS else 3
    X, y, w = random_table(seed, n_classes, 240, criterion)
    kind = DecisionTreeRegressor if criterion in OF_NUMBERS else DecisionTreeClassifier
    model = kind(criterion=criterion, categorical_features=[1, 3], max_depth=3, **settings)
    half = slice(0, 120)
    model.fit(X[half], y[half], w[half])
    data = begin_fit(model, X[half], y[half], w[half], is_classifier=n_classes > 0)
    presorted = presort(data.X, data.features, lambda *_: False)
    rules = make_rules(model, data, float(w[half].sum()))
    rows = NodeRows(
        presorted, data.y, data.sample_weight, data.features, rules, X[120:], y[120:].astype(float), w[120:]
    )
    return model.tree_, rows, (X[half], y[half], w[half]), (X[120:], y[120:], w[120:]), n_classes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_columns_best_split_is_the_best_of_all(criterion, seed):
    tree, data, train, _validation, n_classes = study(criterion, seed)
    for node, rows in enumerate(naive.rows_by_node(tree, train[0])):
        X, y, w = (a[rows] for a in train)
        found = candidates(tree, tree.path_to(node), data)
        assert [c.gain for c in found] == sorted([c.gain for c in found], reverse=True)
        known = {c.feature: c for c in found}
        for feature in range(4):
            is_level = [feature in (1, 3)]
            best = naive.best_gain(X[:, [feature]], y, w, is_level, criterion, n_classes)
            assert (best is None) == (feature not in known)
            if best is not None:
                split = known[feature].split
                assert split.gain == pytest.approx(max(best, 0), abs=1e-10)
                side = children_of_split(split, X[:, feature], split.missing_child, 0) == 0
                assert naive.gain(criterion, side, y, w, n_classes) == pytest.approx(split.gain, abs=1e-10)
        if found:
            top = found[0].gain
            assert [c.is_tied for c in found] == [c.gain >= top - 1e-9 for c in found]
            if not tree.is_leaf[node]:
                assert found[0].feature == tree.feature[node]
                assert found[0].split.kind == tree.kind[node]
                if tree.kind[node] == THRESHOLD:
                    assert found[0].split.threshold == tree.threshold[node]
                elif tree.kind[node] == LEVEL_SET:
                    np.testing.assert_array_equal(found[0].split.levels, tree.levels(node))


@pytest.mark.parametrize("missing", ["learned", "level"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_forced_candidate_is_the_split_that_was_told(criterion, missing):
    """Also where limits on leaves keep missing values from where they help most."""
    n_kept_back = 0
    for seed in range(3):
        tree, data, train, _validation, _n_classes = study(
            criterion, seed, min_samples_leaf=20, missing=missing
        )
        X, y, w = train
        kind = DecisionTreeRegressor if criterion in OF_NUMBERS else DecisionTreeClassifier
        settings = {"criterion": criterion, "categorical_features": [1, 3], "missing": missing}
        rows = training_data(kind(max_depth=1, **settings).fit(X, y, w), X, y, w)
        for path in map(tree.path_to, range(tree.n_nodes)):
            for c in candidates(tree, path, data):
                split, spec = c.split, data.features[c.feature]
                if split.kind not in (THRESHOLD, LEVEL_SET):
                    continue
                question = {"threshold": split.threshold}
                if split.kind == LEVEL_SET:
                    chosen = split.levels[split.levels[:, 1] == 0, 0]
                    question = {"levels": [spec.levels[code] for code in chosen]}
                asked = (tree, path, spec.name, rows, criterion)
                side = split.missing_child if split.missing_child >= 0 else None
                forced = force_split(*asked, **question, missing_child=side, missing=missing)
                node = forced.node_at(path)
                assert forced.gain[node] == pytest.approx(c.gain, abs=1e-10)
                assert split.missing_child in (-1, forced.missing_child[node])
                free = force_split(*asked, **question, missing=missing)
                n_kept_back += free.missing_child[node] != forced.missing_child[node]
    assert missing == "level" or n_kept_back > 0


@pytest.mark.parametrize("criterion", ["gini", "absolute_error"])
def test_a_stop_at_any_moment_gives_nothing(monkeypatch, criterion):
    """A column of many rows is searched by absolute error in parts, and the search begins anew afterwards."""
    tree, data, *_ = study(criterion, 0)
    whole = [candidates(tree, (), data), gain_curve(tree, (), 0, data)]
    monkeypatch.setattr(node_search, "WORK_BUDGET", 1)
    n_asked = {}
    for n_allowed in range(200):
        for at, look in enumerate([candidates, lambda *how: gain_curve(tree, (), 0, data, how[-1])]):
            asked = []
            found = look(tree, (), data, lambda *_, a=asked, n=n_allowed: a.append(0) or len(a) > n)
            if len(asked) > n_allowed:
                assert found is None
                n_asked[at] = n_allowed + 1
            elif at == 0:
                assert [c.split.gain for c in found] == [c.split.gain for c in whole[0]]
            else:
                assert found.gains.tolist() == whole[1].gains.tolist()
    assert n_asked[0] < 200
    assert (n_asked[0], n_asked.get(1, 0)) >= ((20, 8) if criterion == "absolute_error" else (5, 0))


def test_a_node_without_rows_has_no_candidates():
    X, y = np.array([[0.0], [1.0], [2.0], [np.nan]]), np.array([0.0, 5.0, 6.0, 9.0])
    model = DecisionTreeRegressor().fit(X, y)
    rows = training_data(model, X, y)
    tree = force_split(model.tree_, (), "x0", rows, "squared_error", threshold=0.5)
    assert tree.missing_child[0] == 1
    tree = force_split(tree, (1,), "x0", rows, "squared_error", is_missing=True)
    tree = set_missing_direction(tree, (), 0, rows, "squared_error")
    assert tree.n_node_samples[tree.node_at((1, 0))] == 0
    presorted = presort(rows.X, rows.features, lambda *_: False)
    data = NodeRows(presorted, rows.y, rows.sample_weight, rows.features, make_rules(model, rows, 4.0))
    assert candidates(tree, (1, 0), data) == []


@pytest.mark.parametrize("missing", ["learned", "level"])
@pytest.mark.parametrize("settings", CHOOSERS, ids=str)
def test_gains_on_validation_rows_are_theirs(settings, missing):
    """A column alone asks its best split: validation rows go where that stump sends them, unknown ones too.

    Training sees no level above 4, and misses nothing in half of the tables.
    """
    n_told = n_unseen = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, 9, 80), rng.integers(0, 5, 80)]).astype(float)
        X[rng.random(X.shape) < (0.2 if seed % 2 else 0)] = np.nan
        y, w = rng.integers(0, 2, 80) + (X[:, 1] > 2), rng.integers(1, 4, 80) * 1.0
        later = np.column_stack([rng.integers(0, 9, 40), rng.integers(0, 8, 40)]).astype(float)
        later[rng.random(later.shape) < 0.2] = np.nan
        y_later, w_later = rng.integers(0, 3, 40).astype(float), rng.integers(1, 4, 40) * 1.0
        is_number = settings.get("criterion") in OF_NUMBERS
        kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
        for feature in range(2):
            column = slice(feature, feature + 1)
            model = kind(
                **settings, missing=missing, max_depth=1, categorical_features=[0] if feature else []
            ).fit(X[:, column], y, w)
            data = begin_fit(model, X[:, column], y, w, is_classifier=not is_number)
            validation = (later[:, column], y_later, w_later)
            rules = make_rules(model, data, float(w.sum()))
            if "algorithm" in settings:
                rules = rules._replace(criterion=CRITERIA_BY_NAME["entropy"])
            looked = NodeRows(
                presort(data.X, data.features, lambda *_: False), data.y, data.sample_weight, data.features,
                rules, *validation, settings.get("algorithm", "cart"),
            )  # fmt: skip
            (found,) = candidates(model.tree_, (), looked)
            tree, x = model.tree_, later[:, feature]
            child = np.array([naive.child_of(tree, 0, value) for value in x])
            n_unseen += np.count_nonzero(x > 4) if feature and tree.kind[0] == LEVEL_SET else 0
            criterion = settings.get("criterion", "entropy")
            expected = naive.impurity(criterion, y_later, w_later, 3)
            for k in set(child):
                share = w_later[child == k].sum() / w_later.sum()
                expected -= share * naive.impurity(criterion, y_later[child == k], w_later[child == k], 3)
            if len(set(child)) > 1:
                assert found.validation_gain == pytest.approx(expected, abs=1e-10)
                n_told += 1
    assert n_told >= 14
    assert n_unseen > 20 or "algorithm" in settings


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_curve_has_every_threshold_and_its_top_is_the_best_split(criterion):
    tree, data, train, _, n_classes = study(criterion, 2)
    for node, rows in enumerate(naive.rows_by_node(tree, train[0])):
        X, y, w = (a[rows] for a in train)
        x = X[:, 0]
        curve = gain_curve(tree, tree.path_to(node), 0, data)
        distinct = np.unique(x[~np.isnan(x)])
        np.testing.assert_allclose(curve.thresholds, (distinct[:-1] + distinct[1:]) / 2)
        for threshold, told in zip(curve.thresholds, curve.gains, strict=True):
            ways = [x <= threshold] + ([(x <= threshold) | np.isnan(x)] if np.isnan(x).any() else [])
            best = max(naive.gain(criterion, way, y, w, n_classes) for way in ways)
            assert told == pytest.approx(max(best, 0), abs=1e-10)


def test_the_curve_of_the_widest_and_the_closest_values_has_finite_thresholds():
    """Case C12: adding first overflows, and halving first reaches the upper value."""
    for lower, upper, threshold in (
        (1.0e308, 1.7e308, 1.35e308), (-1.7e308, 1.7e308, 0.0), (5e-324, 1e-323, 5e-324),
        (1.0000000000000002, 1.0000000000000004, 1.0000000000000002),
    ):  # fmt: skip
        X, y = np.array([[lower], [upper]]), np.array([0, 1])
        model = DecisionTreeClassifier().fit(X, y)
        data = begin_fit(model, X, y, None, is_classifier=True)
        presorted = presort(data.X, data.features, lambda *_: False)
        rows = NodeRows(presorted, data.y, data.sample_weight, data.features, make_rules(model, data, 2.0))
        curve = gain_curve(model.tree_, (), 0, rows)
        assert (curve.thresholds.tolist(), curve.gains.tolist()) == ([threshold], [0.5])


def curve_of(x, y, w=None, **settings):
    """The curve of a table's one column at the root."""
    kind = DecisionTreeClassifier if settings.get("criterion") == "entropy" else DecisionTreeRegressor
    model = kind(**settings)
    data = begin_fit(model, np.array(x)[:, None], y, w, is_classifier=kind is DecisionTreeClassifier)
    rules = make_rules(model, data, float(data.sample_weight.sum()))
    presorted = presort(data.X, data.features, lambda *_: False)
    tree = kind(max_depth=1, **settings).fit(np.array(x)[:, None], y, w).tree_
    return gain_curve(
        tree, (), 0, NodeRows(presorted, data.y, data.sample_weight, data.features, rules)
    ), tree  # fmt: skip


@pytest.mark.parametrize(
    "pair", [(1e308, 1.7e308), (1.0, 1.0 + 2.0**-52), (5e-324, 1e-323), (-1e-323, -5e-324)]
)
def test_thresholds_of_the_curve_are_those_of_growing_at_the_ends_of_doubles(pair):
    curve, tree = curve_of(pair, [0.0, 1.0])
    assert curve.thresholds.tolist() == [tree.threshold[0]]
    assert pair[0] <= curve.thresholds[0] < pair[1]


def test_weights_of_all_sizes_leave_the_curve_finite():
    y = np.tile([0, 1, 2], 20)
    w = 10.0 ** -np.linspace(0, 60, 60)  # of the last thresholds, the right side is but rounding
    curve, _ = curve_of(np.arange(60.0), y, w, criterion="entropy")
    assert np.isfinite(curve.gains).all()


def test_limits_hold_and_what_has_no_thresholds_is_refused():
    tree, data, *_ = study("gini", 0, min_samples_leaf=50)
    for candidate in candidates(tree, (), data):
        x, split = data.presorted.X[:, candidate.feature], candidate.split
        side = children_of_split(split, x, split.missing_child, 0) == 0
        assert min(side.sum(), (~side).sum()) >= 50
    with pytest.raises(DataError, match="categorical; it has no thresholds"):
        gain_curve(tree, (), 1, data)
    with pytest.raises(DataError, match="the tree has no such node"):
        candidates(tree, (0, 0, 0, 0, 0, 0), data)
