"""Drags the price slider of a real window offscreen and counts what is painted; run in a child process."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.benchmarks.window import Heartbeat, open_session, wait_until

N_POSITIONS, MOVE_MS = 100, 16  # a hand's mouse tells its place 60 times a second
N_LEAVES = 1000
FEW_ROWS = 10_000


class Frames:
    """Counts the paintings of a plot that showed another figure than the one before."""

    def __init__(self, plot) -> None:
        from PySide6.QtCore import QEvent, QObject

        frames = self

        class Watch(QObject):
            def eventFilter(self, _watched, event) -> bool:
                if event.type() == QEvent.Type.Paint and plot.figure is not frames.last:
                    frames.last = plot.figure
                    frames.n += 1
                return False

        self.n, self.last = 0, plot.figure
        self._watch = Watch(plot)
        plot.viewport().installEventFilter(self._watch)


def speed_table_file(n_samples: int, n_features: int, folder: Path) -> Path:
    """Write the speed data as a CSV with the columns x0 ... and y: "yes" or "no", few rows a number."""
    import numpy as np
    import pyarrow
    from pyarrow import csv

    from tests.benchmarks.data import speed_table

    X, y = speed_table(n_samples)
    # few rows of two classes are apart after few leaves
    target = X[:, 0] * X[:, 1] + y if n_samples < FEW_ROWS else np.where(y == 1, "yes", "no")
    columns = [*X.T[:n_features].astype(float), target]
    names = [f"x{i}" for i in range(n_features)] + ["y"]
    csv.write_csv(pyarrow.table(dict(zip(names, columns, strict=True))), folder / "speed.csv")
    return folder / "speed.csv"


def measure_drag(n_samples: int, n_features: int) -> dict[str, float]:
    """Frames a second of tree and surface while the slider is dragged through 100 places, and the pauses."""
    from workbench.readers import read_table

    session = open_session()
    document, window = session.document, session.window
    window.resize(1440, 900)
    with tempfile.TemporaryDirectory() as folder:
        document.open_table(read_table(speed_table_file(n_samples, n_features, Path(folder))))
    document.set_target("y")
    run_id = document.add_run("tree")
    for name, value in (("max_leaf_nodes", N_LEAVES), ("max_depth", None), ("min_samples_leaf", 1)):
        document.set_parameter(run_id, name, value)
    session.trainer.cross_validates = False
    wait_until(lambda: session.warm_up.text and not session.warm_up.is_running)
    session.trainer.train(run_id)
    wait_until(lambda: document.run(run_id).result is not None)
    centre = window.ensure_centre()
    centre.show_view("pruning")
    panels = {name: centre.docks[name].widget() for name in ("tree", "surface", "pruning")}
    wait_until(lambda: all(panels[name].figure is not None for name in ("surface", "pruning")))
    wait_until(lambda: session.lanes.are_quiet)
    told = _drag(panels, document)
    wait_until(lambda: session.lanes.are_quiet)
    told["leaves"] = document.run(run_id).result.grown_tree.n_leaves
    session.shut_down()
    return told


def _drag(panels, document) -> dict[str, float]:
    from PySide6.QtCore import QPoint, Qt, QTimer
    from PySide6.QtTest import QTest

    slider = panels["pruning"].slider
    tree, surface = Frames(panels["tree"].canvas), Frames(panels["surface"].plot)
    y, right = slider.height() // 2, slider.width() - 8
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(right, y))
    heartbeat, sent, began, cpu = Heartbeat(), [0], time.perf_counter(), time.thread_time()

    def move() -> None:
        sent[0] += 1
        QTest.mouseMove(slider, QPoint(right - sent[0] * (right - 8) // N_POSITIONS, y))

    timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=MOVE_MS)
    timer.timeout.connect(move)
    timer.start()
    wait_until(lambda: sent[0] >= N_POSITIONS)
    timer.stop()
    seconds = time.perf_counter() - began
    told = {"tree": tree.n / seconds, "surface": surface.n / seconds, "pause": heartbeat.longest_s}
    told["cpu"] = (time.thread_time() - cpu) / max(tree.n, 1)  # of the window's thread, a frame
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(8, y))
    wanted = slider.value()
    figure, run = panels["pruning"].figure, document.current_run
    from workbench.figures.pruning import stop_now

    wait_until(lambda: stop_now(figure, document.current_run.result) == wanted)
    assert run is not None
    told["settled"] = time.perf_counter() - began - seconds
    told["seconds"] = seconds
    return told
