"""Histograms of resamples, what is written beside them, and the file they are saved as."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from engine.bootstrap.replicates import Bootstrap, Interval
from workbench.bootstrap import EXPRESSION, MEAN, BootstrapSettings
from workbench.bootstrap_work import BootstrapFound
from workbench.figures.bootstrap import NamedInterval, make_bootstrap

RNG = np.random.default_rng(0)


def found(replicates, *, value=0.0, repeated=(), truth=np.nan, n_wanted=None, statistic=MEAN, stopped=False):
    replicates = np.asarray(replicates, np.float64)
    left_out = RNG.normal(value, 0.1, 30)
    made = Bootstrap(value, replicates, left_out, 30, n_wanted or len(replicates), 7, stopped)
    settings = BootstrapSettings(statistic, "x")
    return BootstrapFound(settings, made, "mean of x", "30 rows", "t", truth, np.array(repeated))


def test_all_values_are_in_bins_on_one_axis():
    figure = make_bootstrap(found(RNG.normal(size=900), repeated=RNG.normal(1, 1, 500), truth=0.5), 0.9)
    assert figure.resamples.counts.sum() == 900
    assert figure.fresh.counts.sum() == 500
    assert figure.resamples.span == figure.fresh.span
    highest = max(figure.resamples.counts.max(), figure.fresh.counts.max())
    assert figure.resamples.highest == figure.fresh.highest == highest
    assert figure.resamples.n_above == figure.fresh.n_above == 3
    np.testing.assert_array_equal(figure.resamples.edges, figure.fresh.edges)
    low, high = figure.resamples.span
    assert low < figure.resamples.edges[0]
    assert figure.resamples.edges[-1] < high
    assert [name for name, _ in figure.lines][-3:] == ["Fresh standard error", "Fresh mean", "Truth"]


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e308])
def test_a_constant_is_one_bar(value):
    figure = make_bootstrap(found(np.full(50, value), value=value), 0.95)
    assert sorted(figure.resamples.counts)[-1] == 50
    assert np.all(np.diff(figure.resamples.edges) > 0)


@pytest.mark.parametrize("replicates", [[1.7e308] * 30, [-1.7e308, 0.0, 1.7e308] * 10])
def test_the_largest_numbers_are_drawn_in_a_unit_of_which_differences_are_numbers(replicates):
    figure = make_bootstrap(found(replicates, value=replicates[1]), 0.95)
    histogram = figure.resamples
    assert histogram.counts.sum() == 30
    assert histogram.x_name == "mean of x, in 1e+300"
    assert np.isfinite(np.diff(histogram.edges)).all()
    assert np.isfinite(np.diff(histogram.span)).all()
    assert histogram.span[0] < histogram.value < histogram.span[1]
    assert histogram.intervals[0].interval.high == pytest.approx(1.7e8)
    assert "1.700e+308" in dict(figure.lines)["Percentile, 95 %"]
    assert histogram.story(9).splitlines()[0].endswith(", in 1e+300")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (119.52, 121.5003, "119.52 to 121.50"),
        (99.573, 100.2, "99.573 to 100.200"),
        (-1.5, 0.0, "−1.5 to 0"),
        (3.0, 4.0, "3 to 4"),
    ],
)
def test_both_ends_of_an_interval_have_as_many_decimals(low, high, text):
    assert NamedInterval("Basic", Interval(low, high, "")).text_with(5) == text


def test_numbers_have_the_digits_that_tell_them_apart():
    years = 2008.0 + np.linspace(-0.1, 0.1, 101)
    lines = dict(make_bootstrap(found(years, value=2008.0291), 0.95).lines)
    assert lines["Value"] == "2,008.029"
    assert lines["Percentile, 95 %"] == "2,007.905 to 2,008.095"
    assert lines["Standard error"] == "0.0586"
    bar = make_bootstrap(found(years), 0.95).resamples.story(0)
    assert bar.startswith("2,007.90 to 2,007.92") or bar.startswith("2,007.9 to 2,007.92")
    same = dict(make_bootstrap(found(np.full(20, 18_628.0), value=18_628.0), 0.95).lines)
    assert (same["Value"], same["Percentile, 95 %"]) == ("18,628", "18,628 to 18,628")


def test_resamples_without_a_value_are_told():
    figure = make_bootstrap(found([1.0, np.nan, 2.0, np.inf]), 0.95)
    assert figure.resamples.counts.sum() == 2
    assert figure.resamples.subtitle == "30 rows, 4 resamples, 2 without a value, seed 7"
    nothing = make_bootstrap(found([np.nan, np.nan], value=np.nan), 0.95)
    assert nothing.resamples.counts.sum() == 0
    assert nothing.resamples.intervals == ()
    assert dict(nothing.lines)["Value"] == "not defined"
    assert dict(nothing.lines)["BCa, 95 %"] == "none: the value itself is not defined"


def test_what_is_under_way_or_stopped_says_how_far():
    part = found([1.0, 2.0], n_wanted=10, stopped=True)
    running = make_bootstrap(part, 0.95, is_running=True).resamples.subtitle
    assert running == "30 rows, 2 of 10 resamples, seed 7"
    early = replace(part, bootstrap=replace(part.bootstrap, left_out=np.empty(0)))
    assert dict(make_bootstrap(early, 0.95, is_running=True).lines)["BCa, 95 %"] == "to come"
    assert dict(make_bootstrap(early, 0.95).lines)["BCa, 95 %"] == "none: rows were not left out yet"
    stopped = make_bootstrap(part, 0.95, remark="found with other settings").resamples.subtitle
    assert stopped == "30 rows, 2 of 10 resamples, seed 7, stopped, found with other settings"


def test_an_expression_has_no_article():
    assert make_bootstrap(found([1.0, 2.0]), 0.9).resamples.title == "Bootstrap of the mean of x"
    assert (
        make_bootstrap(found([1.0, 2.0], statistic=EXPRESSION), 0.9).resamples.title
        == "Bootstrap of mean of x"
    )


def test_the_pointer_is_told_of_a_bin():
    figure = make_bootstrap(found([0.0, 0.0, 10.0]), 0.95).resamples
    assert figure.story(figure.bin_at(0.5)) == "0 to 1\n2 samples"
    assert figure.bin_at(-1.0) is None


def test_the_file_holds_every_value():
    made = found([0.5, np.nan, 1.5], repeated=[0.25], truth=0.75)
    lines = list(csv.reader(make_bootstrap(made, 0.9).to_csv().splitlines()))
    heads = {line[0]: line[1:] for line in lines[:11]}
    assert heads["rows"] == ["30 rows"]
    assert heads["without a value"] == ["1"]
    assert heads["truth"] == ["0.75"]
    assert heads["percentile interval, 90 %"][:2] == ["0.55", "1.45"]
    assert lines[-4:] == [["resample", "fresh sample"], ["0.5", "0.25"], ["", ""], ["1.5", ""]]
