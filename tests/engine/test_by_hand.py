"""Forced splits, the side of missing values, and growing below a node."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import DataError, ParameterError
from engine.predict import leaf_numbers
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.edit import Edit, replay
from engine.tree.node_rows import rows_at
from engine.tree.prune import prune
from engine.tree.regrow import criterion_of, regrow, training_data
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, Tree
from tests.engine import naive

CLASSIFIERS = {
    name: partial(DecisionTreeClassifier, **settings)
    for name, settings in {
        "gini": {},
        "entropy": {"criterion": "entropy", "min_samples_leaf": 3},
        "misclassification": {"criterion": "misclassification", "max_depth": 4},
        "id3": {"algorithm": "id3", "max_depth": 4},
        "c4.5": {"algorithm": "c4.5"},
    }.items()
}
REGRESSORS = {
    name: partial(DecisionTreeRegressor, criterion=name, max_depth=5)
    for name in ("squared_error", "absolute_error", "poisson")
}
MAKERS = CLASSIFIERS | REGRESSORS


def table(rng, n_rows=120):
    frame = pd.DataFrame(rng.normal(size=(n_rows, 2)).round(1), columns=["a", "b"])
    frame["c"] = pd.Categorical.from_codes(rng.integers(0, 4, n_rows), categories=["p", "q", "r", "s"])
    return frame.mask(rng.random(frame.shape) < 0.15)


def fitted(name, seed=0, **settings):
    """A tree of every kind on rows with missing cells and weights, and what it was grown on."""
    rng = np.random.default_rng(seed)
    X = table(rng)
    strength = X["a"].fillna(1.0) + (X["c"] == "q") + rng.normal(0, 0.5, len(X))
    y = np.digitize(strength, [0.0, 1.0])
    weights = rng.integers(0, 4, len(X)).astype(float)
    estimator = MAKERS[name](random_state=0, **settings).fit(X, y, weights)
    return estimator, training_data(estimator, X, y, weights)


def assert_describes_its_rows(tree: Tree, data, criterion):
    """Every node's numbers are those of the rows that reach it, counted row by row."""
    tree.validate()
    for node, rows in enumerate(naive.rows_by_node(tree, data.X)):
        y, w = data.y[rows], data.sample_weight[rows]
        assert tree.n_node_samples[node] == len(rows)
        assert tree.weighted_n_node_samples[node] == pytest.approx(w.sum())
        if not len(rows):
            np.testing.assert_array_equal(tree.value[node], tree.value[tree.parent[node]])
            continue
        value = naive.answer(criterion, y, w)
        if data.classes is not None:
            value = np.bincount(y.astype(int), weights=w, minlength=data.n_classes) / w.sum()
        np.testing.assert_allclose(tree.value[node], value, rtol=1e-12, atol=1e-14)
        impurity = naive.impurity(criterion, y, w, data.n_classes)
        assert tree.impurity[node] == pytest.approx(impurity, rel=1e-9, abs=1e-12)
        if tree.kind[node] != LEAF:
            x = data.X[rows, tree.feature[node]]
            assert tree.n_missing[node] == np.isnan(x).sum()
            children = np.array([naive.child_of(tree, node, value) for value in x])
            below = sum(
                w[children == k].sum()
                * naive.impurity(criterion, y[children == k], w[children == k], data.n_classes)
                for k in np.unique(children)
            )
            assert tree.gain[node] == pytest.approx(max(impurity - below / w.sum(), 0.0), abs=1e-12)


def flippable(tree):
    return [n for n in range(tree.n_nodes) if tree.kind[n] not in (LEAF, IS_MISSING)]


