"""monotonic_cst: the best split that keeps the directions, as scikit-learn's; nothing breaks them later."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import tree as sk
from sklearn.base import clone

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import DataError, ParameterError
from engine.export.json import from_json, to_json
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.candidates import NodeRows, candidates, gain_curve
from engine.tree.cost_complexity import prune_at, pruning_path
from engine.tree.cross_validation import cross_validate_path
from engine.tree.directions import bounded, bounds_of, directions_of
from engine.tree.edit import Edit, replay
from engine.tree.growth_rules import make_rules
from engine.tree.presort import presort
from engine.tree.regrow import regrow, training_data
from engine.tree.structure import THRESHOLD
from tests.engine import naive
from tests.engine.test_against_scikit_learn import SEEDS, first_difference, is_tie, same_questions

CRITERIA = ["squared_error", "poisson", "absolute_error", "gini", "entropy", "misclassification"]
OF_NUMBERS = ("squared_error", "poisson", "absolute_error")
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)
examples = settings(max_examples=20, deadline=None, derandomize=True, database=None)


def model_of(criterion, **settings):
    is_number = criterion in OF_NUMBERS
    kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
    return kind(criterion=criterion, **settings)


def table(seed, criterion, n_rows=60, shares_missing=0.2):
    """Three numbers, one of them with ties, and a category; all but the first may be missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n_rows), rng.integers(0, 5, n_rows), rng.normal(size=n_rows),
            rng.integers(0, 4, n_rows),
        ]
    )  # fmt: skip
    X[:, 1:][rng.random((n_rows, 3)) < shares_missing] = np.nan
    y = np.sin(2 * X[:, 0]) + np.nan_to_num(X[:, 1]) / 2 - np.nan_to_num(X[:, 2]) + rng.normal(size=n_rows)
    if criterion == "poisson":
        y = np.floor(np.exp(y / 2))
    elif criterion == "absolute_error":
        y = np.round(y, 1)  # medians of several rows, and half way between them
    elif criterion != "squared_error":
        y = (y > 1).astype(float)
    return X, y, rng.uniform(0.5, 2, n_rows) if seed % 2 else np.ones(n_rows)


def broken(model, X, signs):
    """How many steps up a column's values change the prediction against its sign, every row tried at all."""
    n_broken = 0
    for feature, sign in enumerate(signs):
        grid = np.unique(X[~np.isnan(X[:, feature]), feature])
        moved = np.repeat(X, len(grid), axis=0)
        moved[:, feature] = np.tile(grid, len(X))
        told = model.predict_proba(moved)[:, 1] if hasattr(model, "classes_") else model.predict(moved)
        n_broken += np.count_nonzero(np.diff(told.reshape(len(X), -1), axis=1) * sign < 0)
    return n_broken


@every_criterion
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("missing", ["learned", "level"])
def test_every_gain_is_the_largest_that_keeps_the_directions(criterion, seed, missing):
    X, y, w = table(seed, criterion)
    signs = [[1, 0, 0, 0], [-1, 1, 0, 0], [1, -1, 1, 0], [0, 0, -1, 0]][seed % 4]
    model = model_of(criterion, monotonic_cst=signs, max_depth=5, categorical_features=[3], missing=missing)
    tree = model.fit(X, y, w).tree_
    depths = tree.depths
    bounds = [(-np.inf, np.inf)] * tree.n_nodes
    n_classes = 0 if criterion in OF_NUMBERS else 2
    for node, rows in enumerate(naive.rows_by_node(tree, X)):
        x, target, weights = X[rows], y[rows], w[rows]
        if len(set(target)) == 1 or depths[node] == 5:
            assert tree.is_leaf[node]
            continue

        def keeps(feature, goes_left, x=x, target=target, weights=weights, node=node):
            is_free = not signs[feature] or np.array_equal(goes_left, np.isnan(x[:, feature]))
            way = (criterion, signs[feature], goes_left, target, weights, bounds[node])
            return is_free or naive.keeps_direction(*way)

        best = naive.best_gain(x, target, weights, [0, 0, 0, 1], criterion, n_classes, 1, keeps, missing)
        assert tree.is_leaf[node] == (best is None)
        if best is None:
            continue
        assert tree.gain[node] == pytest.approx(best, abs=1e-12)
        children, sign = tree.children(node), signs[tree.feature[node]]
        for child in children:
            bounds[child] = bounds[node]
        if sign and tree.kind[node] == THRESHOLD:
            goes_left = np.isin(rows, naive.rows_by_node(tree, X)[children[0]])
            sides = (goes_left, ~goes_left)
            told = [naive.answer(criterion, target[side], weights[side]) for side in sides]
            low, high = children if sign > 0 else reversed(children)
            bounds[low] = (bounds[node][0], np.mean(told))
            bounds[high] = (np.mean(told), bounds[node][1])
        for child in children:
            inside = naive.rows_by_node(tree, X)[child]
            raw = naive.answer(criterion, y[inside], w[inside])
            assert tree.value[child, -1] == pytest.approx(np.clip(raw, *bounds[child]), abs=1e-12)
            assert tree.value[child].sum() == pytest.approx(1.0 if n_classes else tree.value[child, 0])
    assert broken(model, X, signs) == 0


