import numpy as np
import pytest

from engine import surface
from engine.errors import DataError
from engine.jit import specialisations
from engine.kernels import surface as kernels
from engine.tree.structure import single_leaf
from tests.engine.random_trees import naive_sum, random_tree

NAN = np.nan
NUMBERS = np.array([-1.0, 0.0, 0.25, 0.5, 2.0, 2.5, 2.5, 4.75, 6.0, 9.5, 11.0, NAN])
LEVELS = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, NAN])  # unseen first, missing last
HELD = np.array([3.0, NAN, 2.0, NAN])


class Model:
    combination = "sum"
    """Just the attributes of a fitted estimator."""

    combination = "sum"

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def step_tree():
    """Class 1 exactly when x0 > 7."""
    root = single_leaf([0.5, 0.5], 0.5, 10, 10.0).to_arrays()
    arrays = {
        name: np.concatenate([array] * 3) for name, array in root.items() if not name.startswith("level")
    }
    arrays |= {
        "kind": [1, 0, 0], "feature": [0, -1, -1], "threshold": [7.0, NAN, NAN], "first_child": [1, -1, -1],
        "n_children": [2, 0, 0], "missing_child": [0, -1, -1], "unseen_child": [0, -1, -1],
        "value": [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], "level_offsets": [0] * 4,
        "level_sets": root["level_sets"],
    }  # fmt: skip
    return type(single_leaf(0.0, 0, 1, 1.0)).from_arrays(arrays)


def grid_rows(x_feature, y_feature, x_values, y_values):
    tables = surface.grid_table(x_feature, y_feature, x_values, y_values, HELD, chunk_rows=7)
    return np.concatenate(list(tables))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_trees", [1, 12])
@pytest.mark.parametrize(
    ("axes", "values"),
    [((0, 2), (NUMBERS, NUMBERS)), ((3, 0), (LEVELS, NUMBERS)), ((1, 3), (LEVELS, LEVELS)),
     ((0, 1), (NUMBERS[:-1], LEVELS[-1:]))],
)  # fmt: skip
def test_surface_equals_predicting_every_point(n_outputs, n_trees, axes, values):
    rng = np.random.default_rng(n_trees + 10 * n_outputs)
    trees = [random_tree(rng, 25, 4, n_outputs, categorical=(1, 3)) for _ in range(n_trees)]
    got = surface.tree_surface(trees, *axes, *values, HELD)
    expected = naive_sum(trees, grid_rows(*axes, *values)).T.reshape(got.shape)
    if n_trees == 1:
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("feature", "values"), [(0, NUMBERS), (1, LEVELS)])
def test_curve_equals_predicting_every_point(feature, values):
    rng = np.random.default_rng(5)
    trees = [random_tree(rng, 25, 4, 2, categorical=(1, 3)) for _ in range(6)]
    rows = np.tile(HELD, (len(values), 1))
    rows[:, feature] = values
    got = surface.tree_curve(trees, feature, values, HELD)
    np.testing.assert_allclose(got, naive_sum(trees, rows).T, rtol=0, atol=1e-12)
    got = surface.tree_curve(trees[:1], feature, values, HELD)
    np.testing.assert_array_equal(got, naive_sum(trees[:1], rows).T)


def test_kernels_have_one_specialisation():
    test_curve_equals_predicting_every_point(0, NUMBERS)
    surface.tree_surface([step_tree()] * 2, 0, 1, [1.0], [2.0], [0.0, 0.0])
    for kernel in (kernels.add_box_differences, kernels.paint_leaves, kernels.integrate):
        assert specialisations(kernel) == 1, "a dtype drifted: extra specialisation"


def test_c33_surface_is_neither_mirrored_nor_shifted():
    model = Model(tree_=step_tree())
    np.testing.assert_allclose(surface.cell_centres(0, 10, 5), [1, 3, 5, 7, 9])
    x, y = surface.cell_centres(0, 10, 200), surface.cell_centres(0, 1, 50)
    shown = np.argmax(surface.model_surface(model, 0, 1, x, y, [0.0, 0.0]), axis=0)
    assert shown.shape == (50, 200)
    for y_at in (0.05, 0.95):
        row = int(np.argmin(np.abs(y - y_at)))
        assert shown[row, np.argmin(np.abs(x - 8))] == 1
        assert shown[row, np.argmin(np.abs(x - 6))] == 0
    border = x[np.argmax(shown[0] == 1)]
    assert abs(border - 7) <= 0.05
    assert np.all(shown == shown[0])


