"""Case C36: Stop reaches compiled code, the loop goes on, and the next training is as if alone."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QTimer

from engine.surface import encoded_answer
from tests.workbench.making import Session, wait_for
from workbench.datasets import make_table
from workbench.document import Document
from workbench.tuner import Tuner
from workbench.tuning import Plan


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


def model(kind, **parameters):
    return {"name": kind, "kind": kind, "parameters": parameters}


LONG_AND_SHORT = {
    "networks": ({"max_epochs": 5000, "early_stopping": False}, {"max_epochs": 3}),
    "stacking": (
        {"estimators": [model("forest", n_estimators=2000), model("svm", C=1e6)]},
        {"estimators": [model("tree"), model("neighbors")]},
    ),
    "averaging": (
        {"estimators": [model("boosting", n_estimators=5000), model("svm", C=1e6)]},
        {"estimators": [model("tree"), model("neighbors")]},
    ),
}


@pytest.mark.parametrize("kind", LONG_AND_SHORT)
def test_c36_of_networks_stacks_and_averages(qapp, kind):
    session = Session(open_numbers(3_000))
    document, (long, short) = session.document, LONG_AND_SHORT[kind]
    first = session.train(kind, **short)
    reference = document.run(first).result
    run_id = document.add_run(kind)
    for name, value in long.items():
        document.set_parameter(run_id, name, value)

    def stop(_run_id, events):
        if any(event.phase != "preparing the table" for event in events):
            session.trainer.stop()

    session.trainer.advanced.connect(stop)
    session.retrain(run_id)
    session.trainer.advanced.disconnect()
    assert document.run(run_id).state == "stopped"
    assert document.run(run_id).result.stopped
    assert "stopped" in document.messages[-1]
    assert document.run(first).result is reference
    for name, value in (document.run(first).spec.parameters | short).items():
        document.set_parameter(run_id, name, value)
    session.retrain(run_id)
    again, rows = document.run(run_id).result, np.random.default_rng(1).normal(size=(50, 20))
    assert not again.stopped
    np.testing.assert_array_equal(*(encoded_answer(result.estimator, rows) for result in (again, reference)))
    session.close()


def test_c36_of_a_search(qapp):
    session = Session(open_numbers(3_000))
    document, tuner = session.document, Tuner(session.document, session.lanes, session.trainer)
    run_id, plan = document.add_run("tree"), Plan({"max_depth": (1, 2)}, "accuracy")
    wait_for(tuner.ended, lambda: tuner.start(run_id, plan))
    reference = document.run(run_id).tuning.search
    svm_id = document.add_run("svm")
    document.set_parameter(svm_id, "tol", 1e-9)
    tuner.advanced.connect(lambda *_: tuner.stop())
    wait_for(tuner.ended, lambda: tuner.start(svm_id, Plan({"C": (1e6, 1e7)}, "accuracy")))
    tuner.advanced.disconnect()
    assert document.run(svm_id).tuning is None
    assert document.messages[-1].endswith("stopped before any setting was done.")
    assert document.run(run_id).tuning.search is reference
    wait_for(tuner.ended, lambda: tuner.start(run_id, plan))
    again = document.run(run_id).tuning.search
    np.testing.assert_array_equal(again.fold_scores, reference.fold_scores)
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
