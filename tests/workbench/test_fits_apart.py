"""Fits that ask nobody, wherever they are: ended by a stop, a quit or the death of their process."""

import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest

import engine
from engine import apart, parallel
from tests.workbench.making import Session, wait_for
from tests.workbench.test_project import reopened
from workbench import children
from workbench.datasets import make_table
from workbench.document import Document
from workbench.fitting import fit_run
from workbench.project import save_project
from workbench.training_words import how_it_ended
from workbench.training_work import training_inputs
from workbench.tuner import Tuner
from workbench.tuning import Plan

pytestmark = pytest.mark.usefixtures("qapp")

HARD = {"C": 1e9, "tol": 1e-9}  # with noise for a target, the solver is busy for a quarter of an hour


def svm():
    return {"name": "SVM", "kind": "svm", "parameters": HARD}


SHORT_TREE = {"name": "tree", "kind": "tree", "parameters": {"max_depth": 1}}
NEIGHBOURS = {"name": "neighbours", "kind": "neighbors", "parameters": {}}
CONTAINERS = {
    "alone": ("svm", "classes", HARD),
    "stack": ("stacking", "classes", {"estimators": [SHORT_TREE, svm()]}),
    "stack of an average": (
        "stacking",
        "classes",
        {"estimators": [{"name": "mean", "kind": "averaging", "parameters": {"estimators": [svm()]}}]},
    ),
    "average": ("averaging", "numbers", {"estimators": [NEIGHBOURS, svm()]}),
}


def noise(task, n=4000):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), rng.integers(0, 2, n) if task == "classes" else rng.normal(size=n)


def open_noise(task, n=4000):
    X, y = noise(task, n)
    document = Document()
    target = ["no" if value else "yes" for value in y] if task == "classes" else y
    document.open_table(make_table("noise", {"a": X[:, 0], "b": X[:, 1], "y": target}))
    document.set_target("y")
    return document


def busy_children():
    """Return the numbers of processes that have computed for longer than starting takes."""
    return [child.pid for child in multiprocessing.active_children() if seconds_of(child.pid) > 1.5]


def seconds_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:  # gone
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train_until_busy(qtbot, session, kind, **settings):
    """Begin a training and return its model when the fit is under way in a process."""
    run_id = session.document.add_run(kind)
    for name, value in settings.items():
        session.document.set_parameter(run_id, name, value)
    assert session.trainer.train(run_id)
    qtbot.waitUntil(lambda: bool(busy_children()), timeout=60_000)
    return run_id


@pytest.fixture
def session_of(qapp):
    made = []

    def make(task):
        made.append(Session(open_noise(task)))
        return made[-1]

    yield make
    for session in made:
        session.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_stop_ends_a_machine_s_fit_wherever_it_is(qtbot, session_of, name):
    kind, task, settings = CONTAINERS[name]
    session = session_of(task)
    run_id = train_until_busy(qtbot, session, kind, **settings)
    working = busy_children()
    wait_for(session.trainer.ended, session.trainer.stop)
    assert session.crashes == []
    assert not set(working) & {child.pid for child in multiprocessing.active_children()}
    record = session.document.run(run_id)
    assert record.result is None or record.result.stopped


def hold_machines():
    """Return models of the engine that train machines in many ways, with the task of each."""
    of_classes = engine.SVMClassifier(**HARD, answers="decision")
    of_numbers = engine.SVMRegressor(**HARD)
    yield "bag", engine.BaggingClassifier(estimator=of_classes, n_estimators=3, oob_score=True), "classes"
    yield "AdaBoost", engine.AdaBoostClassifier(estimator=of_classes, n_estimators=3), "classes"
    yield "AdaBoost of numbers", engine.AdaBoostRegressor(estimator=of_numbers, n_estimators=3), "numbers"
    yield "boosting", engine.GradientBoostingRegressor(estimator=of_numbers, n_estimators=3), "numbers"
    yield "start of boosting", engine.GradientBoostingRegressor(init=of_numbers, n_estimators=3), "numbers"
    grids = {"SVM": {"C": [1e8, 1e9]}}
    tuned = [("tree", engine.DecisionTreeRegressor(max_depth=1)), ("SVM", of_numbers)]
    yield "tuned in a stack", engine.StackingRegressor(tuned, grids=grids), "numbers"


