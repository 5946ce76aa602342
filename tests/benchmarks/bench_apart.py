"""scikit-learn's fits in processes of their own: what the first waits for, and how soon a stop ends them."""

from __future__ import annotations

import os
import threading
import time

import numpy as np

from engine import apart, parallel
from engine.monitor import NULL_MONITOR
from tests.benchmarks.bench_stop import STOP_AFTER_S, StopAt, Tuned
from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report
from workbench import children

N_ROWS = 200_000
WANTED_S = 1.0


def machines():
    """Models that train support vector machines for much longer than anyone waits."""
    import engine

    machine = engine.SVMClassifier(random_state=0)
    trees = engine.DecisionTreeClassifier(max_depth=3, random_state=0)
    yield "SVM", lambda: machine
    yield "stack with an SVM", lambda: engine.StackingClassifier([("tree", trees), ("SVM", machine)])
    yield "search over an SVM", lambda: Tuned(machine, {"C": [0.1, 1.0, 10.0]})
    yield "bag of SVMs", lambda: engine.BaggingClassifier(estimator=machine, n_estimators=4)


def time_to_end(make, X, y, delay_s: float) -> float:
    """Return the seconds from Stop until the fit has ended and no process works for it any more."""
    monitor = StopAt()

    def work() -> None:
        with apart.use(children.run_unasked):
            make().fit(X, y, monitor=monitor)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(delay_s)
    asked_at = time.perf_counter()
    monitor.stop.set()
    thread.join()
    parallel.shut_down()  # tasks that nobody waited for end their processes first
    return time.perf_counter() - asked_at


def memory_of(pid: int) -> float:
    """Return the MB that a process holds; NaN where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return float("nan")


def report_start(report: Report) -> None:
    """Print what the first fit waits for, what the next ones do, and what an idle process holds."""
    import engine

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    model = engine.SVMClassifier(random_state=0)
    model.fit(X, y)  # imports what this process needs
    seconds = []
    with apart.use(children.run_unasked):
        for _ in range(6):
            began = time.perf_counter()
            model.fit(X, y)
            seconds.append(time.perf_counter() - began)
        memory = memory_of(apart.run(os.getpid, NULL_MONITOR))
    children.shut_down()
    began = time.perf_counter()
    model.fit(X, y)
    here = time.perf_counter() - began
    quality = f"the next {np.median(seconds[1:]) * 1000:.0f} ms, without one {here * 1000:.0f}"
    report.line("first SVM of 150 rows in a process of its own", seconds[0] * 1000, "ms", quality=quality)
    report.line("memory of an idle process", memory, "MB")


def run(report: Report) -> None:
    """Print the start's figures, and the longest of the stops of each model."""
    import engine

    report_start(report)
    X, y = speed_table(report.at_most(N_ROWS))
    engine.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)  # its kernels are compiled
    for name, make in machines():
        seconds = [time_to_end(make, X, y, delay_s) for delay_s in STOP_AFTER_S]
        children.shut_down()
        shown = ", ".join(f"{each * 1000:.0f}" for each in seconds)
        line = f"stop, {name}, {len(X):,} x 28"
        report.line(line, max(seconds) * 1000, "ms", WANTED_S * 1000, quality=shown)
