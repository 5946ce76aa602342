"""Weakest-link pruning against a naive twin, scikit-learn, and numbers worked by hand."""

import numpy as np
import pytest
import sklearn.tree

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.predict import tree_values
from engine.tree.cost_complexity import (
    LOSSES,
    PathLosses,
    cut_prices,
    grid_between,
    loss_of,
    path_losses,
    prune_at,
    pruning_path,
)
from engine.tree.cross_validation import cross_validate_path
from engine.tree.prune import prune
from tests.engine import naive


def naive_path(tree):
    """Cut the weakest links one alpha at a time, all sums made anew: (alphas, trees)."""
    n = tree.weighted_n_node_samples[0]

    def branch(t, node):
        below = [leaf for leaf in t.walk(node) if t.is_leaf[leaf]]
        return sum(t.impurity[i] * t.weighted_n_node_samples[i] / n for i in below), len(below)

    def strengths(t):
        found = {}
        for node in np.flatnonzero(~t.is_leaf).tolist():
            risk, n_leaves = branch(t, node)
            own = t.impurity[node] * t.weighted_n_node_samples[node] / n
            found[t.path_to(node)] = max(own - risk, 0.0) / (n_leaves - 1)
        return found

    alphas, trees, alpha, slack = [0.0], [tree], 0.0, 1e-10 * tree.impurity[0]
    while not trees[-1].is_leaf[0]:
        found = strengths(trees[-1])
        path, weakest = min(found.items(), key=lambda item: item[1])
        if weakest > alpha + slack:
            alpha = weakest
            alphas.append(alpha)
            trees.append(trees[-1])
        trees[-1] = prune(trees[-1], path)
    return np.array(alphas), trees


def table(seed, loss, n=150):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.round(rng.normal(size=(n, 3)), 1), rng.integers(0, 5, n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0]) + (X[:, 3] % 2 == 1)
    y = signal + rng.normal(0, 0.7, n)
    if loss == "misclassification":
        y = np.digitize(y, [0, 1])
    elif loss == "poisson":
        y = np.maximum(np.floor(2 * y), 0.0)
    return X, y, rng.integers(1, 4, n).astype(float)


def fitted(seed, loss):
    X, y, w = table(seed, loss)
    is_classifier = loss == "misclassification"
    model = DecisionTreeClassifier() if is_classifier else DecisionTreeRegressor(criterion=loss)
    model.set_params(categorical_features=[3]).fit(X, y, w)
    assert loss_of(model) == loss
    return model.tree_, X, y.astype(float), w


@pytest.mark.parametrize("loss", ["misclassification", "squared_error"])
@pytest.mark.parametrize("seed", range(4))
def test_path_is_the_naive_one(seed, loss):
    tree, _X, _y, w = fitted(seed, loss)
    path = pruning_path(tree)
    alphas, trees = naive_path(tree)
    np.testing.assert_allclose(path.alphas, alphas, rtol=1e-9, atol=1e-14)
    assert np.all(np.diff(path.alphas) > 0)
    assert path.n_leaves.tolist() == [t.n_leaves for t in trees]
    for step, expected in enumerate(trees):
        assert prune_at(tree, float(path.alphas[step]), path) == expected
        assert path.step_of(float(path.alphas[step])) == step
        risks = expected.impurity * expected.weighted_n_node_samples / w.sum()
        np.testing.assert_allclose(path.impurities[step], risks[expected.is_leaf].sum(), atol=1e-12)
    assert path.n_leaves[-1] == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_prices_are_those_of_the_pruned_trees(loss):
    tree, *_ = fitted(0, loss)
    X, y, w = table(9, loss, 90)

    def losses(pruned):
        return naive.losses(loss, tree_values([pruned], X), y, 1e-15 * tree.value[0, 0])

    path = pruning_path(tree)
    grid = np.concatenate([path.alphas, path.alphas[:-1] + np.diff(path.alphas) / 2])
    grid.sort()
    found = path_losses(tree, path, grid, X, y.astype(float), w, loss=loss).means()
    prices = cut_prices(tree, X, y.astype(float), w, loss=loss)
    for step, alpha in enumerate(grid):
        lost = losses(prune_at(tree, float(alpha)))
        mean = np.average(lost, weights=w)
        n_effective = w.sum() ** 2 / (w * w).sum()
        error = np.sqrt(np.average((lost - mean) ** 2, weights=w) / n_effective)
        np.testing.assert_allclose([found.mean[step], found.standard_error[step]], [mean, error], atol=1e-10)
    whole = np.average(losses(tree), weights=w)
    for node in range(tree.n_nodes):
        price = 0.0
        if not tree.is_leaf[node]:
            price = np.average(losses(prune(tree, tree.path_to(node))), weights=w) - whole
        np.testing.assert_allclose(prices[node], price, atol=1e-12)


