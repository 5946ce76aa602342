"""Reference cycles go in the window's thread only, and full collections wait for idle moments."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from workbench.collector import FULL_EVERY, Collector


class Knot:
    """Refers to itself, so that only a collection frees it; tells in which thread that happened."""

    def __init__(self, freed_in: list[str] | None = None) -> None:
        self.me = self
        self._freed_in = freed_in

    def __del__(self) -> None:
        if self._freed_in is not None:
            self._freed_in.append(threading.current_thread().name)


class Work:
    is_under_way = False


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def collector(qapp, work):
    made = Collector(lambda: work.is_under_way)
    made.start()
    made.collect()  # imports since are kept here, and not in the middle of a test
    yield made
    made.stop()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_cycles_of_a_worker_are_freed_in_the_thread_of_the_window(collector):
    freed_in: list[str] = []

    def allocate() -> None:
        for _ in range(5000):  # seven times the number that starts Python's own collection
            Knot(freed_in)

    worker = threading.Thread(target=allocate, name="worker")
    worker.start()
    worker.join()
    assert freed_in == []
    collector.collect()
    assert set(freed_in) == {threading.current_thread().name}
    assert len(freed_in) == 5000


def test_old_cycles_wait_until_the_work_is_over(collector, work):
    knot = Knot()
    gone = weakref.ref(knot)
    gc.collect()  # the knot is old now
    del knot
    work.is_under_way = True
    for _ in range(2 * FULL_EVERY):
        collector.collect()
    assert gone() is not None
    work.is_under_way = False
    for _ in range(FULL_EVERY):
        collector.collect()
    assert gone() is None


def test_what_an_import_made_is_not_looked_at_again(collector, monkeypatch):
    import sys

    before = gc.get_freeze_count()
    monkeypatch.setitem(sys.modules, "a_module_of_this_test", sys)
    kept = [[idx] for idx in range(1000)]
    collector.collect()
    assert gc.get_freeze_count() >= before + len(kept)
