"""Work in a child process: its result, its events, its stop, and its death."""

import multiprocessing
import os
import signal
import threading
from functools import partial

import numpy as np
import pytest

from engine.apart import WorkLost
from engine.errors import DataError, FitStopped
from engine.monitor import NULL_MONITOR, IterationEvent
from workbench import children
from workbench.children import run_in_child
from workbench.training_words import told


@pytest.fixture(autouse=True)
def no_child_is_left():
    yield
    children.shut_down()
    assert multiprocessing.active_children() == []


class Recorder:
    """Keeps the events, and stops from one of a phase on."""

    def __init__(self, stops_at=""):
        self.events, self.stops_at = [], stops_at

    def on_iteration(self, event):
        self.events.append(event)
        return event.phase == self.stops_at


class Once:
    """Does something at the first event of a phase."""

    def __init__(self, phase, then):
        self.phase, self.then = phase, then

    def on_iteration(self, event):
        if event.phase == self.phase:
            self.phase = None
            self.then(event)
        return False


def process_of(monitor):
    monitor.on_iteration(IterationEvent("working", 1, 1, 1.0, train_loss=0.5, new_trees=(1, 2), so_far=None))
    return os.getpid()


def spin(monitor):
    monitor.on_iteration(IterationEvent("spinning", message=str(os.getpid())))
    while True:
        pass


def count(monitor):
    n = 0
    while not monitor.on_iteration(IterationEvent("counting")):
        n += 1
    return n


def give_back(value, _monitor):
    return value


def give_what_cannot_be_sent(_monitor):
    return lambda: None


def refuse(_monitor):
    raise DataError("column 'x' is not there; choose another")


def test_one_process_does_one_work_after_another_and_tells_its_events():
    monitor = Recorder()
    first = run_in_child(process_of, monitor)
    assert first != os.getpid()
    assert run_in_child(process_of, NULL_MONITOR) == first
    told_of_work = [event for event in monitor.events if event.phase == "working"]
    assert told_of_work[0].train_loss == 0.5
    assert all(event.train_loss is None for event in told_of_work[1:])  # asked again, but told once
    assert all(event.new_trees == () for event in told_of_work)


def test_an_error_arrives_with_its_trace_and_the_process_goes_on():
    before = run_in_child(process_of, NULL_MONITOR)
    with pytest.raises(DataError, match="column 'x' is not there") as caught:
        run_in_child(refuse, NULL_MONITOR)
    assert "in refuse" in caught.value.__notes__[0]
    assert run_in_child(process_of, NULL_MONITOR) == before


def test_arrays_of_many_pieces_arrive_as_they_were():
    made = np.arange(3 * children.PIECE_BYTES // 8 + 5, dtype=np.float64)
    sent = [
        made,
        made[:0],
        np.asfortranarray(made[:6].reshape(2, 3)),
        made[::2],
        np.array(["a", None], object),
    ]
    for before, after in zip(sent, run_in_child(partial(give_back, sent), NULL_MONITOR), strict=True):
        np.testing.assert_array_equal(after, before)
        assert after.dtype == before.dtype


def test_a_stop_ends_the_sending_of_a_table():
    table = np.zeros(64 * children.PIECE_BYTES)
    with pytest.raises(FitStopped):
        run_in_child(partial(give_back, table), Recorder("starting a process"))


def test_a_result_that_cannot_be_sent_is_an_error():
    with pytest.raises(Exception, match="pickle"):
        run_in_child(give_what_cannot_be_sent, NULL_MONITOR)
    assert run_in_child(process_of, NULL_MONITOR)


def test_work_that_asks_answers_a_stop_itself_and_its_result_is_kept():
    assert run_in_child(count, Recorder("counting")) >= 0


@pytest.mark.parametrize("phase", ["starting a process", "spinning"])
def test_work_that_does_not_ask_is_ended_with_its_process(phase):
    with pytest.raises(FitStopped):
        run_in_child(spin, Recorder(phase))
    assert multiprocessing.active_children() == []


def test_a_process_that_was_killed_is_told_of():
    def kill(event):
        os.kill(int(event.message), signal.SIGKILL)

    with pytest.raises(WorkLost, match="ended from outside, or ran out of memory; try again") as caught:
        run_in_child(spin, Once("spinning", kill))
    is_users, text = told(caught.value)
    assert is_users
    assert text.startswith("its process was ended")
    assert run_in_child(process_of, NULL_MONITOR)  # another process


def test_an_idle_process_that_died_is_replaced():
    first = run_in_child(process_of, NULL_MONITOR)
    process = multiprocessing.active_children()[0]
    os.kill(first, signal.SIGKILL)
    process.join()
    assert run_in_child(process_of, NULL_MONITOR) != first


def test_two_threads_have_a_process_each():
    found, both = [], threading.Barrier(2)

    def work():
        found.append(run_in_child(process_of, Once("working", lambda _event: both.wait())))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2