@pytest.mark.parametrize("name", MAKERS)
def test_missing_values_take_the_other_side_and_all_below_is_counted_anew(name):
    estimator, data = fitted(name)
    tree, criterion = estimator.tree_, criterion_of(estimator)
    before = Tree(**tree.to_arrays())
    nodes = flippable(tree)
    assert any(tree.n_missing[node] for node in nodes)
    for node in nodes:
        other = (int(tree.missing_child[node]) + 1) % int(tree.n_children[node])
        flipped = set_missing_direction(tree, tree.path_to(node), other, data, criterion)
        assert flipped.missing_child[node] == flipped.unseen_child[node] == other
        assert_describes_its_rows(flipped, data, criterion)
        elsewhere = np.setdiff1d(np.arange(tree.n_nodes), list(tree.walk(node)))
        np.testing.assert_array_equal(flipped.value[elsewhere], tree.value[elsewhere])
        back = set_missing_direction(
            flipped, tree.path_to(node), int(tree.missing_child[node]), data, criterion
        )
        np.testing.assert_array_equal(leaf_numbers(back, data.X), leaf_numbers(tree, data.X))
        np.testing.assert_allclose(back.value, tree.value, rtol=1e-12, atol=1e-14)
    assert tree == before


def test_an_empty_branch_follows_its_parent_when_rows_come_to_it():
    levels = pd.CategoricalDtype(["p", "q", "r"])
    X = pd.DataFrame(
        {
            "side": ["l", "l", "l", "l", "r", "r", None, None],
            "c": pd.Series(["p", "p", "q", "q", "r", "r", "p", "p"], dtype=levels),
        }
    ).astype({"side": "category"})
    y = [0, 0, 1, 1, 2, 2, 2, 2]
    estimator = DecisionTreeClassifier(algorithm="id3", random_state=0).fit(X, y)
    data = training_data(estimator, X, y)
    forced = force_split(estimator.tree_, (), "side", data, "entropy", levels=["l"])
    tree = set_missing_direction(forced, (), 1, data, "entropy")
    tree = regrow(tree, (0,), estimator, data)
    empty = tree.node_at((0, 2))
    assert (tree.n_node_samples[empty], tree.value[empty].tolist()) == (0, [0.5, 0.5, 0.0])
    flipped = set_missing_direction(tree, (), 0, data, "entropy")
    assert flipped.value[empty].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert_describes_its_rows(flipped, data, "entropy")


def test_where_no_row_is_missing_only_the_side_changes():
    X = np.array([[0.0], [1.0], [2.0]])
    estimator = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1])
    data = training_data(estimator, X, [0, 1, 1])
    flipped = set_missing_direction(estimator.tree_, (), 0, data)
    assert estimator.tree_.missing_child[0] == 1
    assert flipped.missing_child[0] == flipped.unseen_child[0] == 0
    assert set_missing_direction(flipped, (), 1, data) == estimator.tree_


def test_the_side_of_missing_is_refused_where_there_is_none():
    X = np.array([[0.0], [np.nan], [0.0], [np.nan]])
    y = [0, 1, 0, 1]
    estimator = DecisionTreeClassifier(random_state=0).fit(X, y)
    data = training_data(estimator, X, y)
    assert estimator.tree_.kind[0] == IS_MISSING
    with pytest.raises(DataError, match=r"^the root asks whether the value is missing"):
        set_missing_direction(estimator.tree_, (), 1, data)
    with pytest.raises(DataError, match=r'^the node at "yes" is a leaf'):
        set_missing_direction(estimator.tree_, (0,), 1, data)
    filled = training_data(estimator, np.array([[0.0], [0.0], [1.0], [0.0]]), y)
    split = force_split(estimator.tree_, (), "x0", filled, threshold=0.5)
    with pytest.raises(DataError, match=r"^the root has 2 branches; there is no child 2"):
        set_missing_direction(split, (), 2, filled)


