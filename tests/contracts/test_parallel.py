"""Two ways to run in parallel, one answer for any number of threads (architecture decision 2)."""

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

from engine import parallel
from engine.errors import ParameterError

THREADS = [1, 2, 8]


@pytest.mark.parametrize("n_jobs", THREADS)
@pytest.mark.parametrize("n_items", [0, 1, 7, 1000])
def test_chunks_cover_every_item_once_and_do_not_depend_on_threads(n_items, n_jobs):
    visits, chunks = np.zeros(n_items, int), {}

    def visit(chunk_idx, start, stop):
        visits[start:stop] += 1
        chunks[chunk_idx] = (start, stop)

    parallel.for_chunks(visit, n_items, 7, n_jobs)
    assert (visits == 1).all()
    assert chunks == {i: (s, min(s + 7, n_items)) for i, s in enumerate(range(0, n_items, 7))}


@pytest.mark.parametrize("n_jobs", THREADS)
def test_task_results_come_in_order(n_jobs):
    assert list(parallel.map_tasks(lambda i: i * i, range(50), n_jobs)) == [i * i for i in range(50)]


@pytest.mark.parametrize("n_jobs", THREADS)
def test_a_task_that_fails_raises_where_its_result_is_taken(n_jobs):
    def fail_at_three(i):
        if i == 3:
            raise KeyError("three")
        return i

    results = parallel.map_tasks(fail_at_three, range(10), n_jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="three"):
        next(results)


def test_a_chunk_that_fails_raises():
    def fail(chunk_idx, start, stop):
        raise OverflowError(f"chunk {chunk_idx}")

    with pytest.raises(OverflowError, match="chunk 0"):
        parallel.for_chunks(fail, 10, 5, 2)


@pytest.mark.parametrize("n_jobs", THREADS)
def test_abandoned_work_stops(n_jobs):
    begun = []
    results = parallel.map_tasks(lambda i: begun.append(i) or i, range(10_000), n_jobs)
    next(results)
    results.close()
    assert len(begun) <= 2 * n_jobs + 1


@pytest.mark.parametrize("n_jobs", THREADS)
def test_nested_calls_run_in_the_thread_of_their_task(n_jobs):
    def outer(i):
        inner = set(parallel.map_tasks(lambda _: threading.get_ident(), range(4), n_jobs))
        chunk_threads = set()
        parallel.for_chunks(lambda *_: chunk_threads.add(threading.get_ident()), 8, 2, n_jobs)
        return (inner | chunk_threads) == {threading.get_ident()}

    assert n_jobs == 1 or all(parallel.map_tasks(outer, range(8), n_jobs))


@pytest.mark.parametrize("n_jobs", THREADS)
def test_sums_by_chunk_have_the_same_bits_for_any_number_of_threads(n_jobs):
    values = np.random.default_rng(0).normal(size=10_000) * 10.0 ** np.arange(10_000) ** 0.25
    sums = np.zeros(-(-len(values) // 97))

    def add(chunk_idx, start, stop):
        sums[chunk_idx] = np.add.accumulate(values[start:stop])[-1]

    parallel.for_chunks(add, len(values), 97, n_jobs)
    expected = [np.add.accumulate(values[start : start + 97])[-1] for start in range(0, len(values), 97)]
    assert sums.tolist() == expected


class CountingExecutor(Executor):
    """Runs at once, in the caller's thread, and counts."""

    def __init__(self):
        self.n_submitted = 0

    def submit(self, function, /, *arguments, **options):
        self.n_submitted += 1
        future = Future()
        future.set_result(function(*arguments, **options))
        return future


def test_tasks_run_on_the_executor_in_use_and_only_inside_the_block():
    executor = CountingExecutor()
    with parallel.use(executor):
        assert list(parallel.map_tasks(abs, [-1, -2, -3])) == [1, 2, 3]
    assert list(parallel.map_tasks(abs, [-4])) == [4]
    assert executor.n_submitted == 3


def test_the_waiting_caller_is_called_back():
    """A monitor has to be asked while one long task runs (decision 4)."""
    release, calls = threading.Event(), []

    def note():
        calls.append(threading.get_ident())
        if len(calls) == 3:
            release.set()

    with ThreadPoolExecutor(1) as executor, parallel.use(executor):
        results = list(parallel.map_tasks(lambda _: release.wait(30), [0], while_waiting=note))
    assert results == [True]
    assert len(calls) >= 3
    assert set(calls) == {threading.get_ident()}


def test_jobs_are_resolved_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert [parallel.resolve_jobs(n) for n in (None, -1, -2, -20, 1, 3, np.int64(2))] == [8, 8, 7, 1, 1, 3, 2]
    for bad in (0, 1.5, "two", True):
        with pytest.raises(ParameterError, match="n_jobs is"):
            parallel.resolve_jobs(bad)


def test_waiting_for_many_short_tasks_asks_as_often_as_waiting_for_a_long_one(monkeypatch):
    """A long search in short chunks was never asked about: each of them was done in time."""
    monkeypatch.setattr(parallel, "POLL_S", 0.0)
    asked = []
    parallel.for_chunks(lambda *_: None, 8, 1, 2, lambda: asked.append("chunk"))
    results = parallel.map_tasks(abs, range(8), 2, lambda: asked.append("task"))
    assert list(results) == list(range(8))
    assert asked.count("chunk") >= 2
    assert asked.count("task") >= 8


@pytest.mark.parametrize("n_jobs", THREADS)
def test_of_chunks_that_fail_the_first_is_raised_and_no_more_begin(n_jobs):
    running = []

    def fail_late(chunk_idx, start, stop):
        running.append(chunk_idx)
        if chunk_idx in (3, 5):
            raise OverflowError(f"chunk {chunk_idx}")

    with pytest.raises(OverflowError, match="chunk 3"):
        parallel.for_chunks(fail_late, 100, 1, n_jobs)
    assert len(running) < 100


def test_a_question_that_raises_ends_the_work_of_all_threads(monkeypatch):
    monkeypatch.setattr(parallel, "POLL_S", 0.0)
    visits = []

    def stop():
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        parallel.for_chunks(lambda chunk_idx, *_: visits.append(chunk_idx), 10**6, 1, 2, stop)
    n_visits = len(visits)
    assert n_visits < 10**6
    parallel.for_chunks(lambda *_: None, 2, 1, 2)  # the pool is free again
    assert len(visits) == n_visits


@pytest.mark.parametrize("threads", [parallel.MODELS, parallel.SEARCHES])
def test_short_pieces_do_not_wait_behind_long_tasks(threads):
    """A picture that is asked for while models are trained is drawn before one of them ends."""
    let_go, n_begun = threading.Event(), threading.Semaphore(0)

    def train(i):
        n_begun.release()
        assert let_go.wait(60)
        return i

    long = ThreadPoolExecutor(1)
    trained = long.submit(lambda: list(parallel.map_tasks(train, range(6), 2, threads=threads)))
    for _ in range(2):
        assert n_begun.acquire(timeout=60)  # both threads are taken
    try:
        assert list(parallel.map_tasks(lambda i: -i, range(6), 2)) == [0, -1, -2, -3, -4, -5]
        seen = []
        parallel.for_chunks(lambda i, *_: seen.append(i), 6, 1, 2)
        assert sorted(seen) == list(range(6))
        assert not trained.done()
    finally:
        let_go.set()
        long.shutdown()
    assert trained.result() == list(range(6))