def test_a_row_on_the_threshold_goes_left():
    got = surface.tree_curve([step_tree()], 0, [7.0, np.nextafter(7.0, 8.0)], [0.0, 0.0])
    np.testing.assert_array_equal(got[1], [0.0, 1.0])


def test_forest_surface_breaks_ties_as_prediction_does():
    # ten trees of three thirds and tenths: the sums of boxes round differently from sums of trees
    rng = np.random.default_rng(3)
    trees = []
    for _ in range(10):
        arrays = random_tree(rng, 12, 2, 2).to_arrays()
        shares = rng.integers(0, 4, arrays["value"].shape[0]) / 3
        trees.append(type(step_tree()).from_arrays(arrays | {"value": np.column_stack([shares, 1 - shares])}))
    model = Model(estimators_=trees, classes_=np.array(["a", "b"]))
    x = surface.cell_centres(-1, 11, 40)
    held = np.zeros(2)
    got = surface.model_surface(model, 0, 1, x, x, held)
    rows = np.concatenate(list(surface.grid_table(0, 1, x, x, held)))
    expected = (naive_sum(trees, rows) / 10).T.reshape(got.shape)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.argmax(got, axis=0), np.argmax(expected, axis=0))
    assert np.any(np.abs(expected[0] - expected[1]) < 1e-9), "no tie was tried"


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_boosted_surface_applies_the_link(n_classes):
    rng = np.random.default_rng(n_classes)
    n_raw = 3 if n_classes == 3 else 1
    rounds = [tuple(random_tree(rng, 8, 2) for _ in range(n_raw)) for _ in range(5)]
    baseline = np.array([-1.0, 0.5, -2.0])[:n_raw]
    model = Model(estimators_=rounds, baseline_prediction_=baseline)
    if n_classes:
        model.classes_ = np.arange(n_classes)
    x = np.array([1.1, 4.2, 8.8])
    rows = np.concatenate(list(surface.grid_table(0, 1, x, x, np.zeros(2))))
    raw = baseline + np.column_stack([naive_sum([r[k] for r in rounds], rows)[:, 0] for k in range(n_raw)])
    if n_classes == 2:
        raw = np.column_stack([1 / (1 + np.exp(raw)), 1 / (1 + np.exp(-raw))])
    elif n_classes == 3:
        raw = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    got = surface.model_surface(model, 0, 1, x, x, np.zeros(2))
    np.testing.assert_allclose(got, raw.T.reshape(-1, 3, 3), rtol=1e-12)
    curve = surface.model_curve(model, 0, x, [0.0, 4.2])
    np.testing.assert_allclose(curve, got[:, 1], rtol=1e-12)


def test_a_model_of_no_rounds_is_its_baseline():
    model = Model(estimators_=[], baseline_prediction_=np.array([2.5]))
    np.testing.assert_array_equal(surface.model_curve(model, 0, [0.0, 1.0], [0.0]), [[2.5, 2.5]])


def test_grid_surface_of_any_function_has_y_first():
    got = surface.grid_surface(
        lambda X: X[:, 0] + 10 * X[:, 1], 0, 1, [1.0, 2.0, 3.0], [0.0, 1.0], [0.0, 0.0]
    )
    np.testing.assert_array_equal(got, [[[1, 2, 3], [11, 12, 13]]])


@pytest.mark.parametrize(
    ("axes", "x_values", "words"),
    [((0, 0), [1.0], "two different"), ((0, 9), [1.0], "column 9"), ((0, 1), [2.0, 1.0], "ascend"),
     ((0, 1), [NAN, 1.0], "ascend"), ((0, 1), [], "ascend")],
)  # fmt: skip
def test_impossible_grids_are_refused(axes, x_values, words):
    with pytest.raises(DataError, match=words):
        surface.tree_surface([step_tree()], *axes, x_values, [1.0], np.zeros(2))


def test_a_model_without_trees_is_refused():
    with pytest.raises(DataError, match="not made of trees"):
        surface.model_curve(Model(), 0, [1.0], [0.0])
