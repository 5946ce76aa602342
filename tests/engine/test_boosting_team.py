"""A team of threads: sums, partitions and ends, with and without help."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import engine
from engine.binning import BinnedTable
from engine.boosting.columns import DrawnColumns
from engine.boosting.desk import desk_for, of_columns
from engine.boosting.kernels import calls, team
from engine.boosting.team import Orders, Team
from engine.errors import FitStopped
from tests.engine import naive_boosting as naive


def desk_of(codes, rows, fixed, n_bins, team, count_bits=7):
    """A desk for rows of columns of `n_bins` codes each, the last one for missing; for all trees."""
    n_features = codes.shape[1]
    binned = BinnedTable(
        codes, np.ascontiguousarray(codes.T), (np.empty(0),) * n_features, np.full(n_features, n_bins),
        np.arange(n_features + 1) * (n_bins + 1), np.zeros(n_features, bool),
    )  # fmt: skip
    desk = desk_for(binned, np.zeros(0, np.uint8), fixed.shape[1], count_bits, None, team)
    desk.fixed[:] = fixed
    desk.histograms[:] = 77
    return desk._replace(drawn=rows.copy(), rows=rows)


def give_orders(workers, desk, lead):
    """Return what ``lead(give)`` does, the others being at the desk."""
    orders = Orders(workers)
    with workers.at_work():
        return orders.at(desk, lambda: lead(orders.give))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_channels", [1, 2])
@pytest.mark.parametrize(("n_rows", "count_bits"), [(0, 1), (1, 1), (97, 7), (97, 3), (400, 5), (400, 9)])
def test_histograms_equal_the_naive_sums(n_rows, count_bits, n_channels, n_threads):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 5, (5000, 3)).astype(np.uint8)
    most = 2 ** min(30, 63 - 2 * count_bits)  # the largest gradients there can be
    signs = rng.choice([-1, 1], 5000)
    fixed = np.column_stack([most - rng.integers(0, 9, 5000), rng.integers(0, 2**30, 5000)])[:, :n_channels]
    fixed[:, 0] *= signs
    rows = np.sort(rng.choice(5000, n_rows, replace=False)).astype(np.int32)
    offsets = np.array([0, 5, 10, 15])
    workers = Team(n_threads)
    desk = desk_of(codes, rows, fixed, 4, workers, count_bits)
    whole = naive.histogram(codes, rows, fixed, offsets)
    others = np.full_like(whole, 9)

    def lead(give):
        for _ in range(2):  # the second time after it was emptied
            desk.histograms[2] = whole + others  # of the parent
            chunk = 2**count_bits - 1
            give(team.build, 0, n_rows, chunk, 1, 2, 0)
            np.testing.assert_array_equal(desk.histograms[1], whole)
            np.testing.assert_array_equal(desk.histograms[2], others)
            assert not desk.poured.any()

    give_orders(workers, desk, lead)
    assert (desk.histograms[0] == 77).all()


@pytest.mark.parametrize(("count_bits", "n_poured"), [(7, 0), (4, 30)])
def test_what_one_thread_added_up_is_not_found_by_another_in_fewer_columns(count_bits, n_poured):
    rng = np.random.default_rng(0)
    codes, rows = rng.integers(0, 5, (40, 3)).astype(np.uint8), np.arange(40, dtype=np.int32)
    fixed = rng.integers(-9, 9, (40, 1)).astype(np.int32)
    workers = Team(2)
    whole = desk_of(codes, rows, fixed, 4, workers, count_bits)
    some = DrawnColumns(
        codes[:, 1:].copy(), np.array([1, 2]), np.array([4, 4]), np.array([0, 5, 10]), np.zeros(2, bool)
    )
    few, last = of_columns(whole, some), workers.n_threads - 1
    for desk, thread in ((whole, 0), (few, last), (whole, last), (few, 0), (whole, 0)):
        words = np.zeros(team.LEFT + workers.n_threads * calls.WORDS_A_LINE, np.int64)
        words[[team.WORK, team.N_ITEMS, team.CHUNK]] = team.ADD_ROWS, 40, 10
        for piece in range(4):
            team.do_piece(piece, thread, words, desk)
        assert desk.counts[thread, team.N_POURED] == n_poured
        team.build(words, desk, 0, 0, 10, 0, team.NO_SLOT, 0)
        expected = naive.histogram(desk.codes, rows, fixed, desk.searches.offsets)
        np.testing.assert_array_equal(desk.histograms[0], expected)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("n_rows", "chunk"), [(1, 5), (700, 700), (700, 699), (700, 7), (700, 1)])
def test_a_team_parts_rows_in_their_order(n_rows, chunk, n_threads, monkeypatch):
    monkeypatch.setattr("engine.boosting.desk.SPLIT_CHUNK", chunk)
    rng = np.random.default_rng(n_rows + chunk)
    codes = rng.integers(0, 4, (900, 2)).astype(np.uint8)
    rows = np.sort(rng.choice(900, 720, replace=False)).astype(np.int32)
    before = rows.copy()
    workers = Team(n_threads)
    desk = desk_of(codes, rows, np.zeros((900, 1), np.int32), 3, workers)
    desk.goes_left[:4] = 1, 0, 1, 0
    n_left = give_orders(workers, desk, lambda give: give(team.partition, 10, n_rows, chunk, 1))
    inside = before[10 : 10 + n_rows]
    is_left = codes[inside, 1] % 2 == 0
    assert n_left == is_left.sum()
    np.testing.assert_array_equal(rows[10 : 10 + n_left], inside[is_left])
    np.testing.assert_array_equal(rows[10 + n_left : 10 + n_rows], inside[~is_left])
    np.testing.assert_array_equal(rows[:10], before[:10])
    np.testing.assert_array_equal(rows[10 + n_rows :], before[10 + n_rows :])


def fail_after(give):
    give(team.build, 0, 40, 1, 0, team.NO_SLOT, 0)
    raise FitStopped


def test_a_team_ends_with_its_block_whatever_happens_in_it():
    codes = np.zeros((40, 1), np.uint8)
    workers = Team(2)
    desk = desk_of(codes, np.arange(40, dtype=np.int32), np.ones((40, 1), np.int32), 1, workers)
    for _ in range(3):
        with pytest.raises(FitStopped):
            give_orders(workers, desk, fail_after)
        desk.histograms[0] = 0
    give_orders(workers, desk, lambda give: give(team.build, 0, 40, 1, 0, team.NO_SLOT, 0))  # and works again
    assert desk.histograms[0, 0, -1] == 40


def test_who_loses_patience_helps_again(monkeypatch):
    monkeypatch.setattr("engine.boosting.team.PATIENCE", 1)
    codes = np.zeros((400, 1), np.uint8)
    workers = Team(2)
    desk = desk_of(codes, np.arange(400, dtype=np.int32), np.ones((400, 1), np.int32), 1, workers)

    def lead(give):
        for n_rows in range(1, 400):
            give(team.build, 0, n_rows, 1, 0, team.NO_SLOT, 0)
            assert desk.histograms[0, 0].tolist() == [n_rows, n_rows]

    give_orders(workers, desk, lead)


def test_who_comes_back_to_the_desk_takes_nothing_that_the_leader_does_alone(monkeypatch):
    monkeypatch.setattr("engine.boosting.team.PATIENCE", 1)
    n_served, serve = [0], team.serve

    def count_and_serve(*arguments):
        is_over = serve(*arguments)
        n_served[0] += 1
        return is_over

    monkeypatch.setattr(team, "serve", count_and_serve)
    codes = np.zeros((4, 1), np.uint8)
    workers, pieces = Team(2), list[int]()
    desk = desk_of(codes, np.arange(4, dtype=np.int32), np.ones((4, 1), np.int32), 1, workers)

    def take_all(_thread):
        while (piece := int(calls.take(workers.shared))) < 5:
            pieces.append(piece)
            before = n_served[0]
            while workers.n_threads > 1 and n_served[0] == before:
                workers.ring()

    give_orders(workers, desk, lambda _give: workers.together(take_all))
    assert pieces == [0, 1, 2, 3, 4]


def test_an_error_is_told_once():
    workers, begun = Team(2), list[int]()

    def fail(thread):
        begun.append(thread)
        while len(begun) < workers.n_threads:
            workers.ring()
        raise ValueError(thread)

    with workers.at_work():
        with pytest.raises(ValueError, match="0"):
            workers.together(fail)
        workers.together(lambda _thread: None)


@pytest.mark.parametrize("is_order", [False, True])
def test_an_interrupt_while_others_are_called_ends_them(is_order, monkeypatch):
    call, begun = calls.call, list[int]()
    workers = Team(2)
    codes = np.zeros((4, 1), np.uint8)
    desk = desk_of(codes, np.arange(4, dtype=np.int32), np.ones((4, 1), np.int32), 1, workers)
    serve = team.serve
    monkeypatch.setattr(team, "serve", lambda thread, *rest: begun.append(thread) or serve(thread, *rest))

    def interrupt(*arguments):
        call(*arguments)
        while workers.n_threads > 1 and not begun:
            workers.ring()
        raise KeyboardInterrupt

    monkeypatch.setattr(calls, "call", interrupt)
    begin = partial(Orders(workers).at, desk, len) if is_order else partial(workers.together, begun.append)
    with pytest.raises(KeyboardInterrupt), workers.at_work():
        begin()


def test_who_was_dismissed_at_work_does_not_wait_again():
    words = np.full(2 * calls.WORDS_A_LINE, calls.IS_DISMISSED)
    calls.end_work(words, 1)
    assert words[calls.WORDS_A_LINE] == calls.IS_DISMISSED


@pytest.mark.parametrize("directions", [None, [1, 0, 0, 0]])
def test_models_that_train_at_the_same_time_do_not_wait_for_each_other(directions):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=len(X))

    def fit(n_jobs):
        model = engine.GradientBoostingRegressor(
            n_estimators=4, max_leaf_nodes=20, monotonic_cst=directions, n_jobs=n_jobs
        )
        return model.fit(X, y).predict(X)

    alone = fit(1)
    with ThreadPoolExecutor(4) as pool:
        for told in pool.map(fit, [2, 2, 2, 8]):
            np.testing.assert_array_equal(told, alone)


@pytest.mark.parametrize("max_features", [None, 2])
def test_histograms_that_find_no_room_change_nothing(monkeypatch, max_features):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)

    def fit():
        model = engine.GradientBoostingRegressor(
            n_estimators=3,
            max_leaf_nodes=None,
            max_depth=7,
            max_bins=20,
            max_features=max_features,
            random_state=0,
        )
        return model.fit(X, y)

    roomy = fit()
    monkeypatch.setattr("engine.boosting.desk.MOST_BYTES", 1)
    assert fit().estimators_ == roomy.estimators_