@pytest.mark.parametrize("unit", [2.0**400, 2.0**-400], ids=["large", "small"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_targets_in_any_unit_have_the_same_losses(loss, unit):
    """Squares of squared errors of numbers beyond 1e77 are infinite, and below 1e-81 nothing."""
    X, y, w = table(9, loss, 90)
    found = []
    for scale in (1.0, unit):
        model = DecisionTreeRegressor(criterion=loss, min_samples_leaf=3).fit(X, y * scale, w)
        path = pruning_path(model.tree_)
        parts = [
            path_losses(model.tree_, path, path.alphas, X[rows], y[rows] * scale * own, w[rows], loss=loss)
            for rows, own in ((slice(0, 40), 1.0), (slice(40, 90), 8.0))  # sums of another unit
        ]
        folds = cross_validate_path(model, path, X, y * scale, np.arange(90) % 3, w)
        found.append((path, grid_between(path), (parts[0] + parts[1]).means(), folds))
    of_loss = unit**2 if loss == "squared_error" else unit
    (path, grid, losses, folds), (path_of, grid_of, losses_of, folds_of) = found
    assert path_of.n_leaves.tolist() == path.n_leaves.tolist()
    np.testing.assert_allclose(grid_of[:-1], grid[:-1] * of_loss, rtol=1e-12)
    for plain, scaled in ((losses, losses_of), (folds, folds_of)):
        np.testing.assert_allclose(scaled.mean, plain.mean * of_loss, rtol=1e-12)
        np.testing.assert_allclose(scaled.standard_error, plain.standard_error * of_loss, rtol=1e-9)
        assert scaled.one_standard_error_step() == plain.one_standard_error_step()


def test_a_rate_of_0_for_rows_with_events_is_a_large_loss_and_no_infinite_one():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 2.0, 4.0])
    tree = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(X, y).tree_
    assert tree.value[:, 0].tolist() == [1.5, 0.0, 3.0]
    path, ones = pruning_path(tree), np.ones(2)
    held = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    found = path_losses(tree, path, path.alphas, *held, ones, loss="poisson").means()
    grown = (np.log(1 / 1.5e-15) - 1 + 1.5e-15 + 0) * 2 / 2
    as_leaf = (np.log(1 / 1.5) - 1 + 1.5) + (3 * np.log(3 / 1.5) - 3 + 1.5)
    assert found.mean.tolist() == pytest.approx([grown, as_leaf])
    assert cut_prices(tree, *held, ones, loss="poisson")[0] == pytest.approx(as_leaf - grown)


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("engine.tree.cost_complexity.ROWS_PER_CHUNK", 16)
    tree, X, y, w = fitted(1, "squared_error")
    path = pruning_path(tree)
    bits = set()
    for n_jobs in (1, 2, 8):
        losses = path_losses(tree, path, path.alphas, X, y, w, loss="squared_error", n_jobs=n_jobs).means()
        prices = cut_prices(tree, X, y, w, loss="squared_error", n_jobs=n_jobs)
        bits.add((losses.mean.tobytes(), losses.standard_error.tobytes(), prices.tobytes()))
    assert len(bits) == 1


@pytest.mark.parametrize("seed", range(3))
def test_path_is_scikit_learns_on_a_table_of_numbers(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)  # numbers: gains tie nowhere
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, min_samples_leaf=5)
    path = pruning_path(DecisionTreeRegressor(min_samples_leaf=5).fit(X, y).tree_)
    np.testing.assert_allclose(path.alphas, theirs.cost_complexity_pruning_path(X, y).ccp_alphas, atol=1e-11)
    np.testing.assert_allclose(
        path.impurities, theirs.cost_complexity_pruning_path(X, y).impurities, atol=1e-11
    )


def test_worked_example():
    """Root 8 rows, 4+4-; left 4+0-, right 0+... : risks 1/2 -> (0, 3/16) -> (0, 1/8, 0)."""
    X = np.array([[0], [0], [0], [1], [1], [2], [2], [2]], float)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    tree = DecisionTreeClassifier(min_samples_leaf=2).fit(X, y).tree_
    # root gini 1/2; x <= 0.5: leaf 3+0-, and 1+4- (gini 8/25, share 5/8: 1/5), divided by x <= 1.5 into
    # 1+1- (1/2, 1/4: 1/8) and 0+3-. g(lower) = 1/5 - 1/8 = 0.075 < g(root) = (1/2 - 1/8) / 2, then 0.3
    path = pruning_path(tree)
    np.testing.assert_allclose(path.alphas, [0, 0.075, 0.3], atol=1e-15)
    assert path.n_leaves.tolist() == [3, 2, 1]
    np.testing.assert_allclose(path.impurities, [0.125, 0.2, 0.5], atol=1e-15)
    np.testing.assert_allclose(path.leaf_from[~tree.is_leaf], [0.3, 0.075], atol=1e-15)


def test_splits_that_gain_nothing_are_gone_at_alpha_0():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, float)
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1, 0] * 2).tree_
    path = pruning_path(tree)
    assert tree.gain[0] == 0
    assert tree.n_leaves == 4
    # the branch of the root as a whole gains 1/2 with three leaves more: only together are they worth it
    np.testing.assert_allclose(path.alphas, [0, 1 / 6], atol=1e-15)
    assert path.n_leaves.tolist() == [4, 1]
    useless = DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 1, 0] * 2).tree_
    assert pruning_path(useless).n_leaves.tolist() == [1]
    assert prune_at(useless, 0.0).n_leaves == 1


def test_best_and_one_standard_error_step():
    losses = PathLosses(np.array([0.30, 0.20, 0.20, 0.24, 0.4]), np.array([0.1, 0.03, 0.05, 0.05, 0.1]))
    assert losses.best_step() == 2
    assert losses.one_standard_error_step() == 3
