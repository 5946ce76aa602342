"""Figures of reliability and coverage: classes to choose, words, files, honesty about weights and stops."""

import csv

import numpy as np
import pytest

from engine.reliability import Coverage
from tests.workbench.test_figures_scores import CODES, PROBA, result_of
from workbench.figures.reliability import (
    NAMED,
    can_cover,
    choice_text,
    class_choices,
    make_coverage,
    make_reliability,
)
from workbench.scoring import score_classes, score_decisions, score_numbers, wilson_interval


@pytest.fixture
def result():
    return result_of(score_classes("test", CODES, PROBA, ("no", "yes")))


def test_two_classes_begin_with_the_event(result):
    assert class_choices(result) == (1, 0, NAMED)
    assert [choice_text(result, k) for k in class_choices(result)] == ["yes", "no", "the class it names"]


def test_more_classes_begin_with_the_one_that_is_named():
    proba = np.eye(3)[[0, 1, 2]] * 0.7 + 0.1
    result = result_of(score_classes("test", np.array([0, 1, 1]), proba, ("a", "b", "c")), ("a", "b", "c"))
    assert class_choices(result) == (NAMED, 0, 1, 2)
    figure = make_reliability("m", result, "test", NAMED)
    assert figure.promised.tolist() == [pytest.approx(0.8)]
    assert figure.found.tolist() == [pytest.approx(2 / 3)]
    assert figure.calibration_error == pytest.approx(0.8 - 2 / 3)


def test_models_without_probabilities_have_no_diagram():
    decisions = score_decisions("test", CODES, np.log(PROBA), ("no", "yes"))
    assert class_choices(result_of(decisions)) == ()
    numbers = score_numbers("test", np.arange(4.0), np.arange(4.0))
    assert class_choices(result_of(numbers, ())) == ()


def test_the_diagram_of_the_event_by_hand(result):
    """Probabilities of yes 0.1, 0.4, 0.7, 0.8 and 0.55; it came true in rows 2 to 4."""
    figure = make_reliability("m", result, "test", 1)
    np.testing.assert_allclose(figure.promised, [0.1, 0.4, 0.55, 0.7, 0.8])
    assert figure.found.tolist() == [0, 1, 0, 1, 1]
    assert figure.calibration_error == pytest.approx((0.1 + 0.6 + 0.55 + 0.3 + 0.2) / 5)
    one_of_one = wilson_interval(1, 1)
    assert (figure.low[1], figure.high[1]) == (one_of_one.low, one_of_one.high)
    assert "5 held-out test rows" in figure.subtitle
    assert "Expected calibration error 0.350" in figure.told()
    story = figure.story(figure.point_at(0.42))
    assert "probability 0.3 to 0.4, mean 0.400" in story
    assert "1 of 1" in story


def test_weights_are_told():
    weights = np.array([2.0, 1.0, 1.0, 0.0, 1.0])
    result = result_of(score_classes("test", CODES, PROBA, ("no", "yes"), weights))
    figure = make_reliability("m", result, "test", 1)
    assert figure.n_rows.sum() == 4
    assert figure.calibration_error == pytest.approx((2 * 0.1 + 0.6 + 0.3 + 0.55) / 5)
    assert "by weight" in figure.story(0)
    assert "the weight of its rows" in figure.told()


def test_points_are_written_whole(result):
    lines = list(csv.reader(make_reliability("m", result, "test", 1).to_csv().splitlines()))
    assert lines[0][:4] == ["probability above", "up to", "rows", "mean probability"]
    assert [line[2:5] for line in lines[1:3]] == [["1", "0.1", "0.0"], ["1", "0.4", "1.0"]]


def counted(**more):
    found = Coverage(np.array([0.5, 0.9]), np.array([0.4, 1.0]), np.array([2.0, 5.5]), 10, 10.0)
    return found._replace(**more)


class Intervals:
    has_probabilities = False

    def predict_interval(self, X, coverage):
        raise AssertionError("nothing is predicted to draw what was counted")


def test_coverage_in_words_and_lines():
    from dataclasses import replace

    result = result_of(score_numbers("test", np.arange(4.0), np.arange(4.0)), ())
    result = replace(result, estimator=Intervals())
    assert can_cover(result)
    figure = make_coverage("m", result, "test", counted(), "days")
    assert figure.told().startswith("Intervals of 90 % hold 100.0 % of the rows and are 5.5 days wide")
    assert "mixture" in figure.told()
    assert "intervals of 50 % hold 40.0 % of 10 rows" in figure.story(figure.point_at(0.55))
    assert (figure.low[1], figure.high[1]) == wilson_interval(10, 10)[1:]
    lines = list(csv.reader(figure.to_csv().splitlines()))
    assert lines[0] == ["nominal", "covered", "covered from", "covered to", "mean width", "rows"]
    assert [lines[1][k] for k in (0, 1, 4, 5)] == ["0.5", "0.4", "2.0", "10"]
    part = make_coverage("m", result, "test", counted(stopped=True))
    assert part.is_stopped
    assert part.subtitle == "the first 10 held-out test rows: it was stopped"
