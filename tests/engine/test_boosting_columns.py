"""Trees of some columns: nothing is added up for the others, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest

from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine.binning import bin_table
from engine.boosting import columns as drawing
from engine.boosting import grower
from engine.boosting.columns import ColumnDrawer
from engine.boosting.team import Orders
from engine.features import FeatureSpec
from tests.engine.test_boosting import same_trees


def make_table(n_rows=400):
    """Numbers of few and many values, missing ones, and two categories; and a target of all of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n_rows).round(i) for i in range(4)})
    frame["word"] = pd.Categorical(rng.choice(list("abcdefg"), n_rows))
    frame["other"] = pd.Categorical(rng.choice(list("uvw"), n_rows))
    y = frame["x0"] * frame["x1"] + frame["x3"] + frame["word"].isin(["a", "b"]) + rng.normal(size=n_rows)
    frame.loc[rng.random(n_rows) < 0.2, ["x3", "word"]] = None
    return frame, y.to_numpy()


SETTINGS = [
    {"colsample_bytree": 0.4},
    {"colsample_bytree": 0.5, "max_features": 2},
    {"colsample_bytree": 0.4, "subsample": 0.5, "order": 2, "reg_lambda": 1.0},
    {"colsample_bytree": 0.4, "growth": "oblivious", "max_depth": 4},
    {"colsample_bytree": 0.4, "monotonic_cst": {"x0": 1, "x3": -1}},
    {"categorical": "ordered"},
    {"categorical": "ordered", "growth": "oblivious", "colsample_bytree": 0.5},
]


@pytest.mark.parametrize("more", SETTINGS, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_trees_are_those_of_sums_over_all_columns(more, n_classes, monkeypatch):
    if n_classes > 2 and "monotonic_cst" in more:
        more = {name: value for name, value in more.items() if name != "monotonic_cst"}
    X, y = make_table()
    kind = Classifier if n_classes else Regressor
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y) if n_classes else y
    shared = {"n_estimators": 6, "min_samples_leaf": 4, "random_state": 1} | more
    made = []
    for is_sooner in (True, False):
        monkeypatch.setattr(ColumnDrawer, "is_sooner", lambda *_, is_sooner=is_sooner: is_sooner)
        made.append(kind(**shared).fit(X, y, np.linspace(0.5, 2.0, len(y))))
    assert same_trees(*made)
    np.testing.assert_array_equal(made[0].train_loss_, made[1].train_loss_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_columns_of_a_class_s_statistics_are_found_wherever_they_stand(n_jobs, monkeypatch):
    """In a histogram of several pieces: the statistics of further classes stand after all other columns."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 12))
    X[:, 1] = rng.integers(0, 9, 4000)
    y = (X[:, 1].astype(int) * 7 % 9 + X[:, 3] + 0.5 * X[:, 8] > 3).astype(int) + (X[:, 10] > 0.5)
    made = []
    for is_sooner in (True, False):
        monkeypatch.setattr(ColumnDrawer, "is_sooner", lambda *_, is_sooner=is_sooner: is_sooner)
        model = Classifier(
            n_estimators=5, categorical="ordered", categorical_features=[1], n_jobs=n_jobs, random_state=1
        )
        made.append(model.fit(X, y))
    assert same_trees(*made)


def counted_cells(monkeypatch, X, y, **settings):
    """Fit, and return how many columns the codes had whose rows were added up."""
    seen = set()

    class Watched(Orders):
        def give(self, work, *arguments):
            seen.add(self._desk.codes.shape[1])
            return super().give(work, *arguments)

    monkeypatch.setattr(grower, "Orders", Watched)
    kind = Classifier if y.dtype.kind == "i" else Regressor
    kind(n_estimators=3, random_state=0, **settings).fit(X, y)
    return seen


def test_only_the_drawn_columns_are_added_up(monkeypatch):
    X, y = make_table()
    assert counted_cells(monkeypatch, X, y, colsample_bytree=0.5) == {3}
    assert counted_cells(monkeypatch, X, y, colsample_bytree=0.5, growth="oblivious") == {3}
    assert counted_cells(monkeypatch, X, y) == {6}
    assert counted_cells(monkeypatch, X, y, colsample_bytree=0.9) == {6}, "copying would take longer"


def test_of_ordered_statistics_those_of_the_class_alone_are_added_up(monkeypatch):
    X, y = make_table()
    classes = np.searchsorted(np.quantile(y, np.arange(1, 6) / 6), y)
    assert counted_cells(monkeypatch, X, classes, categorical="ordered") == {6}, "of 6 + 5 x 2 columns"


@pytest.mark.parametrize("n_rows", [0, 1, 7, 20])
def test_drawn_columns_hold_the_codes_of_the_table(n_rows, monkeypatch):
    monkeypatch.setattr(drawing, "ROW_CHUNK", 3)
    X = np.random.default_rng(0).integers(0, 5, (n_rows, 6)).astype(float)
    X[::3, 2] = np.nan
    binned = bin_table(X, tuple(FeatureSpec(f"x{i}") for i in range(6)), 255)
    drawer = ColumnDrawer(binned, 2)
    for numbers in ([4], [0, 2, 5], [1, 3]):
        drawn = drawer.draw(np.array(numbers))
        np.testing.assert_array_equal(drawn.codes, binned.codes[:, numbers])
        np.testing.assert_array_equal(drawn.n_bins, binned.n_bins[numbers])
        np.testing.assert_array_equal(np.diff(drawn.offsets), binned.n_bins[numbers] + 1)
        assert drawn.n_cells == drawn.offsets[-1]
        assert drawn.codes.flags.c_contiguous
    assert drawer.all.codes is binned.codes
