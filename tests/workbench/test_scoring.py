import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, roc_auc_score

from workbench import scoring
from workbench.crossvalidation import resampled_interval


def made_up(n_classes, n=400, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    proba = rng.dirichlet(np.ones(n_classes), n)
    proba[np.arange(n), codes] += 0.5
    proba = np.round(proba / proba.sum(axis=1, keepdims=True), 2)  # rounding makes ties
    proba /= proba.sum(axis=1, keepdims=True)
    return codes, proba


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_class_scores_equal_scikit_learns(n_classes):
    codes, proba = made_up(n_classes)
    labels = tuple(f"k{i}" for i in range(n_classes))
    scores = scoring.score_classes("test", codes, proba, labels)
    auc = roc_auc_score(codes, proba[:, 1] if n_classes == 2 else proba, multi_class="ovr")
    assert scores.auc.value == pytest.approx(auc, rel=1e-12)
    assert scores.log_loss.value == pytest.approx(log_loss(codes, np.maximum(proba, 1e-15)), rel=1e-9)
    assert scores.accuracy.value == np.mean(np.argmax(proba, axis=1) == codes)
    assert scores.confusion.sum() == 400
    assert np.trace(scores.confusion) == np.sum(scores.prediction == codes)
    assert scores.majority_class == labels[np.argmax(np.bincount(codes))]
    assert scores.baseline == np.bincount(codes).max() / 400
    for estimate in scores.metrics.values():
        assert estimate.low < estimate.value < estimate.high


def test_wilson_interval_of_a_worked_example():
    # 8 of 10: Brown, Cai, DasGupta 2001 give 0.490 to 0.943
    assert scoring.wilson_interval(8, 10) == pytest.approx((0.8, 0.4901625, 0.9433178), abs=1e-6)
    assert scoring.wilson_interval(0, 10).low == 0.0
    assert scoring.wilson_interval(10, 10).high == 1.0


def naive_delong_interval(y, score):
    events, others = score[y == 1], score[y == 0]
    wins = (events[:, None] > others) + 0.5 * (events[:, None] == others)
    variance = wins.mean(axis=1).var(ddof=1) / len(events) + wins.mean(axis=0).var(ddof=1) / len(others)
    half = scoring.Z_95 * np.sqrt(variance)
    return wins.mean(), wins.mean() - half, wins.mean() + half


def test_auc_interval_is_delongs():
    codes, proba = made_up(2, n=2000)
    found = scoring.auc(codes, proba)
    assert found == pytest.approx(naive_delong_interval(codes, proba[:, 1]), abs=2e-5)


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    n_hits = {"auc": 0, "rmse": 0, "r2": 0, "accuracy": 0, "mae": 0}
    for _ in range(400):
        y = rng.integers(0, 2, 150)
        score = rng.normal(y * 1.0, 1.0)
        found = scoring.auc(y, np.column_stack([-score, score]))
        n_hits["auc"] += found.low <= 0.7602499 <= found.high  # Phi(1 / sqrt 2)
        signal = rng.normal(size=150)
        numbers = scoring.score_numbers("test", signal + rng.normal(size=150), signal)
        n_hits["rmse"] += numbers.rmse.low <= 1.0 <= numbers.rmse.high
        n_hits["mae"] += numbers.mae.low <= np.sqrt(2 / np.pi) <= numbers.mae.high
        n_hits["r2"] += numbers.r2.low <= 0.5 <= numbers.r2.high
        hits = scoring.wilson_interval(int(rng.binomial(150, 0.9)), 150)
        n_hits["accuracy"] += hits.low <= 0.9 <= hits.high
    assert all(0.92 * 400 <= n <= 0.98 * 400 for n in n_hits.values()), n_hits


def test_a_perfect_auc_is_not_told_as_certain():
    proba = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 4)
    found = scoring.auc(np.array([0] * 5 + [1] * 4), proba)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == scoring.wilson_interval(4, 4).low < 0.6


