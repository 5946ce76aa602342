"""From Stop to ended at 1,000,000 x 28, in every phase of every learner."""

from __future__ import annotations

import threading
import time

from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report

WANTED_S = 0.2
STOP_AFTER_S = (0.3, 1.0, 2.5, 5.0)  # falls into validation, sorting or binning, and growing


class StopAt:
    """A monitor that says stop once an event has been set from outside."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def on_iteration(self, event) -> bool:
        return self.stop.is_set()


def learners():
    """Every own learner, with settings that keep it busy for long."""
    import engine

    yield "tree", lambda: engine.DecisionTreeClassifier(random_state=0)
    yield "forest", lambda: engine.RandomForestClassifier(n_estimators=500, random_state=0)
    yield "extra trees", lambda: engine.ExtraTreesClassifier(n_estimators=500, random_state=0)
    yield "bagging", lambda: engine.BaggingClassifier(n_estimators=500, random_state=0)
    yield "boosting", lambda: engine.GradientBoostingClassifier(n_estimators=500, random_state=0)
    yield "AdaBoost", lambda: engine.AdaBoostClassifier(n_estimators=500, random_state=0)


def time_to_stop(make, X, y, delay_s: float) -> float | None:
    """Seconds from Stop to the end of fit, or None if it had ended before."""
    monitor, ended_at = StopAt(), []

    def work() -> None:
        make().fit(X, y, monitor=monitor)
        ended_at.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(delay_s)
    asked_at = time.perf_counter()
    monitor.stop.set()
    thread.join()
    return ended_at[0] - asked_at if ended_at[0] > asked_at else None


def run(report: Report) -> None:
    """Print the longest of the answers for each learner."""
    X, y = speed_table(report.at_most(1_000_000))
    for name, make in learners():
        make().set_params(**({} if name == "tree" else {"n_estimators": 2})).fit(X[:2000], y[:2000])
        answers = [time_to_stop(make, X, y, delay_s) for delay_s in STOP_AFTER_S]
        known = [answer for answer in answers if answer is not None]
        shown = ", ".join(f"{answer * 1000:.0f}" for answer in known)
        report.line(f"stop, {name}, {len(X):,} x 28", max(known) * 1000, "ms", WANTED_S * 1000, quality=shown)
