import threading
import time
from concurrent.futures import CancelledError, wait

import pytest
from PySide6.QtCore import QEventLoop

from engine.monitor import IterationEvent
from workbench.jobs import Job, Lanes, describe_progress


@pytest.fixture
def lanes(qapp):
    lanes = Lanes()
    yield lanes
    assert lanes.shut_down()


def count_to(n, monitor):
    for i in range(1, n + 1):
        if monitor.on_iteration(IterationEvent("counting", i, n, i / n)):
            return i
    return n


def test_events_arrive_in_order_and_the_end_is_last(lanes, qtbot):
    told = []
    job = Job(lambda monitor: count_to(1000, monitor), step_name="step")
    job.advanced.connect(lambda batch: told.extend(event.iteration for event in batch))
    job.ended.connect(lambda future: told.append(future.result()))
    with qtbot.waitSignal(job.ended):
        job.start(lanes.fit)
    assert told == [*range(1, 1001), 1000]
    assert job.progress.text == "step 1,000 of 1,000"
    assert job.progress.fraction == 1.0


def test_nothing_is_emitted_after_the_end(lanes, qtbot):
    told = []
    job = Job(lambda monitor: count_to(3, monitor))
    job.advanced.connect(told.append)
    job.ended.connect(lambda _future: told.append("ended"))
    with qtbot.waitSignal(job.ended):
        job.start(lanes.fit)
    job.on_iteration(IterationEvent("late"))  # a worker that lingers
    qtbot.waitUntil(lambda: not job._pump.isActive())
    loop = QEventLoop()
    job.destroyed.connect(loop.quit)
    job.deleteLater()
    loop.exec()
    assert told[-1] == "ended"
    assert told.count("ended") == 1


def test_a_running_job_ends_after_its_current_step(lanes, qtbot):
    job = Job(lambda monitor: count_to(10**9, monitor))
    with qtbot.waitSignal(job.advanced):
        job.start(lanes.fit)
    with qtbot.waitSignal(job.ended) as ended:
        job.request_stop()
    assert 0 < ended.args[0].result() < 10**9


def test_a_queued_job_that_is_stopped_never_starts(lanes, qtbot):
    gate, began = threading.Event(), []
    first = Job(lambda _monitor: gate.wait())
    second = Job(lambda _monitor: began.append(True))
    first.start(lanes.fit)
    second.start(lanes.fit)
    with qtbot.waitSignal(second.ended) as ended:
        second.request_stop()
    assert ended.args[0].cancelled()
    with qtbot.waitSignal(first.ended):
        gate.set()
    assert began == []


def test_errors_arrive_with_the_future(lanes, qtbot):
    def fail(_monitor):
        raise RuntimeError("broken")  # a lane once swallowed exactly this type

    job = Job(fail)
    with qtbot.waitSignal(job.ended) as ended:
        job.start(lanes.fit)
    assert str(ended.args[0].exception()) == "broken"


def test_of_view_requests_with_one_key_the_latest_wins(lanes, qtbot):
    gate, results = threading.Event(), []

    def slow(_monitor):
        gate.wait()
        return "old"

    def note(future):
        results.append("cancelled" if future.cancelled() else future.result())

    old = lanes.views.submit_latest("surface", slow)
    middle = lanes.views.submit_latest("surface", lambda _monitor: "middle")
    new = lanes.views.submit_latest("surface", lambda _monitor: "new")
    other = lanes.views.submit_latest("curve", lambda _monitor: "other")
    for job in (old, middle, new, other):
        job.ended.connect(note)
    with qtbot.waitSignals([job.ended for job in (old, middle, new, other)]):
        gate.set()
    assert sorted(results) == ["cancelled", "cancelled", "new", "other"]


def add_in_child(monitor):
    monitor.on_iteration(IterationEvent("adding", 1, 1, 1.0))
    return 2 + 2


def test_the_lane_of_processes_reports_and_returns(lanes, qtbot):
    told = []
    job = Job(add_in_child)
    job.advanced.connect(told.extend)
    with qtbot.waitSignal(job.ended, timeout=20_000) as ended:
        job.start(lanes.process)
    assert ended.args[0].result() == 4
    assert "adding" in [event.phase for event in told]


def test_quitting_stops_every_lane_and_silences_the_jobs(qapp):
    lanes, told = Lanes(), []
    jobs = [Job(lambda monitor: count_to(10**9, monitor)) for _ in range(3)]
    for job in jobs:
        job.ended.connect(told.append)
        job.advanced.connect(told.append)
    jobs[0].start(lanes.fit)
    jobs[1].start(lanes.fit)
    jobs[2].start(lanes.views)
    assert lanes.shut_down()
    qapp.processEvents()
    assert told == []
    assert lanes.live_jobs == []
    assert not any(thread.name.startswith("lane-") for thread in threading.enumerate())


def test_work_whose_result_nobody_wants_ends_at_its_next_question_even_if_it_passes_over_stops(qapp):
    """As scoring does: a model that was stopped is kept with its scores, one that was deleted is not."""
    lanes, begun = Lanes(), threading.Semaphore(0)

    def stubborn(monitor):
        while True:
            monitor.on_iteration(IterationEvent("scoring"))
            begun.release()

    def running(lane):
        job = Job(stubborn)
        job.start(lane)
        assert begun.acquire(timeout=30)
        return job

    deleted, at_quit = running(lanes.fit), running(lanes.views)
    deleted.supersede()
    with pytest.raises(CancelledError):
        deleted.future.result(timeout=30)
    assert lanes.shut_down()
    assert isinstance(at_quit.future.exception(), CancelledError)


def test_quitting_does_not_wait_for_what_cannot_be_stopped(qapp):
    lanes, gate = Lanes(), threading.Event()
    Job(lambda _monitor: gate.wait()).start(lanes.fit)
    began = time.monotonic()
    assert not lanes.shut_down(timeout_s=0.05)
    assert time.monotonic() - began >= 0.05
    gate.set()
    assert lanes.shut_down()


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (IterationEvent("boosting", 37, 100, 0.37, elapsed_s=7.05), "round 37 of 100, 12 s left"),
        (IterationEvent("boosting", 1, 100, 0.01, elapsed_s=7.0), "round 1 of 100"),
        (IterationEvent("binning", 5, 28, 0.05, elapsed_s=1.0), "binning, 19 s left"),
        (IterationEvent("boosting", 50, 100, 0.5, elapsed_s=600.0), "round 50 of 100, 10 min left"),
        (IterationEvent("boosting", 50, 100, 0.5, elapsed_s=7200.0), "round 50 of 100, 2.0 h left"),
        (IterationEvent("boosting", 100, 100, 1.0, elapsed_s=9.0), "round 100 of 100"),
    ],
)
def test_progress_is_told_in_words(event, text):
    assert describe_progress(event, "round").text == text


def test_a_superseded_job_that_is_over_but_untold_stays_silent_after_the_end(qapp):
    lanes, told = Lanes(), []
    jobs = []
    for _ in range(2):  # the second supersedes the first, whose work is done and whose end is not told yet
        job = lanes.views.submit_latest("key", lambda _monitor: None)
        job.ended.connect(told.append)
        jobs.append(job)
        wait([job.future])
    assert lanes.shut_down()
    assert not any(job._pump.isActive() for job in jobs), "nothing is left that could tell"
    assert told == []