def test_a_class_without_rows_is_left_out_of_the_mean_auc():
    codes, proba = made_up(3)
    two = codes != 2
    wanted = np.mean([roc_auc_score(codes[two] == k, proba[two, k]) for k in (0, 1)])
    scores = scoring.score_classes("test", codes[two], proba[two], ("a", "b", "c"))
    assert scores.auc.value == pytest.approx(wanted, rel=1e-12)
    assert np.isnan(scores.per_class[2].recall)
    assert scores.per_class[2].n_rows == 0
    only_one = scoring.score_classes("test", np.zeros(4, int), proba[:4], ("a", "b", "c"))
    assert np.isnan(only_one.auc.value)


def test_the_class_table_counts():
    codes = np.array([0, 0, 0, 1, 1, 2])
    proba = np.eye(3)[[0, 0, 1, 1, 0, 1]]
    scores = scoring.score_classes("test", codes, proba, ("a", "b", "c"))
    assert scores.confusion.tolist() == [[2, 1, 0], [1, 1, 0], [0, 1, 0]]
    assert scores.per_class[0][1:] == (3, 2 / 3, 2 / 3, 2 / 3)
    assert scores.per_class[1][1:] == pytest.approx((2, 1 / 3, 1 / 2, 2 / 5))
    assert np.isnan(scores.per_class[2].precision)
    assert scores.per_class[2].recall == 0.0


def test_number_scores_equal_scikit_learns():
    rng = np.random.default_rng(3)
    y, prediction = rng.normal(size=100), rng.normal(size=100)
    scores = scoring.score_numbers("test", y, prediction)
    assert scores.r2.value == pytest.approx(r2_score(y, prediction), rel=1e-12)
    assert scores.mae.value == pytest.approx(mean_absolute_error(y, prediction), rel=1e-12)
    assert scores.rmse.value == pytest.approx(np.sqrt(np.mean((y - prediction) ** 2)), rel=1e-12)
    assert scores.baseline == pytest.approx(np.std(y), rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**400, 2.0**-500], ids=["large", "small"])
def test_numbers_in_any_unit_have_the_same_scores(unit):
    """Squares of squares of numbers beyond 1e77 are infinite, and below 1e-81 nothing."""
    rng = np.random.default_rng(4)
    y, weights = rng.normal(size=40), rng.integers(1, 4, 40).astype(float)
    prediction = y + rng.normal(size=40) / 2
    plain = scoring.score_numbers("test", y, prediction, weights)
    scaled = scoring.score_numbers("test", y * unit, prediction * unit, weights)
    assert scaled.metrics["r2"] == plain.metrics["r2"]
    for name in ("rmse", "mae"):
        assert scaled.metrics[name] == tuple(unit * value for value in plain.metrics[name])
    assert scaled.baseline == unit * plain.baseline


def test_number_scores_at_their_edges():
    exact = scoring.score_numbers("test", np.arange(4.0), np.arange(4.0))
    assert exact.rmse == (0.0, 0.0, 0.0)
    assert exact.r2 == (1.0, 1.0, 1.0)
    constant = scoring.score_numbers("test", np.ones(4), np.arange(4.0))
    assert np.isnan(constant.r2.value)
    single = scoring.score_numbers("test", np.array([1.0]), np.array([3.0]))
    assert single.mae.value == 2.0
    assert np.isnan(single.mae.low)


def test_resampled_interval_of_a_worked_example():
    # J = 4, folds of a quarter: half = t(3) x sqrt(1/4 + 1/3) x s, s = 0.1 sqrt(20/3) / 2 ...
    values = np.array([0.7, 0.8, 0.9, 1.0])
    s = np.std(values, ddof=1)
    half = 3.182446305284263 * np.sqrt(1 / 4 + 1 / 3) * s
    assert resampled_interval(values, n_folds=4) == pytest.approx((0.85, 0.85 - half, 0.85 + half))
    assert np.isnan(resampled_interval(np.array([0.5])).low)


