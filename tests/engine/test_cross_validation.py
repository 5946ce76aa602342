"""Cross-validated pruning curves against fitting and pruning every fold the plain way."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import DataError
from engine.tree.cost_complexity import LOSSES, grid_between, prune_at, pruning_path
from engine.tree.cross_validation import cross_validate_path
from tests.engine import naive
from tests.engine.test_cost_complexity import table


def make(loss):
    is_classifier = loss == "misclassification"
    model = DecisionTreeClassifier() if is_classifier else DecisionTreeRegressor(criterion=loss)
    return model.set_params(categorical_features=[3], min_samples_leaf=3, max_features=3, random_state=4)


@pytest.mark.parametrize("loss", LOSSES)
def test_curve_is_that_of_trees_fitted_without_the_fold(loss):
    X, y, w = table(2, loss)
    w[:7] = 0
    folds = np.random.default_rng(0).integers(0, 4, len(y))
    model = make(loss).fit(X, y, w)
    path = pruning_path(model.tree_)
    grid = grid_between(path)
    assert np.all((grid[1:-1] > path.alphas[1:-1]) & (grid[1:-1] < path.alphas[2:]))
    assert (grid[0], grid[-1]) == (0.0, np.inf)
    losses = np.zeros((len(grid), len(y)))
    for fold in range(4):
        inside, outside = folds != fold, folds == fold
        # levels and classes are those of all rows, as the curve is of one model
        member = make(loss).fit(X[inside], y[inside], w[inside])
        for step, alpha in enumerate(grid):
            answer = naive.tree_values([prune_at(member.tree_, float(alpha))], X[outside])
            least = 1e-15 * member.tree_.value[0, 0]
            losses[step, outside] = naive.losses(loss, answer, y[outside], least)
    found = cross_validate_path(model, path, X, y, folds, w)
    mean = losses @ w / w.sum()
    spread = np.sqrt(((losses - mean[:, None]) ** 2) @ w / w.sum() * (w @ w) / w.sum() ** 2)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, spread, atol=1e-12)


class Stops:
    def __init__(self, after):
        self.after, self.events = after, []

    def on_iteration(self, event):
        self.events.append(event)
        return len(self.events) > self.after


def test_every_fold_is_told_and_a_stop_ends_it():
    X, y, _ = table(0, "misclassification")
    model = make("misclassification").fit(X, y)
    path, folds = pruning_path(model.tree_), np.arange(len(y)) % 5
    watched = Stops(10**9)
    assert cross_validate_path(model, path, X, y, folds, monitor=watched) is not None
    told = [event.iteration for event in watched.events if event.iteration]
    assert sorted(set(told)) == [1, 2, 3, 4, 5]
    assert watched.events[-1].fraction == 1.0
    assert cross_validate_path(model, path, X, y, folds, monitor=Stops(0)) is None


def test_folds_that_do_not_fit_are_refused():
    X, y, _ = table(0, "misclassification")
    model = make("misclassification").fit(X, y)
    path = pruning_path(model.tree_)
    with pytest.raises(DataError, match="fewer than two folds"):
        cross_validate_path(model, path, X, y, np.zeros(len(y), int))
    with pytest.raises(DataError, match="folds has 3 entries and X 150 rows"):
        cross_validate_path(model, path, X, y, np.arange(3))
