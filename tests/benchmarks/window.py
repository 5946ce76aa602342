"""Drives the real window offscreen inside a child process and prints what it measured as JSON.

``python -m tests.benchmarks.window start``, ``... pause KIND N_SAMPLES N_FEATURES``,
``... edit N_SAMPLES N_FEATURES``, ``... studies N_SAMPLES`` or ``... columns``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

BEGAN = time.perf_counter()
HEARTBEAT_MS = 5
SETTLE_S = 0.3  # without work for so long, all that a click set off is shown
TRAIN_S = 15.0  # a long training is stopped after so much of it


class Heartbeat:
    """Ticks every 5 ms in the window's thread and keeps the longest time between two ticks.

    Beside it the most work of that thread between two: on a machine that others use too, the rest is theirs.
    """

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=HEARTBEAT_MS)
        self._timer.timeout.connect(self._tick)
        self.reset()
        self._timer.start()

    def reset(self) -> None:
        self._last, self.longest_s = time.perf_counter(), 0.0
        self._last_work, self.most_work_s = time.thread_time(), 0.0

    def _tick(self) -> None:
        now, work = time.perf_counter(), time.thread_time()
        self.longest_s = max(self.longest_s, now - self._last)
        self.most_work_s = max(self.most_work_s, work - self._last_work)
        self._last, self._last_work = now, work


def wait_until(is_so: Callable[[], bool]) -> None:
    """Let the event loop run until `is_so`."""
    from PySide6.QtCore import QEventLoop, QTimer

    while not is_so():
        loop = QEventLoop()
        QTimer.singleShot(2, loop.quit)
        loop.exec()


def open_session():
    """Show the window with settings of its own; returns the session."""
    from PySide6.QtCore import QSettings

    from workbench.ui import theme
    from workbench.ui.application import make_application, make_session

    theme.apply(make_application())
    folder = tempfile.mkdtemp()
    session = make_session(QSettings(str(Path(folder) / "s.ini"), QSettings.Format.IniFormat))
    session.window.show()
    session.window.when_painted(session.warm_up.start)  # as `application.run` does
    return session


def measure_start() -> dict[str, float]:
    """From the process's start: a key answered, Penguins' table, its first tree; and the longest pause."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    session = open_session()
    document, window = session.document, session.window
    painted: list[float] = []
    window.when_painted(lambda: painted.append(time.perf_counter()))
    wait_until(lambda: bool(painted))
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    wait_until(window.palette_.isVisible)
    told = {"key": time.perf_counter() - BEGAN}
    window.palette_.hide()
    heartbeat, clicked = Heartbeat(), time.perf_counter()
    window.files.open_sample("penguins")
    wait_until(lambda: document.table is not None)
    told["table"] = time.perf_counter() - clicked
    run_id = document.add_run("tree")
    document.select_run(run_id)
    session.trainer.train(run_id)
    canvas = window.ensure_centre().docks["tree"].widget().canvas
    wait_until(lambda: canvas.figure is not None)
    told["tree"] = time.perf_counter() - clicked
    told["pause"] = heartbeat.longest_s
    wait_until(lambda: not session.warm_up.is_running)
    told["warm"] = time.perf_counter() - BEGAN
    session.shut_down()
    return told


def measure_pause(kind: str, n_samples: int, n_features: int) -> dict[str, float]:
    """The longest pause from the first progress event on, and before it."""
    session, run_id = _open_speed_table(kind, n_samples, n_features)
    document = session.document
    document.select_run(run_id)
    if kind in ("forest", "boosting"):
        document.set_parameter(run_id, "n_estimators", 500)
    wait_until(lambda: session.warm_up.text and not session.warm_up.is_running)
    heartbeat, first, over = Heartbeat(), [], []
    session.trainer.advanced.connect(lambda *_: first or first.append(heartbeat.longest_s))
    session.trainer.ended.connect(over.append)
    session.trainer.train(run_id)
    wait_until(lambda: bool(first or over))
    heartbeat.reset()
    began = time.perf_counter()
    wait_until(lambda: bool(over) or time.perf_counter() - began > TRAIN_S)
    told = {"before": first[0] if first else 0.0, "during": heartbeat.longest_s}
    session.trainer.stop(run_id)
    wait_until(lambda: bool(over))
    told |= {"end": heartbeat.longest_s, "work": heartbeat.most_work_s}
    session.shut_down()
    return told