@pytest.mark.parametrize(("criterion", "n_tables"), [("squared_error", 60), ("gini", 60), ("entropy", 30)])
def test_the_same_trees_as_scikit_learn_where_its_seeds_agree(criterion, n_tables):
    is_number = criterion == "squared_error"
    theirs_of = sk.DecisionTreeRegressor if is_number else sk.DecisionTreeClassifier
    n_agreed = n_same = n_bound = seed = 0
    while n_agreed < n_tables:
        seed += 1
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 4)).astype(np.float32)
        y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=300) / 2
        y = y if is_number else (y > np.median(y)).astype(int)
        w = rng.uniform(0.5, 3, 300) if seed % 2 else None
        wanted = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": int(rng.integers(8, 20))}
        wanted |= {"monotonic_cst": rng.integers(-1, 2, 4)} | ({"max_leaf_nodes": 8} if seed % 5 == 0 else {})
        models = [theirs_of(random_state=s, **wanted).fit(X, y, w) for s in SEEDS]
        if not all(same_questions(models[0].tree_, other.tree_) for other in models):
            continue
        n_agreed += 1
        ours, fresh = model_of(**wanted).fit(X, y, w), rng.normal(size=(500, 4))
        n_bound += bool(np.isfinite(bounds_of(ours.tree_, directions_of(ours, ours.features_))).any())
        nodes = first_difference(models[0].tree_, ours.tree_)
        if nodes is not None:  # five seeds may break a tie alike by chance
            weights = np.ones(300) if w is None else w
            assert is_tie(models[0].tree_, ours.tree_, nodes, X, y, weights, criterion), f"table {seed}"
            continue
        n_same += 1
        told = [m.predict(fresh) if is_number else m.predict_proba(fresh) for m in (models[0], ours)]
        np.testing.assert_allclose(told[1], told[0], rtol=1e-9, err_msg=f"table {seed}")
    assert seed <= 2 * n_agreed
    assert n_same >= 0.95 * n_agreed
    assert n_bound > 0.7 * n_agreed


@every_criterion
@examples
@given(data=st.data())
def test_predictions_never_go_the_wrong_way(criterion, data):
    """Grown, pruned and changed by hand, with draws, ties and missing values."""
    signs = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3), "signs")
    X, y, w = table(data.draw(st.integers(0, 10**6), "table"), criterion, n_rows=30)
    X[:, :3] = np.round(X[:, :3] * 2)
    limits = data.draw(st.sampled_from([{}, {"max_leaf_nodes": 6}, {"splitter": "random"}]), "limits")
    model = model_of(criterion, monotonic_cst=[*signs, 0], categorical_features=[3], random_state=0, **limits)
    if criterion == "poisson":
        y[0] = 1.0
    tree = model.fit(X, y, w).tree_
    directions = directions_of(model, model.features_)
    assert broken(model, X, [*signs, 0]) == 0
    assert bounded(tree, directions) == tree
    rows = training_data(model, X, y, w)
    for node in np.flatnonzero(~tree.is_leaf)[:6]:
        path = tree.path_to(int(node))
        if not limits:
            assert regrow(tree, path, model, rows) == tree
        edits = [Edit("set_missing", path, child=child) for child in (0, 1)]
        edits += [Edit("force_split", path, feature="x0", threshold=float(np.median(X[:, 0])))]
        edits += [Edit("force_split", path, feature="x3", levels=(0.0, 1.0)), Edit("regrow", path)]
        for edit in edits:
            model.tree_, _lost = replay([edit], tree, rows, model)
            assert broken(model, X, [*signs, 0]) == 0, edit
    for alpha in pruning_path(tree).alphas:
        model.tree_ = prune_at(tree, float(alpha))
        assert broken(model, X, [*signs, 0]) == 0


def steep():
    """y falls along the first column, and the second says more."""
    x = np.arange(12.0)
    return np.column_stack([x, x % 2]), 10 * (x % 2) - x


