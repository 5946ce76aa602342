"""Case C31: values that are not finite never blank a curve."""

import numpy as np
import pytest

from engine.monitor import IterationEvent
from workbench.figures.training import (
    SHARE,
    LiveCurve,
    make_line,
    make_training_figure,
    spread_names,
    with_step_errors,
)

C31 = [0.9, 0.7, np.nan, 0.5, np.inf, 0.4]


def figure_of(values, first=1):
    return make_training_figure([make_line("training", "training", values, first)], "log loss")


def test_c31_gaps_are_kept_and_the_range_is_finite():
    figure = figure_of(C31)
    (line,) = figure.lines
    assert np.flatnonzero(np.isnan(line.y)).tolist() == [2, 4]
    assert line.x.tolist() == [1, 2, 3, 4, 5, 6]
    low, high = figure.y_range
    assert low <= 0.4
    assert 0.9 <= high < 1.5
    assert figure.note == "2 values not finite"
    assert line.alone.tolist() == [False, False, False, True, False, True]


def test_c31_nan_first_is_still_drawn():
    figure = figure_of([np.nan, 0.7, 0.5])
    assert figure.y_range[0] <= 0.5
    assert figure.y_range[1] >= 0.7
    assert figure.note == "1 value not finite"


def test_c31_nothing_finite_says_so():
    figure = figure_of([np.nan, np.inf])
    assert figure.y_range is None
    assert figure.note == "no finite values"


def test_c31_a_single_point_is_a_marker():
    figure = figure_of([0.6])
    assert figure.lines[0].alone.tolist() == [True]
    low, high = figure.y_range
    assert low < 0.6 < high


def test_a_huge_first_round_does_not_set_the_range():
    figure = figure_of([5000.0, *np.linspace(2, 1, 99)], 0)
    assert figure.y_range[1] < 3
    assert figure.full_range[1] > 5000
    assert figure.is_cut


def test_an_ordinary_curve_is_shown_whole():
    figure = figure_of(np.linspace(2, 1, 100), 0)
    assert not figure.is_cut
    assert figure.y_range == pytest.approx((0.95, 2.05))


def test_the_hairline_names_the_nearest_round_and_every_value():
    lines = [
        make_line("training", "training", [3, 2, 1]),
        make_line("validation", "validation", [3, np.nan, 2]),
    ]
    figure = make_training_figure(lines, "log loss")
    assert figure.hairline_text(1.2) == "round 1\ntraining 2\nvalidation not finite"


def test_a_live_curve_takes_only_events_with_losses():
    live = LiveCurve("run", "log loss")
    assert not live.extend([IterationEvent("binning", 3)])
    batch = [
        IterationEvent("boosting", r, 5, train_loss=1.0 / (r + 1), val_loss=v)
        for r, v in enumerate([1.0, 0.5, 0.6])
    ]
    assert live.extend(batch)
    figure = live.figure()
    assert live.n_points == 3
    assert figure.lines[0].x.tolist() == [0, 1, 2]
    assert figure.lines[1].y.tolist() == [1.0, 0.5, 0.6]
    assert figure.best_round == 1
    assert "2 rounds so far" in figure.subtitle


def test_names_stand_whole_in_the_plot_and_apart_where_they_would_touch():
    step, low, high, reach = 1.0, 0.0, 10.0, 5.0
    ends = [(9, 0.1), (9, 0.2), (9, 9.9), (9, 9.8), (1, 0.1), (9, 5.0)]
    places = spread_names(ends, step, low, high, reach)
    assert places == pytest.approx([0.5, 1.5, 9.5, 8.5, 0.5, 5.0])  # the fifth begins far from the others
    crowded = spread_names([(0, 10.0)] * 4, step, low, high, reach)
    assert sorted(crowded) == pytest.approx([6.5, 7.5, 8.5, 9.5])
    assert spread_names([], step, low, high, reach) == []


def test_the_lowest_loss_is_told_in_words_of_the_validation_rows_where_there_are_any():
    training = make_line("training", "training", [3, 2, np.nan, 0.5])
    validation = make_line("validation", "validation", [3, 1.25, 2.5, np.nan])
    figure = make_training_figure([training, validation], "log loss")
    assert figure.sentence == "lowest validation loss 1.25 in round 1 of 3"
    assert make_training_figure([training], "log loss").sentence == "lowest training loss 0.5 in round 3 of 3"
    assert figure_of([np.nan]).sentence == ""


def test_shares_of_wrong_rows_are_named_in_words_not_as_a_loss():
    training = make_line("training", "training", [0.5, 0.25, 0.125])
    validation = make_line("validation", "validation", [0.5, 0.3, 0.4])
    assert (
        make_training_figure([training, validation], SHARE).sentence
        == "lowest share of wrong validation rows 0.3 in round 1 of 2"
    )
    told = make_training_figure([training], SHARE).sentence
    assert told == "lowest share of wrong training rows 0.125 in round 2 of 2"


def test_a_forest_is_drawn_by_its_trees_once_each():
    live = LiveCurve("forest", SHARE)
    assert live.extend([IterationEvent("growing", 1, 9, oob_loss=float("nan"))])
    assert live.figure().best_round is None
    assert live.extend([IterationEvent("growing", k, 9, oob_loss=e) for k, e in ((2, 0.25), (3, 0.125))])
    assert not live.extend([IterationEvent("growing", 3, 9, oob_loss=0.125)])  # told again to ask for a stop
    assert live.extend([IterationEvent("growing", 4, 9, oob_loss=0.2)])
    figure = live.figure()
    (line,) = figure.lines
    assert (line.role, line.x.tolist()) == ("out_of_bag", [1, 2, 3, 4])
    np.testing.assert_array_equal(line.y, [np.nan, 0.25, 0.125, 0.2])
    assert line.marked.tolist() == [False, False, False, True]
    assert figure.best_round is None  # so few trees leave too few rows out to be compared
    assert figure.sentence == "out-of-bag error 0.2 with 4 trees"
    assert figure.hairline_text(3.2) == "3 trees\nout of bag 0.125"
    assert figure.subtitle == "4 trees so far"
    errors = [0.2, 0.3, 0.2, 0.25, 0.3, 0.15, 0.1, 0.125]
    live.extend([IterationEvent("growing", 5 + k, 12, oob_loss=e) for k, e in enumerate(errors)])
    assert live.figure().best_round == 11
    assert live.figure().sentence == "out-of-bag error 0.125, lowest 0.1 at 11 trees"


def test_errors_of_another_unit_are_told_at_the_pointer_instead_of_drawn():
    figure = make_training_figure([make_line("training", "training", [3, 2, 1])], "half the squared error")
    told = with_step_errors(figure, [0.25, 0.3125])
    assert len(told.lines) == 1
    assert told.hairline_text(2) == "round 2\ntraining 1\nits weighted error 0.3125"
    assert told.hairline_text(0) == "round 0\ntraining 3"
    shares = make_training_figure([make_line("training", "training", [0.5, 0.2, 0.1])], SHARE)
    drawn = with_step_errors(shares, [0.25, 0.3125])
    assert drawn.lines[1].x.tolist() == [1, 2]
    assert drawn.lines[1].y.tolist() == [0.25, 0.3125]
    assert drawn.hairline_text(2) == "round 2\ntraining 0.1\neach tree alone 0.3125"
    assert with_step_errors(shares, []) is shares
