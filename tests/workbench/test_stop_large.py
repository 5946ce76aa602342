"""Case C36: Stop reaches compiled code, the loop goes on, and the next training is as if alone."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QTimer

from tests.workbench.making import Session
from workbench.datasets import make_table
from workbench.document import Document


def open_numbers(n_rows):
    """A document with 20 columns of numbers, all distinct, and two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0, "yes", "no")
    document = Document()
    document.open_table(make_table("numbers", {**{f"x{i}": X[:, i] for i in range(20)}, "y": y}))
    document.set_roles([f"x{i}" for i in range(20)], "feature")
    document.set_target("y")
    return document


def stop_then_train_again(session, delay_ms):
    """Boosting of 500 rounds, Stop `delay_ms` after its first round; the record, and seconds from Stop."""
    document, trainer, at = session.document, session.trainer, {}
    reference = document.run(session.train("boosting", n_estimators=5)).result
    run_id = document.add_run("boosting")
    document.set_parameter(run_id, "n_estimators", 500)

    def stop():
        at["stop"] = time.perf_counter()
        trainer.stop()

    def begin(_run_id, events):
        if "begun" not in at and any(event.phase == "boosting" for event in events):
            at["begun"] = True
            QTimer.singleShot(delay_ms, stop)

    trainer.advanced.connect(begin)
    session.retrain(run_id)
    at["end"] = time.perf_counter()
    trainer.advanced.disconnect(begin)
    record = document.run(run_id)
    assert record.state == "stopped"
    assert record.result.stopped
    assert 0 < record.result.n_rounds < 500
    assert f"stopped after round {record.result.n_rounds};" in document.messages[-1]
    assert next(iter(document.runs.values())).result is reference
    document.set_parameter(run_id, "n_estimators", 5)
    session.retrain(run_id)
    assert document.run(run_id).result.trees == reference.trees
    return at["end"] - at["stop"]


def stop_a_tree(session, criterion="gini"):
    """A tree without limits, stopped at its first event, which comes before its first split."""
    document, trainer, at = session.document, session.trainer, {}
    run_id = document.add_run("tree")
    document.set_parameter(run_id, "criterion", criterion)
    document.set_parameter(run_id, "max_depth", None)
    document.set_parameter(run_id, "min_samples_leaf", 1)

    def stop(*_told):
        at.setdefault("stop", time.perf_counter())
        trainer.stop()

    trainer.advanced.connect(stop)
    session.retrain(run_id)
    at["end"] = time.perf_counter()
    trainer.advanced.disconnect(stop)
    assert document.run(run_id).state == "stopped"
    return at["end"] - at["stop"]


def test_c36_a_stopped_training_keeps_its_rounds_and_the_next_is_as_if_alone(qapp):
    session = Session(open_numbers(20_000))
    stop_then_train_again(session, 0)
    stop_a_tree(session, "entropy")  # by gini it is grown before the stop is heard
    session.close()


@pytest.mark.slow  # 1,000,000 x 20 as the case has it: about a minute, and more than 1 GB of memory
def test_c36_of_a_million_rows_within_two_seconds(qapp):
    session = Session(open_numbers(1_000_000))
    beats = [time.perf_counter()]
    timer = QTimer(interval=10)
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start()
    assert stop_then_train_again(session, 1000) < 2
    assert stop_a_tree(session) < 2
    timer.stop()
    assert max(np.diff(beats)) < 0.2, "the event loop answers all the time"
    session.close()