HOLD_MACHINES = list(hold_machines())


class StopWhenBusy:
    """Stops as soon as a process is at work."""

    def __init__(self):
        self.working = []

    def on_iteration(self, _event):
        self.working = self.working or busy_children()
        return bool(self.working)


@pytest.mark.parametrize(("name", "model", "task"), HOLD_MACHINES, ids=[name for name, *_ in HOLD_MACHINES])
def test_a_stop_ends_the_fits_of_machines_in_other_models(name, model, task):
    monitor = StopWhenBusy()
    with apart.use(children.run_unasked):
        model.fit(*noise(task), monitor=monitor)
    assert monitor.working
    assert model.stopped_
    assert np.isfinite(model.predict(noise(task)[0][:5])).all()
    parallel.shut_down()  # waits for the tasks that the stop left alone
    children.shut_down()
    assert multiprocessing.active_children() == []


def test_a_stop_ends_a_search_of_machines(qtbot, session_of):
    session = session_of("classes")
    document, tuner = session.document, Tuner(session.document, session.lanes, session.trainer)
    tuner.crashed.connect(lambda title, details: session.crashes.append(details))
    run_id = document.add_run("svm")
    # fits of both take minutes: a quick one may be done as the stop comes, and its process waits for more
    assert tuner.start(run_id, Plan({"C": (1e8, 1e9)}, "accuracy"))
    qtbot.waitUntil(lambda: len(busy_children()) > 0, timeout=60_000)
    working = busy_children()
    wait_for(tuner.ended, tuner.stop)
    assert session.crashes == []
    qtbot.waitUntil(lambda: not set(working) & {child.pid for child in multiprocessing.active_children()})


def test_quitting_while_a_machine_is_fitted_leaves_no_process_and_no_thread(qtbot, session_of):
    session = session_of("classes")
    train_until_busy(qtbot, session, "stacking", estimators=[svm(), {**svm(), "name": "other"}])
    assert session.lanes.shut_down()
    assert multiprocessing.active_children() == []
    lingering = [t.name for t in threading.enumerate() if t.name.startswith(("lane-", "engine-"))]
    assert lingering == []


def test_the_death_of_a_process_is_told_with_the_model_s_name_and_loses_nothing(qtbot, session_of):
    session = session_of("numbers")
    document, told = session.document, []
    document.message_posted.connect(told.append)
    run_id = session.train("averaging", estimators=[SHORT_TREE])
    before = document.run(run_id).result
    document.set_parameter(run_id, "estimators", [SHORT_TREE, svm()])
    assert session.trainer.train(run_id)
    qtbot.waitUntil(lambda: bool(busy_children()), timeout=60_000)
    wait_for(session.trainer.ended, lambda: os.kill(busy_children()[0], signal.SIGKILL))
    assert session.crashes == []
    assert "could not be trained: SVM: the fit of a SVMRegressor is lost: its process was ended" in told[-1]
    assert document.run(run_id).result is before
    session.train("svm")


def test_a_setting_whose_process_dies_does_not_end_a_search():
    X, y = noise("numbers")

    class KillAll:
        """Ends every process that is at work."""

        def on_iteration(self, _event):
            for pid in busy_children():
                os.kill(pid, signal.SIGKILL)
            return False

    with apart.use(children.run_unasked):
        found = engine.tune(
            engine.SVMRegressor(tol=1e-9), X[:1000], y[:1000], {"C": [0.01, 1e9]}, folds=2, monitor=KillAll()
        )
    children.shut_down()
    assert "its process was ended from outside" in found.errors[1]
    assert np.isfinite(found.fold_scores[0]).all()