def _open_speed_table(kind: str, n_samples: int, n_features: int, share_missing: float = 0.0):
    """Open the speed table with a model that is not trained; returns the session and the model's id."""
    import numpy as np
    import pyarrow
    from pyarrow import csv

    from tests.benchmarks.data import speed_table
    from workbench.readers import read_table

    session = open_session()
    X, y = speed_table(n_samples)
    X = X[:, :n_features].astype(float)
    X[np.random.default_rng(0).random(X.shape) < share_missing] = np.nan
    names = [f"x{i}" for i in range(n_features)] + ["y"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speed.csv"
        arrays = [*(pyarrow.array(column, from_pandas=True) for column in X.T), np.where(y == 1, "yes", "no")]
        csv.write_csv(pyarrow.table(dict(zip(names, arrays, strict=True))), path)
        table = read_table(path)
    session.document.open_table(table)
    session.document.set_target("y")
    return session, session.document.add_run(kind)


def measure_edits(n_samples: int, n_features: int) -> dict[str, float]:
    """A full tree changed by hand: of each change the longest pause, the most work of the window's thread in
    one piece, and how long until the tree shows it.
    """
    import numpy as np

    session, run_id = _open_speed_table("tree", n_samples, n_features, share_missing=0.02)
    document, window = session.document, session.window
    for name, value in (("max_depth", None), ("min_samples_leaf", 1)):
        document.set_parameter(run_id, name, value)
    wait_until(lambda: session.warm_up.text and not session.warm_up.is_running)
    over: list[str] = []
    session.trainer.ended.connect(over.append)
    session.trainer.train(run_id)
    wait_until(lambda: bool(over))
    canvas = window.ensure_centre().docks["tree"].widget().canvas
    session.trainer.stop_cross_validation()
    wait_until(lambda: not session.lanes.live_jobs)
    heartbeat, editor = Heartbeat(), window.context.editor
    told = {"nodes": float(document.run(run_id).result.trees[0].n_nodes)}

    def measure(name: str, act: Callable[[], object]) -> None:
        before, began = document.run(run_id).result, time.perf_counter()
        heartbeat.reset()
        act()
        wait_until(lambda: not editor.is_busy and canvas.figure.tree is document.run(run_id).result.trees[0])
        assert document.run(run_id).result is not before, f"{name}: {document.messages[-1]}"
        told[f"{name}, seen"] = time.perf_counter() - began
        wait_until(lambda: not session.lanes.live_jobs)
        told[f"{name}, pause"], told[f"{name}, work"] = heartbeat.longest_s, heartbeat.most_work_s

    undo = window.actions_["action.edit.undo"].trigger
    middle = float(np.nanmedian(document.table.column("x0").values))
    changes = {
        "flip": lambda: editor.flip_missing(run_id, ()),
        "step": lambda: editor.step_splits(run_id, -1),
        "prune": lambda: editor.prune(run_id, (0, 0)),
        "put back": lambda: editor.restore(run_id, (0, 0)),
        "force": lambda: editor.force_split(run_id, (), "x0", middle),
        "grow": lambda: editor.grow_below(run_id, (0,)),
    }
    for name, act in changes.items():
        measure(name, act)
        if name in ("step", "grow"):
            measure(f"undo {name}", undo)
    session.shut_down()
    return told


def measure_columns() -> dict[str, float]:
    """300 columns x 5,000 rows: from the read table to the painted Data panel, and pauses at work there."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QComboBox, QLineEdit, QListView

    from tests.benchmarks.data import wide_table
    from workbench.readers import read_table

    session = open_session()
    document, window = session.document, session.window
    window.ensure_centre()  # made while a file is read
    with tempfile.TemporaryDirectory() as folder:
        table = read_table(wide_table(Path(folder)))
    wait_until(lambda: session.warm_up.text and not session.warm_up.is_running)
    panel = window.docks["data"].widget()
    view = panel.findChild(QListView, "data.columns")
    painted = _paints(view.viewport())
    began = time.perf_counter()
    document.open_table(table)
    wait_until(lambda: painted.at > began)
    told = {"painted": painted.at - began}
    heartbeat = Heartbeat()

    def measure(name: str, act: Callable[[], object]) -> None:
        heartbeat.reset()
        act()
        busy_at = time.perf_counter()

        def is_settled() -> bool:
            nonlocal busy_at
            if session.lanes.live_jobs:
                busy_at = time.perf_counter()
            return time.perf_counter() - busy_at > SETTLE_S

        wait_until(is_settled)
        told[name] = heartbeat.longest_s

    def choose(name: str, data: str) -> None:
        combo = panel.findChild(QComboBox, name)
        combo.setCurrentIndex(combo.findData(data))
        combo.activated.emit(combo.currentIndex())

    search = panel.findChild(QLineEdit, "data.search")
    measure("target", lambda: choose("data.target", "answer"))
    for order in ("name", "missing", "distinct", "strength", "file"):
        measure(f"order by {order}", lambda order=order: choose("data.order", order))
    measure("filter", lambda: QTest.keyClicks(search, "number 1"))
    measure("filter off", search.clear)
    measure("select all", lambda: QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier))
    assert len(panel.selected_names()) == len(table.columns)
    for kind in ("category", "text"):
        measure(f"all to {kind}", lambda kind=kind: choose("data.kind", kind))
        assert {column.kind for column in document.table.columns} == {kind}
    measure("undo", document.undo_stack.undo)
    measure("all ignored", lambda: choose("data.role", "ignored"))
    session.shut_down()
    return told


def _paints(widget):
    """An event filter that keeps when `widget` was painted last."""
    from PySide6.QtCore import QEvent, QObject

    class Paints(QObject):
        at = 0.0

        def eventFilter(self, watched, event) -> bool:
            if event.type() == QEvent.Type.Paint:
                self.at = time.perf_counter()
            return False

    made = Paints(widget)
    widget.installEventFilter(made)
    return made


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "start":
        result = measure_start()
    elif what == "drag":
        from tests.benchmarks.drag import measure_drag

        result = measure_drag(int(arguments[0]), int(arguments[1]))
    elif what == "studies":
        from tests.benchmarks.studies import measure_studies

        result = measure_studies(int(arguments[0]))
    elif what == "edit":
        result = measure_edits(int(arguments[0]), int(arguments[1]))
    elif what == "columns":
        result = measure_columns()
    else:
        result = measure_pause(arguments[0], int(arguments[1]), int(arguments[2]))
    print("MEASURED " + json.dumps(result), flush=True)
    from workbench.platform import leave_at_once

    leave_at_once(0)