def test_no_split_is_taken_against_a_direction_though_it_gains():
    X, y = steep()
    assert (
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X[:, :1].repeat(2, axis=1), y).tree_.feature[0] == 1
    )
    assert DecisionTreeRegressor(monotonic_cst=[1, 1]).fit(X[:, :1].repeat(2, axis=1), y).tree_.n_nodes == 1
    assert set(DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y).tree_.feature) == {1, -1}
    assert DecisionTreeRegressor(monotonic_cst=[-1, 0]).fit(X, y).tree_.n_leaves == 12


def test_of_two_classes_the_second_ones_share_goes_the_way():
    X = np.arange(8.0)[:, None]
    y = np.array(["late"] * 4 + ["early"] * 4)  # early is the first class, late the second
    assert DecisionTreeClassifier(monotonic_cst=[1]).fit(X, y).get_n_leaves() == 1
    assert DecisionTreeClassifier(monotonic_cst=[-1]).fit(X, y).get_n_leaves() == 2


def test_columns_may_be_named():
    X, y = steep()
    frame = pd.DataFrame(X, columns=["age", "sex"])
    by_name = DecisionTreeRegressor(monotonic_cst={"age": -1}).fit(frame, y)
    assert by_name.tree_ == DecisionTreeRegressor(monotonic_cst=[-1, 0]).fit(X, y).tree_
    assert by_name.tree_ == DecisionTreeRegressor(monotonic_cst=np.array([-1, 0])).fit(X, y).tree_
    free = DecisionTreeRegressor().fit(X, y).tree_
    assert DecisionTreeRegressor(monotonic_cst={}).fit(X, y).tree_ == free
    assert DecisionTreeRegressor(monotonic_cst=[0, 0]).fit(X, y).tree_ == free


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([1], "monotonic_cst has 1 entries but the table has 2 columns"),
        ({"height": 1}, "names the column 'height', but the columns are age, sex"),
        ({"sex": 1}, "wants the value to rise with column 'sex', but that is a category"),
        ([2, 0], "monotonic_cst is \\[2, 0\\]; enter 1 \\(rises\\), -1 \\(falls\\) or 0 for every column"),
        ({"age": "up"}, "by column name, or None"),
        ("age", "monotonic_cst is 'age'"),
        (7, "monotonic_cst is 7"),
        ({0: 1}, "by column name"),
    ],
)
def test_what_cannot_be_is_refused_with_its_cure(wanted, message):
    X, y = steep()
    frame = pd.DataFrame({"age": X[:, 0], "sex": pd.Categorical(np.where(X[:, 1], "f", "m"))})
    with pytest.raises(ParameterError, match=message):
        DecisionTreeRegressor(monotonic_cst=wanted).fit(frame, y)


def test_three_classes_and_multiway_trees_are_refused():
    X, y = steep()
    with pytest.raises(ParameterError, match=r"there are 3 classes; .* join classes"):
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(X, np.arange(12) % 3)
    with pytest.raises(ParameterError, match=r"monotonic_cst is .* but ID3 has no such limit"):
        DecisionTreeClassifier(monotonic_cst=[1, 0], algorithm="id3").fit(X, y > 0)


def fitted_with_rows(**settings):
    X, y, w = table(3, "squared_error", n_rows=200)
    model = DecisionTreeRegressor(
        monotonic_cst=[1, 0, -1, 0], categorical_features=[3], min_samples_leaf=8, **settings
    )
    return model.fit(X, y, w), X, y, w


def test_a_forced_split_against_the_direction_is_refused_and_replay_reports_it():
    X, y = steep()
    model = DecisionTreeRegressor(monotonic_cst={"x0": 1}).fit(X, y)
    rows, directions = training_data(model, X, y), directions_of(model, model.features_)
    with pytest.raises(DataError, match=r"must rise with 'x0', but up to this threshold it would be 2.5 and"):
        force_split(model.tree_, (), "x0", rows, "squared_error", threshold=5.5, directions=directions)
    edit = Edit("force_split", (), feature="x0", threshold=5.5)
    assert replay([edit], model.tree_, rows, model) == (model.tree_, [edit])
    kept = force_split(model.tree_, (), "x1", rows, "squared_error", threshold=0.5, directions=directions)
    assert kept.value[1:, 0].tolist() == [-5.0, 4.0]