def weighted(n, seed=5):
    return np.random.default_rng(seed).integers(0, 4, n).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_class_scores_equal_scikit_learns_and_repeated_rows(n_classes):
    codes, proba = made_up(n_classes)
    labels, w = tuple(f"k{i}" for i in range(n_classes)), weighted(len(codes))
    scores = scoring.score_classes("test", codes, proba, labels, w)
    repeated = np.repeat(np.arange(len(codes)), w.astype(int))
    as_rows = scoring.score_classes("test", codes[repeated], proba[repeated], labels)
    for metric, found in scores.metrics.items():
        assert found.value == pytest.approx(as_rows.metrics[metric].value, rel=1e-12)
        assert found.high - found.low > as_rows.metrics[metric].high - as_rows.metrics[metric].low
    assert scores.accuracy.value == pytest.approx(
        accuracy_score(codes, proba.argmax(axis=1), sample_weight=w), rel=1e-12
    )
    wanted = log_loss(codes, np.maximum(proba, 1e-15), sample_weight=w)
    assert scores.log_loss.value == pytest.approx(wanted, rel=1e-9)
    if n_classes == 2:
        assert scores.auc.value == pytest.approx(
            roc_auc_score(codes, proba[:, 1], sample_weight=w), rel=1e-12
        )
    assert scores.baseline == pytest.approx(as_rows.baseline, rel=1e-12)
    assert scores.base_rates == pytest.approx(as_rows.base_rates, rel=1e-12)
    assert scores.confusion.sum() == scores.n_rows == len(codes)


def test_weighted_number_scores_equal_scikit_learns():
    rng = np.random.default_rng(3)
    y, prediction, w = rng.normal(size=100), rng.normal(size=100), weighted(100)
    scores = scoring.score_numbers("test", y, prediction, w)
    assert scores.r2.value == pytest.approx(r2_score(y, prediction, sample_weight=w), rel=1e-12)
    assert scores.mae.value == pytest.approx(mean_absolute_error(y, prediction, sample_weight=w), rel=1e-12)
    assert scores.rmse.value == pytest.approx(
        np.sqrt(np.average((y - prediction) ** 2, weights=w)), rel=1e-12
    )
    assert scores.baseline == pytest.approx(
        np.sqrt(np.average((y - np.average(y, weights=w)) ** 2, weights=w)), rel=1e-12
    )


@pytest.mark.parametrize("factor", [1.0, 0.25, 8.0])
def test_equal_weights_change_no_score_and_no_interval(factor):
    codes, proba = made_up(3)
    labels, w = ("a", "b", "c"), np.full(len(codes), factor)
    plain, same = (scoring.score_classes("test", codes, proba, labels, of) for of in (None, w))
    rng = np.random.default_rng(3)
    y, prediction = rng.normal(size=400), rng.normal(size=400)
    numbers, same_numbers = (scoring.score_numbers("test", y, prediction, of) for of in (None, w))
    for one, other in ((plain, same), (numbers, same_numbers)):
        for metric, found in one.metrics.items():
            assert other.metrics[metric] == pytest.approx(found, rel=1e-12)


def test_rows_of_weight_0_do_not_enter_any_interval():
    codes, proba = made_up(2, n=4000)
    w = np.where(np.arange(4000) % 2, 1.0, 0.0)
    with_zeros = scoring.score_classes("test", codes, proba, ("a", "b"), w)
    without = scoring.score_classes("test", codes[1::2], proba[1::2], ("a", "b"))
    for metric, found in without.metrics.items():
        assert with_zeros.metrics[metric] == pytest.approx(found, abs=1e-4)
    assert with_zeros.accuracy == pytest.approx(without.accuracy, rel=1e-12)


def test_a_weighted_perfect_score_is_not_told_as_certain():
    # weights 3, 1: as many rows as Kish counts, 16 / 10
    proba, w = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([3.0, 1.0])
    found = scoring.score_classes("test", np.array([0, 1]), proba, ("a", "b"), w).accuracy
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1.6 / (1.6 + scoring.Z_95**2), rel=1e-12)


def test_decision_values_of_a_class_that_training_lacked_are_ties():
    """Of a fold without it all are -infinity: no row ranks above another, an AUC of one half."""
    codes = np.array([0, 1, 2, 0, 1, 2])
    decisions = np.column_stack([codes == 0, codes == 1, codes == 2]).astype(float)
    decisions[:, 2] = -np.inf
    scores = scoring.score_decisions("test", codes, decisions, ("a", "b", "c"))
    assert scores.auc.value == pytest.approx((1 + 1 + 0.5) / 3)
    assert scores.accuracy.value == pytest.approx(4 / 6)
