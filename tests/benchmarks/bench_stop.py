"""From Stop to ended at 1,000,000 x 28, in every phase of every learner."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from engine.errors import FitStopped
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


class Tuned:
    """A search over the settings of a learner, with the `fit` that the others have."""

    def __init__(self, learner, grid) -> None:
        self._learner, self._grid = learner, grid

    def set_params(self, **changes):
        return self._learner.set_params(**changes)

    def fit(self, X, y, monitor):
        import engine

        with suppress(FitStopped):
            engine.tune(self._learner, X, y, self._grid, monitor=monitor)


def searches():
    """Searches over learners, which train several of them at once."""
    import engine

    rates = {"learning_rate": [0.1, 0.2, 0.3]}
    yield "tuning boosting", lambda: Tuned(engine.GradientBoostingClassifier(n_estimators=500), rates)
    yield "tuning a forest", lambda: Tuned(engine.RandomForestClassifier(), {"max_features": [1, 2, 5]})


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
    for name, make in (*learners(), *searches()):
        make().set_params(**({} if name == "tree" else {"n_estimators": 2})).fit(X[:2000], y[:2000])
        answers = [time_to_stop(make, X, y, delay_s) for delay_s in STOP_AFTER_S]
        known = [answer for answer in answers if answer is not None]
        shown = ", ".join(f"{answer * 1000:.0f}" for answer in known)
        report.line(f"stop, {name}, {len(X):,} x 28", max(known) * 1000, "ms", WANTED_S * 1000, quality=shown)
