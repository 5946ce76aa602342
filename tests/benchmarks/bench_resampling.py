"""Fits of one model on 200 bootstraps of a table: a tree, and forests of 100 trees."""

from __future__ import annotations

import threading
import time

import numpy as np

from tests.benchmarks.bench_stop import STOP_AFTER_S, WANTED_S, StopAt
from tests.benchmarks.report import Report

N_SETS, N_QUERY = 200, 500


def run(report: Report) -> None:
    """Print seconds, those of one fit more for the kernels left out, and how long a stop takes."""
    import engine

    tree = engine.DecisionTreeRegressor(max_depth=10)
    forests = {
        "classes": engine.RandomForestClassifier(n_estimators=100),
        "numbers": engine.RandomForestRegressor(n_estimators=100),
    }
    seconds = _seconds(tree, 10_000, is_classification=False)
    report.line("200 bootstraps of 10,000 x 10: tree of depth 10", seconds, "s", 3.0)
    for name, forest in forests.items():
        seconds = _seconds(forest, 2_000, is_classification=name == "classes")
        report.line(f"200 bootstraps of 2,000 x 10: 100 full trees for {name}", seconds, "s", 30.0)
    for name, model, n_rows in (("tree", tree, 1_000_000), ("forest", forests["numbers"], 100_000)):
        took = max(_stop_s(model, report.at_most(n_rows), after_s) for after_s in STOP_AFTER_S[:2])
        report.line(f"stop of bootstraps, {n_rows:,} x 10, {name}", took * 1000, "ms", WANTED_S * 1000)


def _table(n_rows: int, *, is_classification: bool):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    return X, (y > 0) if is_classification else y


def _seconds(model, n_rows: int, *, is_classification: bool) -> float:
    from engine.resampling.draws import TableDraws
    from engine.resampling.refits import refit

    X, y = _table(n_rows, is_classification=is_classification)
    X_query = np.random.default_rng(1).normal(size=(N_QUERY, 10))
    refit(model, TableDraws(X, y, n_sets=2), X_query)  # loads kernels
    began = time.perf_counter()
    refit(model, TableDraws(X, y, n_sets=N_SETS), X_query)
    return time.perf_counter() - began


def _stop_s(model, n_rows: int, after_s: float) -> float:
    from engine.resampling.draws import TableDraws
    from engine.resampling.refits import refit

    X, y = _table(n_rows, is_classification=False)
    monitor, asked = StopAt(), []

    def stop() -> None:
        asked.append(time.perf_counter())
        monitor.stop.set()

    timer = threading.Timer(after_s, stop)
    timer.start()
    refit(model, TableDraws(X, y, n_sets=N_SETS), X[:N_QUERY], monitor=monitor)
    return time.perf_counter() - asked[0]