def test_a_fit_apart_has_the_bits_of_one_that_is_not():
    X, y = noise("classes", 300)
    for model in (
        engine.SVMClassifier(random_state=0),
        engine.NearestNeighborsClassifier(),
        engine.LogisticClassifier(),
    ):
        here = model.fit(X, y).predict_proba(X)
        with apart.use(children.run_unasked):
            np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), here)
    children.shut_down()


def test_what_was_sent_to_a_process_that_had_just_ended_is_sent_to_another(monkeypatch):
    monkeypatch.setattr(children._Child, "is_alive", True)  # it ends between the look and the sending
    with apart.use(children.run_unasked):
        first = apart.run(os.getpid, StopWhenBusy())
        os.kill(first, signal.SIGKILL)
        assert apart.run(os.getpid, StopWhenBusy()) not in (first, os.getpid())
    children.shut_down()


def slow_to_ask(n=100_000):
    """Return inputs for neighbours that answer a part of the rows in many pieces."""
    document = open_noise("classes", n)
    return training_inputs(document, document.add_run("neighbors")), document


class StopIn:
    """Stops at the first event of a phase, and goes on doing so."""

    def __init__(self, phase):
        self._phase, self.n_asked = phase, 0

    def on_iteration(self, event):
        self.n_asked += self.n_asked > 0 or event.phase == self._phase
        return self.n_asked > 0


def test_a_stop_while_slow_answers_are_scored_keeps_the_model_without_scores(tmp_path):
    inputs, document = slow_to_ask()
    monitor = StopIn("scoring")
    result = fit_run(inputs, monitor)
    assert result.scores == {}
    assert not result.stopped
    assert monitor.n_asked < 20
    assert how_it_ended(result) == "trained, then stopped before it was scored"
    document.apply_result(run_id := document.add_run("neighbors"), result)
    save_project(document, tmp_path / "unscored.treewright", include_rows=True)
    again = reopened(tmp_path / "unscored.treewright").run(run_id)
    assert again.result.scores == {}


def test_a_model_that_is_stopped_while_it_is_scored_is_kept_by_its_document(qtbot):
    _, document = slow_to_ask()
    session, run_id = Session(document), list(document.runs)[-1]
    phases = []

    def stop_when_scored(_run_id, events):
        phases.extend(event.phase for event in events)
        if "scoring" in phases:
            session.trainer.stop(run_id)

    session.trainer.advanced.connect(stop_when_scored)
    session.retrain(run_id)
    result = document.run(run_id).result
    assert "fitting" in phases
    assert result is not None
    assert not result.stopped
    session.close()


def test_a_stop_of_a_small_model_keeps_its_scores():
    inputs, _ = slow_to_ask(300)
    result = fit_run(inputs, StopIn("scoring"))
    assert set(result.scores) == {"train", "validation", "test"}


def test_a_picture_nobody_wants_any_more_ends_between_two_pieces(qtbot, session_of):
    session = session_of("classes")
    model, began = engine.NearestNeighborsClassifier().fit(*noise("classes", 100_000)), threading.Event()

    def draw(_monitor):
        began.set()
        return model.predict(noise("classes", 1_000_000)[0])

    old = session.lanes.views.submit_latest("picture", draw)
    assert began.wait(20)
    new = session.lanes.views.submit_latest("picture", lambda _monitor: "new")
    qtbot.waitUntil(lambda: new.is_told and old.is_told, timeout=5000)


def test_a_picture_does_not_wait_for_the_fits_of_a_stack(qtbot, session_of):
    session = session_of("classes")
    model = engine.AveragingClassifier().fit(*noise("classes", 100))
    train_until_busy(qtbot, session, "stacking", estimators=[svm(), {**svm(), "name": "other"}])
    rows = noise("classes", 10)[0]
    job = session.lanes.views.submit_latest("picture", lambda _monitor: model.predict_proba(rows))
    qtbot.waitUntil(lambda: job.is_told, timeout=20_000)
    assert session.trainer.current_job is not None
    wait_for(session.trainer.ended, session.trainer.stop)
