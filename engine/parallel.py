"""The only ways to run in parallel: `for_chunks`, `map_tasks`, and `beside` for kernels that share work.

Work is cut into chunks of a fixed size, whatever the number of threads, and results are reduced in
chunk order, so any thread count gives the same bits. Inside a task both run serially: nested pools
deadlock.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from engine.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")
SHORT, MODELS, SEARCHES = "chunks", "models", "searches"  # what standing threads are for
POLL_S = 0.03  # between two looks at a monitor while tasks run

_executor: ContextVar[Executor | None] = ContextVar("executor", default=None)
_inside_task: ContextVar[bool] = ContextVar("inside_task", default=False)
_pools: dict[tuple[int, str], ThreadPoolExecutor] = {}
_pools_lock = Lock()


def resolve_jobs(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`: None and -1 mean all cores, -2 all but one, and so on.

    Raises
    ------
    ParameterError
        `n_jobs` is 0 or not a whole number.
    """
    if n_jobs is None:
        n_jobs = -1
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ParameterError(f"n_jobs is {n_jobs!r}; enter a number of threads, or -1 for all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


@contextmanager
def use(executor: Executor) -> Iterator[None]:
    """Run the `map_tasks` calls inside the block on `executor`, for example Dask's."""
    token = _executor.set(executor)
    try:
        yield
    finally:
        _executor.reset(token)


def for_chunks(
    function: Callable[[int, int, int], Any], n_items: int, chunk_size: int, n_jobs: int | None = None,
    while_waiting: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """Call ``function(chunk_idx, start, stop)`` for every chunk of ``range(n_items)``.

    Parameters
    ----------
    function : callable
        Fills its own, disjoint part of some output in place; runs in threads of this process.
    n_items : int
        How many items there are; with 0 nothing is called.
    chunk_size : int
        Items a chunk. Choose it from the data, never from the number of threads.
    n_jobs : int, optional
        Threads at most, see `resolve_jobs`.
    while_waiting : callable, optional
        Called in the calling thread about every 30 ms while it waits for others; never when the
        chunks run in that thread.
    """
    starts = range(0, n_items, chunk_size)
    n_threads = min(resolve_jobs(n_jobs), len(starts))
    if n_threads <= 1 or _inside_task.get():
        for chunk_idx, start in enumerate(starts):
            function(chunk_idx, start, min(start + chunk_size, n_items))
        return
    waiting, errors = deque(enumerate(starts)), dict[int, BaseException]()

    def run_chunks() -> None:
        """Take chunks until none is left: a future for each would cost a tenth of a short one's work."""
        while True:
            try:
                chunk_idx, start = waiting.popleft()
            except IndexError:
                return
            try:
                function(chunk_idx, start, min(start + chunk_size, n_items))
            except BaseException as error:
                errors[chunk_idx] = error
                waiting.clear()

    pool, task, watch = _pool(n_threads), _as_task(run_chunks), _Watch(while_waiting)
    n_others = n_threads - (while_waiting is None)  # nobody is to be told: the calling thread takes part
    others = [pool.submit(task) for _ in range(n_others)]
    try:
        if while_waiting is None:
            task()
        for future in others:
            watch.result_of(future)
    finally:
        waiting.clear()
        wait(others)  # nothing writes on once this has ended
    if errors:
        raise errors[min(errors)]


@contextmanager
def beside(function: Callable[[int], None], n_threads: int) -> Iterator[int]:
    """Run ``function(1)`` to ``function(n_threads - 1)`` in other threads during the block; yield how many.

    They have to end by themselves soon after the block has; those that never began are left out. They
    have a pool of their own: they wait for the block, which may need the threads of the others.
    """
    if n_threads <= 1 or _inside_task.get():
        yield 0
        return
    pool, task = _pool(n_threads, "beside"), _as_task(function)
    others = [pool.submit(task, i) for i in range(1, n_threads)]
    try:
        yield len(others)
    finally:
        for future in others:
            future.cancel()
        wait(others)
    for future in others:
        if not future.cancelled():
            future.result()


def map_tasks(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    while_waiting: Callable[[], None] | None = None,
    *,
    threads: str = SHORT,
) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in order, as they become ready.

    Tasks are pure functions: on another executor (see `use`) they may run in another process. At
    most twice as many as there are threads are under way, so a caller that stops taking results
    stops the work; tasks not yet begun are then cancelled. `while_waiting` is called in the calling
    thread about every 30 ms while it waits; never when the tasks run in that thread.

    Tasks that are whole trainings have `threads` of their own, MODELS or SEARCHES: else the short pieces of
    a picture that is asked for meanwhile would wait for one of them to end, or a training for a search.
    """
    remote = _executor.get()
    n_threads = resolve_jobs(n_jobs)
    if _inside_task.get() or (remote is None and n_threads <= 1):
        yield from map(function, items)
        return
    executor = remote or _pool(n_threads, threads)
    task = function if remote is not None else _as_task(function)
    waiting: list[Future[Result]] = []
    upcoming, watch = iter(items), _Watch(while_waiting)
    try:
        for item in upcoming:
            waiting.append(executor.submit(task, item))
            if len(waiting) >= 2 * n_threads:
                yield watch.result_of(waiting.pop(0))
        while waiting:
            yield watch.result_of(waiting.pop(0))
    finally:
        for future in waiting:
            future.cancel()


class _Watch:
    """Calls a function about every 30 ms while futures are waited for, however short each of them is."""

    def __init__(self, while_waiting: Callable[[], None] | None) -> None:
        self._while_waiting, self._next = while_waiting, time.monotonic() + POLL_S

    def result_of(self, future: Future[Result]) -> Result:
        while self._while_waiting is not None:
            done, _ = wait([future], timeout=max(self._next - time.monotonic(), 0.0))
            if time.monotonic() >= self._next:
                self._while_waiting()
                self._next = time.monotonic() + POLL_S
            if done:
                break
        return future.result()


def _as_task(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return what calls a function in a pool's thread with the context variables of this one."""
    context = copy_context()
    context.run(_inside_task.set, True)

    def run(*arguments: Any) -> Result:
        return context.copy().run(function, *arguments)  # a context is entered by one thread at a time

    return run


@cache
def limit_blas() -> None:
    """Give BLAS one thread, in the whole process and for good, once the first pool is made.

    Its spinning threads cost 5 to 270 times on a busy machine. The limit is process-wide in OpenBLAS,
    so setting and lifting it around each task would race. Networks ask for it without a pool too: a
    product by several threads has other bits than by one.
    """
    import scipy.linalg.cython_blas  # noqa: F401 - only libraries that are loaded are limited
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


def _pool(n_threads: int, use: str = SHORT) -> ThreadPoolExecutor:
    with _pools_lock:
        key = (n_threads, use)
        if key not in _pools:
            limit_blas()
            _pools[key] = ThreadPoolExecutor(n_threads, thread_name_prefix=f"engine-{n_threads}-{use}")
        return _pools[key]


def shut_down() -> None:
    """Let the standing pools end; for quitting the program and for tests that count threads."""
    with _pools_lock:
        for key in list(_pools):
            _pools.pop(key).shutdown(wait=True, cancel_futures=True)