def test_a_forced_split_outside_the_bounds_from_above_is_refused():
    x = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    other = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    y = np.array([0.0, 0.0, 8.0, 8.0, 6.0, 6.0, 6.0, 6.0])  # means along x: 4 and 6, half way 5
    model = DecisionTreeRegressor(monotonic_cst=[1, 1], max_depth=1).fit(np.column_stack([x, other]), y)
    X = np.column_stack([x, other])
    rows, directions = training_data(model, X, y), directions_of(model, model.features_)
    tree = force_split(model.tree_, (), "x0", rows, "squared_error", threshold=0.5, directions=directions)
    with pytest.raises(
        DataError, match="keep the prediction between -inf and 5 here, but with this split on"
    ):
        force_split(tree, (0,), "x1", rows, "squared_error", threshold=0.5, directions=directions)
    free = np.array([1, 0], np.uint8)
    clipped = force_split(tree, (0,), "x1", rows, "squared_error", threshold=0.5, directions=free)
    assert clipped.value[list(clipped.children(1)), 0].tolist() == [0.0, 5.0]


def test_missing_values_take_the_other_side_where_the_better_one_would_break_the_direction():
    x = np.r_[np.zeros(100), 1.0, 1.0, np.nan, np.nan]
    y = np.r_[np.full(100, 5.0), 6.0, 6.0, 0.0, 0.0]
    model = DecisionTreeRegressor(monotonic_cst=[1], max_depth=1).fit(x[:, None], y)
    rows = training_data(model, x[:, None], y)
    edit = Edit("force_split", (), feature="x0", threshold=0.5)
    free = force_split(model.tree_, (), "x0", rows, "squared_error", threshold=0.5)
    assert (free.missing_child[0], free.value[1:, 0].tolist()) == (1, [5.0, 3.0])  # squares 36, and 49 left
    kept = edit.apply(model.tree_, rows, model)
    assert kept.missing_child[0] == 0
    assert kept.value[1:, 0].tolist() == pytest.approx([500 / 102, 6.0])


def test_where_missing_values_change_sides_the_values_meet_half_way():
    x = np.array([0.0, 0.0, 1.0, 1.0, np.nan, np.nan])
    y = np.array([0.0, 0.0, 2.0, 2.0, 9.0, 9.0])
    model = DecisionTreeRegressor(monotonic_cst=[1]).fit(x[:, None], y)
    path = model.tree_.path_to(int(np.flatnonzero(model.tree_.kind == THRESHOLD)[0]))
    rows = training_data(model, x[:, None], y)
    forced = force_split(
        model.tree_, (), "x0", rows, "squared_error", threshold=0.5, directions=np.array([1], np.uint8)
    )
    assert (path, forced.missing_child[0]) == ((1,), 1)
    turned = set_missing_direction(forced, (), 0, rows, "squared_error", np.array([1], np.uint8))
    assert turned.value[1:, 0].tolist() == [3.25, 3.25]  # 4.5 on the left and 2 on the right


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_candidates_are_those_that_growing_may_take(criterion):
    model, X, y, w = fitted_with_rows(criterion=criterion)
    rows = training_data(model, X, y, w)
    presorted = presort(rows.X, rows.features, lambda *_: False)
    rules = make_rules(model, rows, float(w.sum()))
    looked = NodeRows(presorted, rows.y, rows.sample_weight, rows.features, rules)
    tree, n_bound = model.tree_, 0
    for node in range(tree.n_nodes):
        found = candidates(tree, tree.path_to(node), looked)
        if tree.is_leaf[node]:
            assert not found
            continue
        assert (found[0].feature, found[0].gain) == (tree.feature[node], pytest.approx(tree.gain[node]))
        free = gain_curve(tree, tree.path_to(node), 0, looked)
        assert free.gains.max() >= max((c.gain for c in found if c.feature == 0), default=0.0) - 1e-12
        assert np.isfinite(free.gains).all()
        n_bound += len(found) < 4
    assert n_bound > 2


def test_folds_keep_the_directions():
    """A fold's trees are those of an estimator fitted on the rest."""
    model, X, y, w = fitted_with_rows(max_leaf_nodes=9)
    folds = np.arange(len(y)) % 3
    losses = cross_validate_path(model, pruning_path(model.tree_), X, y, folds, w)
    errors = np.zeros(len(y))
    for fold in range(3):
        inside = folds != fold
        part = clone(model).fit(X[inside], y[inside], w[inside])
        errors[~inside] = (part.predict(X[~inside]) - y[~inside]) ** 2
    assert losses.mean[0] == pytest.approx(np.average(errors, weights=w))


def test_a_file_holds_them():
    model, X, _y, _w = fitted_with_rows()
    again = from_json(to_json(model))
    assert again.monotonic_cst == [1, 0, -1, 0]
    assert again.tree_ == model.tree_
    assert again.predict(X).tolist() == model.predict(X).tolist()