def test_five_leaves_of_forced_splits():
    """The worked example of the definition: F2 < 0, F1 < -0.25 then F2 < -0.4, and F1 < 1.25."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    region = np.where(
        X[:, 1] <= 0,
        np.where(X[:, 0] <= -0.25, np.where(X[:, 1] <= -0.4, 0, 1), 2),
        np.where(X[:, 0] <= 1.25, 3, 4),
    )
    estimator = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, region)
    data = training_data(estimator, X, region)
    edits = [
        Edit("force_split", (), feature="x1", threshold=0.0),
        Edit("force_split", (0,), feature="x0", threshold=-0.25),
        Edit("force_split", (0, 0), feature="x1", threshold=-0.4),
        Edit("force_split", (1,), feature="x0", threshold=1.25),
    ]
    tree, lost = replay(edits, estimator.tree_, data, estimator)
    assert lost == []
    assert tree.n_leaves == 5
    assert_describes_its_rows(tree, data, "gini")
    np.testing.assert_array_equal(np.argmax(tree.value[leaf_numbers(tree, X)], axis=1), region)
    assert np.all(tree.impurity[tree.is_leaf] == 0)


@pytest.mark.parametrize("name", MAKERS)
def test_a_forced_split_describes_its_rows_and_replaces_what_was_below(name):
    estimator, data = fitted(name)
    tree, criterion = estimator.tree_, criterion_of(estimator)
    for path in [(), tree.path_to(int(np.flatnonzero(tree.is_leaf & (tree.n_node_samples >= 6))[0]))]:
        rows = rows_at(tree, path, data.X)
        x = data.X[rows, 1]
        threshold = float(np.nanmedian(x)) - 0.05
        split = force_split(tree, path, "b", data, criterion, threshold=threshold)
        node = split.node_at(path)
        assert (split.feature[node], split.threshold[node]) == (1, threshold)
        assert all(split.kind[child] == LEAF for child in split.children(node))
        assert_describes_its_rows(split, data, criterion)
        gains = [
            naive.gain(
                criterion,
                (x <= threshold) | missing_left,
                data.y[rows],
                data.sample_weight[rows],
                data.n_classes,
            )
            for missing_left in (np.isnan(x), np.zeros(len(x), bool))
        ]
        assert split.gain[node] == pytest.approx(max(gains), abs=1e-12)


def test_a_forced_split_on_levels_lists_those_chosen_and_those_seen():
    X = pd.DataFrame({"c": pd.Categorical(["p", "q", "r", "p", "q", None], categories=["p", "q", "r", "s"])})
    y = [0, 1, 1, 0, 1, 0]
    estimator = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    data = training_data(estimator, X, y)
    split = force_split(estimator.tree_, (), "c", data, levels=["s", "p"])
    assert split.kind[0] == LEVEL_SET
    assert split.levels(0).tolist() == [[0, 0], [1, 1], [2, 1], [3, 0]]
    assert split.missing_child[0] == split.unseen_child[0] == 0
    assert split.n_missing[0] == 1
    assert split.gain[0] == 0.5
    assert_describes_its_rows(split, data, "gini")


@pytest.mark.parametrize("name", MAKERS)
def test_missing_itself_is_asked_for_numbers_and_categories(name):
    estimator, data = fitted(name)
    tree, criterion = estimator.tree_, criterion_of(estimator)
    for column, feature in ((1, "b"), (2, "c")):
        split = force_split(tree, (), feature, data, criterion, is_missing=True)
        assert (split.feature[0], split.kind[0], split.n_nodes) == (column, IS_MISSING, 3)
        is_missing = np.isnan(data.X[:, column])
        assert split.n_node_samples.tolist() == [len(data.X), is_missing.sum(), (~is_missing).sum()]
        assert (split.missing_child[0], split.unseen_child[0]) == (0, 1)
        assert_describes_its_rows(split, data, criterion)
        again = Edit("force_split", (1,), feature=feature, is_missing=True)
        assert replay([again], split, data, estimator) == (split, [again])  # none is missing there any more


def test_missing_is_sent_to_the_larger_side_where_no_row_misses():
    X = np.arange(6.0)[:, None]
    estimator = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, X[:, 0])
    data = training_data(estimator, X, X[:, 0])
    for threshold, larger in ((0.5, 1), (2.5, 0), (4.5, 0)):
        split = force_split(estimator.tree_, (), "x0", data, "squared_error", threshold=threshold)
        assert split.missing_child[0] == split.unseen_child[0] == larger


def test_missing_takes_the_side_that_is_asked_for():
    """Growing keeps to five rows a leaf, so the missing one joins the four on its left: a gain of 0.32."""
    x = np.array([1.0] * 4 + [np.nan] + [2.0] * 5)[:, None]
    y = np.array([0] * 4 + [1] * 6)
    estimator = DecisionTreeClassifier(min_samples_leaf=5).fit(x, y)
    data, tree = training_data(estimator, x, y), estimator.tree_
    assert (tree.missing_child[0], tree.unseen_child[0]) == (0, 0)
    assert tree.gain[0] == pytest.approx(0.32)
    cut = prune(tree, ())
    free = Edit("force_split", (), feature="x0", threshold=1.5)
    as_grown = Edit("force_split", (), feature="x0", threshold=1.5, missing_child=0)
    assert Edit.from_plain(json.loads(json.dumps(as_grown.to_plain()))) == as_grown
    assert replay([as_grown], cut, data, estimator) == (tree, [])
    forced = free.apply(cut, data, estimator)
    assert (forced.missing_child[0], forced.gain[0]) == (1, pytest.approx(0.48))
    whole = np.arange(6.0)[:, None]  # where nothing is missing the larger side has it all the same
    data = training_data(estimator, whole, whole[:, 0] > 1)
    split = force_split(cut, (), "x0", data, threshold=1.5, missing_child=0)
    assert split.missing_child[0] == 1


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ({"feature": "a", "threshold": 99.0}, DataError, "values of 'a' would all go to one side"),
        ({"feature": "z", "threshold": 0.0}, DataError, "no column 'z'"),
        ({"feature": "a", "levels": ["p"]}, ParameterError, "'a' holds numbers"),
        ({"feature": "a", "threshold": float("inf")}, ParameterError, "finite number"),
        ({"feature": "c", "threshold": 1.0}, ParameterError, "'c' holds categories"),
        ({"feature": "c", "levels": []}, ParameterError, "choose the levels"),
        ({"feature": "c", "levels": ["nowhere"]}, DataError, "no level 'nowhere'"),
        ({"feature": "a", "is_missing": True}, DataError, "no training row of this node misses 'a'"),
        ({"feature": "b", "is_missing": True, "threshold": 1.0}, ParameterError, "give no threshold"),
        ({"feature": "b", "is_missing": True, "missing_child": 0}, ParameterError, "and no missing_child"),
        ({"feature": "c", "each_level": True, "missing_child": 1}, ParameterError, "and no missing_child"),
        ({"feature": "a", "threshold": 0.0, "missing_child": 2}, ParameterError, "the sides 0 and 1"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_refused(question, error, message):
    X = table(np.random.default_rng(0)).fillna({"a": 0.0})
    y = np.arange(len(X)) % 2
    estimator = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    with pytest.raises(error, match=message):
        force_split(estimator.tree_, (), data=training_data(estimator, X, y), **question)


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_grown_below_a_pruned_node_is_what_was_pruned_to_the_last_bit(name):
    estimator, data = fitted(
        name, min_samples_split=0.05, min_impurity_decrease=1e-3, min_relative_decrease=0.1
    )
    tree = estimator.tree_
    assert tree.n_leaves > 4
    for node in flippable(tree):
        path = tree.path_to(node)
        assert regrow(prune(tree, path), path, estimator, data) == tree
        assert regrow(tree, path, estimator, data) == tree


def test_growing_below_prunes_as_the_whole_tree_was():
    estimator, data = fitted("gini", ccp_alpha=0.01)
    tree = estimator.tree_
    assert tree.n_leaves > 3
    for node in flippable(tree):
        assert regrow(prune(tree, tree.path_to(node)), tree.path_to(node), estimator, data) == tree


def test_leaves_elsewhere_count_when_the_number_of_leaves_is_limited():
    estimator, data = fitted("gini", max_leaf_nodes=8)
    tree = estimator.tree_
    path = tree.path_to(int(tree.first_child[0]))
    cut = prune(tree, path)
    assert regrow(cut, path, estimator, data).n_leaves == 8
    full = regrow(tree, tree.path_to(int(np.flatnonzero(tree.is_leaf)[0])), estimator, data)
    assert full == tree


def test_below_a_forced_split_grows_the_best_tree_of_its_rows():
    estimator, data = fitted("squared_error")
    forced = force_split(estimator.tree_, (), "b", data, "squared_error", threshold=0.05)
    grown = regrow(forced, (1,), estimator, data)
    rows = rows_at(forced, (1,), data.X)
    best = naive.best_gain(
        data.X[rows], data.y[rows], data.sample_weight[rows], [False, False, True], "squared_error", 0
    )
    assert grown.gain[grown.node_at((1,))] == pytest.approx(best, abs=1e-12)
    assert grown.kind[grown.node_at((0,))] == LEAF
    assert grown.max_depth == 5
    assert_describes_its_rows(grown, data, "squared_error")


def test_a_branch_without_rows_answers_as_its_parent_and_cannot_be_grown():
    X = np.array([[0.0, 0.0], [np.nan, 1.0], [np.nan, 2.0], [3.0, 5.0], [4.0, 5.0]])
    y = [0, 1, 2, 2, 2]
    estimator = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    data = training_data(estimator, X, y)
    tree = force_split(estimator.tree_, (), "x0", data, threshold=2.5)
    tree = set_missing_direction(tree, (), 1, data)
    tree = force_split(tree, (1,), "x1", data, threshold=2.5)  # missing values alone take its first side
    tree = set_missing_direction(tree, (), 0, data)
    assert tree.n_node_samples[tree.node_at((1, 0))] == 0
    assert_describes_its_rows(tree, data, "gini")
    with pytest.raises(DataError, match="no training row reaches"):
        regrow(tree, (1, 0), estimator, data)
    with pytest.raises(DataError, match="all go to one side"):
        force_split(tree, (1, 0), "x1", data, threshold=2.5)


def test_a_stop_leaves_a_valid_tree():
    estimator, data = fitted("gini")
    for n_asked in range(6):
        answers = iter([False] * n_asked + [True] * 99)
        tree = regrow(estimator.tree_, (), estimator, data, lambda *_, left=answers: next(left))
        assert_describes_its_rows(tree, data, "gini")


def test_edits_are_plain_and_come_back():
    edits = [
        Edit("force_split", (0, 1), feature="a", threshold=0.1 + 0.2),
        Edit("force_split", (), feature="c", levels=("q", "p")),
        Edit("set_missing", (1,), child=1),
        Edit("regrow", (0,)),
        Edit("cost_complexity", alpha=0.5),
    ]
    assert [Edit.from_plain(edit.to_plain()) for edit in edits] == edits
    assert Edit.from_plain({"kind": "prune", "path": [0, 1]}) == Edit("prune", (0, 1))
    with pytest.raises(ParameterError, match="needs a column"):
        Edit("force_split", ())


def test_replay_tells_which_edits_hold_no_longer():
    estimator, data = fitted("gini")
    tree = estimator.tree_
    assert replay([], tree, data, estimator) == (tree, [])
    stump, holds = prune(tree, ()), Edit("force_split", (), feature="b", threshold=0.05)
    gone = [
        Edit("set_missing", (), child=1),
        Edit("regrow", (0, 1)),
        Edit("force_split", (), feature="sold", threshold=0.0),
        Edit("force_split", (), feature="c", levels=("nowhere",)),
    ]
    assert replay([*gone, holds], stump, data, estimator) == (holds.apply(stump, data, estimator), gone)
    with pytest.raises(ParameterError, match="needs data and estimator"):
        replay([holds], stump)


def random_edit(rng, tree):
    path = tree.path_to(int(rng.integers(tree.n_nodes)))
    kind = rng.choice(["force_split", "set_missing", "regrow", "prune", "splits"])
    if kind == "splits":
        return Edit(kind, n_splits=int(rng.integers(6)))
    if kind == "set_missing":
        return Edit(kind, path, child=int(rng.integers(2)))
    if kind != "force_split":
        return Edit(kind, path)
    if rng.random() < 0.2:
        return Edit(kind, path, feature=str(rng.choice(["a", "b", "c"])), is_missing=True)
    if rng.random() < 0.3:
        return Edit(
            kind, path, feature="c", levels=tuple(rng.choice(list("pqrs"), 2, replace=False).tolist())
        )
    return Edit(kind, path, feature=str(rng.choice(["a", "b"])), threshold=float(rng.normal()))


@pytest.mark.parametrize("name", MAKERS)
def test_any_edits_leave_trees_that_describe_their_rows_and_replay_to_the_same(name):
    estimator, data = fitted(name, seed=1)
    rng, tree, edits, refused = np.random.default_rng(2), estimator.tree_, [], []
    for _ in range(12):
        edit = random_edit(rng, tree)
        edits.append(Edit.from_plain(json.loads(json.dumps(edit.to_plain()))))
        try:
            tree = edit.apply(tree, data, estimator)
        except DataError:
            refused.append(edit)
            continue
        assert_describes_its_rows(tree, data, criterion_of(estimator))
    assert replay(edits, estimator.tree_, data, estimator) == (tree, refused)
    assert len(refused) < 10


@pytest.mark.parametrize("missing", ["learned", "level"])
@pytest.mark.parametrize("seed", range(6))
def test_a_branch_a_level_is_what_id3_makes(seed, missing):
    """Of the column that it chooses at the root; levels that the node has no rows of have a branch, too."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, 60).astype(float)
    other = rng.integers(0, 3, 60).astype(float)
    if seed % 2:
        x[rng.random(60) < 0.2] = np.nan
    X = pd.DataFrame({"a": pd.Categorical(x), "b": pd.Categorical(other)})
    y = (np.nan_to_num(x, nan=1.0) + rng.integers(0, 2, 60)) % 3
    w = rng.integers(1, 4, 60).astype(float)
    model = DecisionTreeClassifier(algorithm="id3", missing=missing, max_depth=1).fit(X, y, w)
    data = training_data(model, X, y, w)
    asked = data.features[int(model.tree_.feature[0])].name
    edit = Edit("force_split", (), feature=asked, each_level=True)
    assert Edit.from_plain(edit.to_plain()) == edit
    forced = edit.apply(model.tree_, data, model)
    for name, array in model.tree_.to_arrays().items():
        np.testing.assert_allclose(getattr(forced, name), array, atol=1e-12, err_msg=name)
    below = Edit("force_split", (0,), feature="b" if asked == "a" else "a", each_level=True)
    deeper = below.apply(forced, data, model)
    deeper.validate()
    encoded = data.X
    assert deeper.n_node_samples.tolist() == [len(rows) for rows in naive.rows_by_node(deeper, encoded)]
    with pytest.raises(DataError, match="rows of this node have one level of"):
        Edit("force_split", (1,), feature=asked, each_level=True).apply(forced, data, model)


def test_numbers_have_no_branch_a_level():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    data = training_data(model, [[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ParameterError, match="holds numbers, which have no levels; give a threshold"):
        force_split(model.tree_, (), "x0", data, "squared_error", each_level=True)
    with pytest.raises(ParameterError, match="give no threshold or levels"):
        force_split(model.tree_, (), "x0", data, "squared_error", threshold=0.5, each_level=True)
