"""The tuning figure: places of values, what is told of settings, and the CSV."""

import csv
import io

import numpy as np
import pytest

from engine.tuning.search import Search
from workbench.figures.tuning import make_tuning
from workbench.runs import ModelSpec, SplitSettings
from workbench.tuning import Tuning

NAN = np.nan


def tuning(names, values, scores, errors=None, metric="accuracy", stopped=False, **simpler):
    search = Search(names, values, np.array(scores, float), np.arange(9), errors or {}, simpler, stopped)
    return Tuning(
        search, ModelSpec("tree", {"max_depth": 5}), "classes", metric, ("a", "b"), "y", 90, None, None, "f",
        SplitSettings(),
    )  # fmt: skip


@pytest.fixture
def curve():
    """Depths out of order, one failed, one not done."""
    scores = [[-0.3, -0.5], [-0.1, -0.1], [NAN, NAN], [-0.05, -0.1], [NAN, NAN]]
    made = tuning(("max_depth",), ((None, 1, 3, 2, 8),), scores, {2: "fold 1 of 2: it is odd"}, stopped=True,
                  max_depth="smaller")  # fmt: skip
    return make_tuning("t", made, {"max_depth": 2})


def test_numbers_stand_by_size_and_no_limit_last(curve):
    assert curve.x.words == ("1", "2", "3", "8", "no limit")
    assert curve.at_x.tolist() == [4, 0, 2, 1, 3]
    assert curve.x.is_ordered
    assert curve.y is None
    assert [curve.setting_at(x) for x in (-3, 0.4, 0.6, 2, 9)] == [1, 1, 3, 2, 0]
    assert curve.step(0, -1, 0) == 4
    assert curve.step(0, 1, 0) == 0


def test_errors_are_drawn_and_the_choices_marked(curve):
    np.testing.assert_allclose(curve.mean, [0.4, 0.1, NAN, 0.075, NAN])
    np.testing.assert_allclose(curve.spread, [0.1, 0.0, NAN, 0.025, NAN], atol=1e-12)
    assert (curve.best, curve.one_se, curve.now) == (3, 1, 3)
    assert curve.subtitle == (
        "2 folds of the 90 training rows, band of one standard error, stopped after 4 of 5 settings, 1 failed"
    )
    assert curve.mark_text(0) == ""


def test_what_is_told_of_a_setting(curve):
    assert curve.story(3) == (
        "Depth 2\nwrong rows 7.5 % ± 2.5 %\nfolds: 5.0 %, 10.0 %\nbest\nas the model is set now"
    )
    assert curve.story(2) == "Depth 3\nfailed in fold 1 of 2: it is odd"
    assert curve.story(4) == "Depth 8\nnot tried: it was stopped before"
    assert curve.story(1).endswith("one standard error")


def test_the_csv_holds_every_digit(curve):
    lines = list(csv.reader(io.StringIO(curve.to_csv())))
    assert lines[0] == ["Depth", "wrong rows", "standard error", "fold 1", "fold 2", "chosen as", "failed"]
    assert lines[1][0] == "no limit"
    assert [float(text) for text in lines[4][1:5]] == [
        curve.mean[3], curve.spread[3], *curve.folds[3],
    ]  # fmt: skip
    assert lines[4][5] == "best"
    assert lines[3] == ["3", "", "", "", "", "", "fold 1 of 2: it is odd"]


def test_a_map_has_both_axes():
    values = (("gini", "entropy"), (5, 1, None))
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])[:, None] + np.array([-0.01, 0.01])
    made = tuning(("criterion", "max_depth"), values, scores, metric="auc", max_depth="smaller")
    figure = make_tuning("t", made, {}, is_running=True, remark="tried with other columns")
    assert figure.x.words == ("gini", "entropy")
    assert not figure.x.is_ordered
    assert figure.y.words == ("1", "5", "no limit")
    assert figure.at_x.tolist() == [0, 0, 0, 1, 1, 1]
    assert figure.at_y.tolist() == [1, 0, 2, 1, 0, 2]
    np.testing.assert_allclose(figure.mean, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert figure.setting_at(0.9, 1.6) == 5
    assert figure.step(0, 1, 1) == 5
    assert figure.step(1, 0, -1) == 1
    assert figure.story(0).startswith("Criterion gini, Depth 5\narea under the ROC curve 0.1 ± 0.01")
    assert figure.subtitle.endswith("6 of 6 settings tried, tried with other columns")
    assert figure.now is None
    assert next(csv.reader(io.StringIO(figure.to_csv())))[:3] == [
        "Criterion",
        "Depth",
        "area under the ROC curve",
    ]


def test_a_setting_that_diverged_does_not_flatten_the_others():
    rates = (0.001, 0.01, 0.1, 10.0)
    scores = [[-0.50, -0.52], [-0.40, -0.42], [-0.45, -0.43], [-1e30, -3e30]]
    found = make_tuning("t", tuning(("min_impurity_decrease",), (rates,), scores), {})
    assert found.far == (3,)
    assert found.near.tolist() == [True, True, True, False]
    assert found.far_text.startswith("Least gain 10 is far beyond: ")
    assert found.story(3).count("\n") >= 1, "it is told whole where the pointer is"


@pytest.mark.parametrize(
    "scores",
    [[[-0.4, -0.4]], [[-0.4, -0.4], [-0.4, -0.4], [-0.5, -0.5]], [[-0.1, -0.2], [-0.9, -0.8], [-0.1, -0.1]]],
)
def test_settings_that_are_merely_worse_are_drawn_as_they_are(scores):
    depths = (tuple(range(1, len(scores) + 1)),)
    assert make_tuning("t", tuning(("max_depth",), depths, scores), {}).far == ()


def test_nothing_is_far_while_nothing_is_known():
    found = make_tuning("t", tuning(("max_depth",), ((1, 2),), [[NAN, NAN], [NAN, NAN]]), {})
    assert (found.far, found.far_text) == ((), "")
