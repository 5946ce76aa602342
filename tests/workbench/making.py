"""Small tables and documents for the tests of the application model."""

import threading

import numpy as np
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from workbench.datasets import make_table
from workbench.document import Document
from workbench.jobs import Job, Lanes
from workbench.samples import load_sample
from workbench.training import Trainer

TIMEOUT_MS = 120_000  # the first use of a kernel compiles it


def flowers(n=120, seed=0):
    """Three classes, two telling numbers, a category with missing cells, an id, noise."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    length = np.round(codes * 2.0 + rng.normal(0, 0.7, n), 3)
    width = np.round(rng.normal(0, 1, n) - codes, 3)
    colours = np.array(["red", "blue", "white"], object)[(codes + (rng.random(n) < 0.2)) % 3]
    colours[rng.random(n) < 0.1] = None
    return make_table(
        "flowers",
        {
            "length": [None if i % 17 == 3 else value for i, value in enumerate(length)],
            "width": width,
            "colour": list(colours),
            "kind": [("rose", "iris", "daisy")[code] for code in codes],
            "size": np.round(length * 3 + width + rng.normal(0, 0.1, n), 3),
        },
    )


def open_flowers(target="kind", n=120):
    document = Document()
    document.open_table(flowers(n))
    document.set_target(target)
    document.set_roles(["size" if target == "kind" else "kind"], "ignored")
    document.undo_stack.clear()
    return document


def opened(sample="cosine", kind="tree", **parameters):
    """Return a document with a sample and a model that is not trained."""
    document = Document()
    document.open_table(load_sample(sample))
    run_id = document.add_run(kind)
    if parameters:
        document.set_parameters(run_id, parameters, "Set")
    return document


class StopsAfter:
    """A monitor of a study that keeps what it is told, and stops after so many steps."""

    def __init__(self, n_done):
        self.n_done, self.told = n_done, []

    def on_iteration(self, event):
        if event.so_far is not None:
            self.told.append(event.so_far())
        return event.iteration >= self.n_done


class Session:
    """A document with its trainer; waits for signals in an event loop."""

    def __init__(self, document, cross_validates=False):
        self.document, self.lanes = document, Lanes()
        self.trainer = Trainer(document, self.lanes)
        self.trainer.cross_validates = cross_validates
        self.crashes = []
        self.trainer.crashed.connect(lambda title, details: self.crashes.append(details))

    def train(self, kind, **parameters):
        """Add a model, train it and return its id."""
        run_id = self.document.add_run(kind)
        for name, value in parameters.items():
            self.document.set_parameter(run_id, name, value)
        self.retrain(run_id)
        return run_id

    def retrain(self, run_id, **how):
        wait_for(self.trainer.ended, lambda: self.trainer.train(run_id, **how))
        assert self.crashes == []

    def close(self):
        assert self.lanes.shut_down()


def wait_for(signal, act):
    """Call `act` and run the event loop until `signal`; a loud failure instead of a hang."""
    assert QCoreApplication.instance() is not None, "use the fixture qapp: without it no event loop ends"
    loop, arrived = QEventLoop(), []
    timer = QTimer(singleShot=True, interval=TIMEOUT_MS)
    timer.timeout.connect(loop.quit)

    def note(*arguments):
        arrived.append(arguments)
        loop.quit()

    signal.connect(note)
    try:
        if act() is False:
            raise AssertionError("refused")
        timer.start()
        if not arrived:
            loop.exec()
    finally:
        timer.stop()
        signal.disconnect(note)
    assert arrived, "the signal did not come"
    return arrived[0]


class HeldLane:
    """Keeps a lane busy until it is let go, as a slow disk or a large table would."""

    def __init__(self, lane) -> None:
        self._may_go = threading.Event()
        self.ended: list = []
        self._job = Job(lambda _monitor: self._may_go.wait(60))
        self._job.ended.connect(self.ended.append)
        self._job.start(lane)

    def let_go(self) -> None:
        self._may_go.set()
