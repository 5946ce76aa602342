"""The bootstrap: scipy's intervals on the same resamples, loops, degenerate cases, stop, same bits."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from engine.bootstrap import intervals, two_assets
from engine.bootstrap.expression import parse
from engine.bootstrap.replicates import (
    MAX_GROUPS,
    Bootstrap,
    bootstrap,
    repeated_samples,
    resampled_rows,
)
from engine.bootstrap.statistics import AreaUnderCurve, OfColumns, OfRows, least_risk_share
from engine.errors import DataError, ParameterError

RNG = np.random.default_rng(7)
X = RNG.gamma(2.0, size=60)
Y = X + RNG.normal(0, 1, 60)


def of_columns(text, **columns):
    return OfColumns(parse(text, tuple(columns)), columns)


class Replayed(np.random.Generator):
    """Hands out resamples that were drawn before."""

    def __init__(self, rows):
        super().__init__(np.random.PCG64(0))
        self.rows = rows

    def integers(self, low, high=None, size=None, **_):
        assert size == self.rows.shape
        return self.rows


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("mean(x)", lambda x, y, axis: x.mean(axis)),
        ("median(x)", lambda x, y, axis: np.median(x, axis)),
        ("sd(x) / mean(y)", lambda x, y, axis: x.std(axis, ddof=1) / y.mean(axis)),
        ("corr(x, y)", lambda x, y, axis: stats.pearsonr(x, y, axis=axis).statistic),
    ],
)
def test_intervals_are_scipys_on_the_same_resamples(text, function):
    found = bootstrap(of_columns(text, x=X, y=Y), 400, seed=3)
    rows = resampled_rows(3, 0, 400, len(X))
    for kind in intervals.KINDS:
        theirs = stats.bootstrap(
            (X, Y), function, n_resamples=400, paired=True, vectorized=True, confidence_level=0.9,
            method=kind.lower() if kind != intervals.BCA else "BCa", rng=Replayed(rows), axis=-1,
        )  # fmt: skip
        low, high, why = found.interval(kind, 0.9)
        assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-10)
        assert not why
        assert found.standard_error == pytest.approx(theirs.standard_error, rel=1e-10)


def test_replicates_and_rows_left_out_are_those_of_a_loop():
    found = bootstrap(of_columns("mean(x) / mean(y)", x=X, y=Y), 50, seed=1)
    drawn = [X[rows].mean() / Y[rows].mean() for rows in resampled_rows(1, 0, 50, len(X))]
    left_out = [np.delete(X, i).mean() / np.delete(Y, i).mean() for i in range(len(X))]
    np.testing.assert_allclose(found.replicates, drawn, rtol=1e-12)
    np.testing.assert_allclose(found.left_out, left_out, rtol=1e-12)
    assert found.value == pytest.approx(X.mean() / Y.mean(), rel=1e-12)
    assert found.bias == pytest.approx(np.mean(drawn) - found.value)


def test_many_rows_are_left_out_by_groups_with_the_same_acceleration():
    x = np.random.default_rng(0).gamma(1.0, size=20_500)
    found = bootstrap(of_columns("mean(x)", x=x), 2, seed=0)
    assert len(found.left_out) == MAX_GROUPS
    deviation = x - x.mean()
    alone = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    # skewness of 1,000 values has a standard error of sqrt(6 / 1000), here divided by 6 sqrt(1000)
    assert intervals.acceleration(found.left_out) == pytest.approx(
        alone, abs=5 * np.sqrt(6 / 1000) / 6 / np.sqrt(1000)
    )


def test_the_area_under_the_curve_is_that_of_a_loop():
    score, is_event = np.round(RNG.normal(size=40), 1), RNG.random(40) < 0.4
    found = bootstrap(AreaUnderCurve(score, is_event), 30, seed=2)
    loop = [roc_auc_score(is_event[rows], score[rows]) for rows in resampled_rows(2, 0, 30, 40)]
    np.testing.assert_allclose(found.replicates, loop, rtol=1e-12)
    left_out = [roc_auc_score(np.delete(is_event, i), np.delete(score, i)) for i in range(40)]
    np.testing.assert_allclose(found.left_out, left_out, rtol=1e-12)


def test_any_function_of_rows_can_be_bootstrapped():
    by_function = bootstrap(OfRows(lambda rows: float(X[rows].mean()), len(X)), 20, seed=5)
    by_columns = bootstrap(of_columns("mean(x)", x=X), 20, seed=5)
    np.testing.assert_allclose(by_function.replicates, by_columns.replicates, rtol=1e-12)


@pytest.mark.parametrize("n_rows", [60, 5_000])
def test_same_bits_for_any_number_of_threads(n_rows):
    x = np.random.default_rng(1).normal(size=n_rows)
    one, two = (bootstrap(of_columns("sd(x)", x=x), 300, seed=9, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.replicates.tobytes() == two.replicates.tobytes()
    assert one.left_out.tobytes() == two.left_out.tobytes()


class Watch:
    def __init__(self, stop_at=None):
        self.events, self._stop_at = [], stop_at

    def on_iteration(self, event):
        self.events.append(event)
        return event.phase == self._stop_at


def test_what_is_done_when_it_is_stopped_is_kept():
    watch = Watch("resampling")
    found = bootstrap(of_columns("mean(x)", x=np.arange(10_000.0)), 1000, seed=0, monitor=watch)
    whole = bootstrap(of_columns("mean(x)", x=np.arange(10_000.0)), 1000, seed=0)
    assert found.stopped
    assert 0 < len(found.replicates) < 1000
    np.testing.assert_array_equal(found.replicates, whole.replicates[: len(found.replicates)])
    assert "not left out yet" in found.interval(intervals.BCA, 0.95).why
    assert np.isfinite(found.interval(intervals.BASIC, 0.95).low)


def test_a_stop_while_rows_are_left_out_keeps_all_replicates():
    x = np.arange(3_000.0)
    found = bootstrap(of_columns("mean(x)", x=x), 10, seed=0, monitor=Watch("leaving rows out"))
    assert found.stopped
    assert len(found.replicates) == 10
    assert not len(found.left_out)


def test_the_monitor_is_told_how_far_it_is_and_can_look():
    watch = Watch()
    found = bootstrap(of_columns("mean(x)", x=X), 100, seed=0, monitor=watch)
    fractions = [event.fraction for event in watch.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    seen = watch.events[-1].so_far()
    np.testing.assert_array_equal(seen.replicates, found.replicates)
    assert not found.stopped


def test_a_constant_has_intervals_without_width_and_no_bca():
    found = bootstrap(of_columns("mean(x)", x=np.full(12, 0.1)), 50, seed=0)
    assert found.standard_error == found.bias == 0.0
    assert found.interval(intervals.PERCENTILE, 0.95)[:2] == (0.1, 0.1)
    assert "does not change the value" in found.interval(intervals.BCA, 0.95).why


def test_resamples_without_a_value_are_counted():
    found = bootstrap(of_columns("corr(x, y)", x=np.array([1.0, 1, 1, 2]), y=np.arange(4.0)), 200, seed=0)
    rows = resampled_rows(0, 0, 200, 4)
    n_constant = sum(len({r == 3 for r in sample}) == 1 for sample in rows.tolist())
    assert found.n_undefined == n_constant > 0
    assert len(found.defined) == 200 - n_constant
    assert np.isfinite(found.standard_error)


def test_a_value_that_is_not_defined_has_no_interval():
    found = bootstrap(of_columns("log(0 * mean(x))", x=X), 10, seed=0)
    assert found.n_undefined == 10
    assert np.isnan(found.standard_error)
    assert "not defined" in found.interval(intervals.BASIC, 0.95).why


def test_one_row_and_one_resample_are_refused():
    with pytest.raises(DataError, match="there is 1 row"):
        bootstrap(of_columns("mean(x)", x=np.ones(1)), 10, seed=0)
    with pytest.raises(ParameterError, match="number of resamples is 1"):
        bootstrap(of_columns("mean(x)", x=X), 1, seed=0)
    with pytest.raises(DataError, match="missing"):
        of_columns("mean(x)", x=np.array([1.0, np.nan]))


def test_the_bootstrap_of_two_assets_does_as_repeated_sampling():
    """Figure 5.10 of ISLR: means near 0.6, standard errors near 0.083 there and here."""
    share = parse(least_risk_share("x", "y"), ("x", "y"))

    def draw(rng, n_samples, n_rows):
        x, y = two_assets.draw(rng, n_samples, n_rows)
        return share.of({"x": x, "y": y})

    repeated = repeated_samples(draw, 100, 1000, seed=0)
    assert np.isclose(two_assets.SHARE, 0.6)
    error = repeated.std(ddof=1)
    assert abs(repeated.mean() - 0.6) < 4 * error / np.sqrt(1000) + 0.005  # and its bias, of order 1 / n
    assert error == pytest.approx(0.083, rel=4 / np.sqrt(2 * 1000))
    x, y = two_assets.draw(np.random.default_rng(0), 1, 100)
    found = bootstrap(OfColumns(share, {"x": x[0], "y": y[0]}), 1000, seed=0)
    assert found.standard_error == pytest.approx(error, rel=0.25)  # itself uncertain, by the one sample


def test_two_assets_have_their_variances_and_covariance():
    n = 200_000
    x, y = two_assets.draw(np.random.default_rng(1), 1, n)
    found = np.cov(x[0], y[0])
    right = [[1.0, 0.5], [0.5, 1.25]]
    np.testing.assert_allclose(found, right, atol=5 * 1.25 * np.sqrt(2 / n))
    assert np.quantile(y[0], 0.9) == pytest.approx(two_assets.quantile(False, 0.9), abs=0.03)


def test_a_million_replicates_are_looked_through_and_sorted_once():
    replicates = np.array([3.0, np.nan, 1.0, 2.0, np.inf])
    made = Bootstrap(2.0, replicates, np.array([1.5, 2.0, 2.5]), 3, 5, 0)
    assert made.defined is made.defined
    np.testing.assert_array_equal(made.defined, [3.0, 1.0, 2.0])
    low, high, _ = made.interval(intervals.PERCENTILE, 0.9)
    assert (low, high) == pytest.approx(tuple(np.quantile([1.0, 2.0, 3.0], [0.05, 0.95])))
    np.testing.assert_array_equal(made.replicates, replicates)
