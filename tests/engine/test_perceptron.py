"""The perceptron: kernels against a plain twin, Novikoff's bound, weights, stop, and what it says."""

import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import engine
from engine.dtypes import as_input
from engine.inputs import InputScaling
from engine.jit import specialisations
from engine.linear import training
from engine.linear.kernels import perceptron as kernels
from engine.linear.machines import Machines
from engine.monitor import NULL_MONITOR, IterationEvent, StopWatcher
from tests.engine.naive_perceptron import Naive

SCHEMES = ("direct", "one_vs_all", "all_vs_all")


def rows(n_rows, n_classes, seed=0):
    """Rows of whole inputs, some 0, so that sums have no rounding and ties occur; steps of quarters."""
    rng = np.random.default_rng(seed)
    inputs = rng.integers(-2, 3, size=(n_rows, 4)).astype(float)
    return inputs, rng.integers(n_classes, size=n_rows), rng.integers(1, 5, n_rows) / 4


def learned(scheme, n_classes, inputs, own, steps, order):
    """Return weights, lags, what was seen and the mistakes of one epoch of the kernel."""
    machines = Machines.of(scheme, n_classes)
    n_machines = machines.signs.shape[1]
    weights, lags = np.zeros((2, inputs.shape[1] + 1, n_machines))
    seen, values, changes = np.zeros(1), np.zeros(n_machines), np.zeros(n_machines)
    given = (as_input(array) for array in (inputs, own, steps))
    n_mistakes = kernels.learn_rows(
        *given, order, 0, len(order), as_input(machines.signs), machines.is_direct, weights, lags, seen,
        values, changes,
    )  # fmt: skip
    return weights, lags, seen, n_mistakes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_rows", [0, 1, 2, 97])
def test_an_epoch_is_that_of_the_plain_twin(scheme, n_classes, n_rows):
    inputs, own, steps = rows(n_rows, n_classes)
    order = np.random.default_rng(1).permutation(n_rows).astype(np.int32)
    naive = Naive("all_vs_all" if n_classes == 2 else scheme, n_classes, 4)
    for row in order:
        naive.learn(inputs[row], own[row], steps[row])
    weights, lags, seen, n_mistakes = learned(scheme, n_classes, inputs, own, steps, order)
    np.testing.assert_array_equal(weights, np.column_stack(naive.weights))
    assert n_mistakes == naive.n_mistakes
    assert seen[0] == steps.sum()
    if n_rows:
        np.testing.assert_allclose(weights - lags / seen[0], naive.mean(), rtol=1e-12, atol=1e-12)


def test_a_trained_model_compiles_each_kernel_once():
    X, y = load_iris(return_X_y=True)
    for scheme in SCHEMES:
        model = engine.PerceptronClassifier(multiclass=scheme, max_epochs=2, random_state=0)
        model.fit(X.astype(np.float32), y, X_val=X, y_val=y).predict(X)
    for kernel in (kernels.values_of_rows, kernels.learn_rows):
        assert specialisations(kernel) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("averaged", [False, True])
def test_a_model_is_the_plain_twin_epoch_by_epoch(scheme, averaged):
    X, y = load_iris(return_X_y=True)
    weights = np.linspace(0.5, 2.0, len(y))
    model = engine.PerceptronClassifier(
        multiclass=scheme, averaged=averaged, max_epochs=3, random_state=5
    ).fit(X, y, weights)
    inputs = np.zeros((len(X), 4))
    InputScaling.kept_in(model).fill(X, inputs)
    naive = Naive(scheme, 3, 4)
    for epoch in (1, 2, 3):
        order = np.arange(len(X), dtype=np.int32)
        np.random.default_rng(np.random.SeedSequence(5, spawn_key=(epoch,))).shuffle(order)
        before = naive.n_mistakes
        for row in order:
            naive.learn(inputs[row], y[row], weights[row] / 2.0)
        assert model.mistakes_[epoch - 1] == naive.n_mistakes - before
    wanted = naive.mean() if averaged else np.column_stack(naive.weights)
    np.testing.assert_allclose(model.weights_, wanted, rtol=1e-9, atol=1e-11)
    values = np.column_stack([inputs, np.ones(len(X))]) @ wanted
    if scheme != "all_vs_all":
        np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-9, atol=1e-9)


def separable(n_classes, n_rows=60):
    """Rows of groups that linear machines tell apart."""
    rng = np.random.default_rng(3)
    angles = 2 * np.pi * np.arange(n_classes) / n_classes
    y = np.arange(n_rows) % n_classes
    centres = 4 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[y] + rng.uniform(-1, 1, (n_rows, 2)), y


def test_mistakes_on_two_separable_classes_are_at_most_novikoffs():
    """(R / g) ** 2 for any unit vector that separates them by g; here by the first input (Novikoff 1962)."""
    X, y = separable(2)
    model = engine.PerceptronClassifier(averaged=False, max_epochs=1000, random_state=0).fit(X, y)
    inputs = np.ones((len(X), 3))
    inputs[:, :2] = 0
    InputScaling.kept_in(model).fill(X, inputs[:, :2])
    margins = np.where(y == 0, 1, -1) * inputs[:, 0]  # the groups lie left and right
    assert margins.min() > 0
    largest = np.linalg.norm(inputs, axis=1).max()
    assert 0 < model.mistakes_.sum() <= (largest / margins.min()) ** 2
    assert model.mistakes_[-1] == 0
    assert model.n_epochs_ < 1000


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("averaged", [False, True])
def test_separable_classes_end_it_early_with_no_row_wrong(scheme, averaged):
    X, y = separable(4)
    model = engine.PerceptronClassifier(
        multiclass=scheme, averaged=averaged, max_epochs=1000, random_state=0
    ).fit(X, y)
    assert model.n_epochs_ < 1000
    assert model.why_ended_ == f"epoch {model.n_epochs_} fits all rows"
    assert (model.mistakes_[-1], model.train_loss_[-1]) == (0, 0.0)
    assert model.score(X, y) == 1.0
    assert not model.stopped_
    assert len(model.mistakes_) == model.n_epochs_ == len(model.train_loss_) - 1


class Watching:
    def __init__(self, stops_at=None):
        self.events, self._stops_at = [], stops_at

    def on_iteration(self, event):
        assert threading.current_thread() is threading.main_thread()
        self.events.append(event)
        return self._stops_at is not None and len(self.events) >= self._stops_at


def test_events_tell_the_share_of_wrong_rows_after_every_epoch():
    X, y = load_iris(return_X_y=True)
    watching = Watching()
    model = engine.PerceptronClassifier(max_epochs=6, random_state=0).fit(
        X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], monitor=watching
    )
    told = [event for event in watching.events if event.phase == "training"]
    assert [event.iteration for event in told] == list(range(7))
    assert [event.train_loss for event in told] == model.train_loss_.tolist()
    assert [event.val_loss for event in told] == model.val_loss_.tolist()
    assert model.val_loss_[-1] == pytest.approx(1 - model.score(X[1::2], y[1::2]))
    assert model.train_loss_[0] == pytest.approx(2 / 3)
    assert model.best_epoch_ == 1 + np.argmin(model.val_loss_[1:])
    for n_epochs in (1, 4):
        so_far = told[n_epochs].so_far()
        fewer = engine.PerceptronClassifier(max_epochs=n_epochs, random_state=0).fit(X[::2], y[::2])
        np.testing.assert_array_equal(so_far.weights_, fewer.weights_)
        np.testing.assert_array_equal(so_far.train_loss_, fewer.train_loss_)
        assert so_far.stopped_


def test_weights_of_rows_count_in_losses_and_the_start():
    X = np.arange(6.0)[:, None]
    y = ["a", "a", "b", "b", "b", "b"]
    model = engine.PerceptronClassifier(max_epochs=500, random_state=0).fit(X, y, [6, 6, 1, 1, 1, 1])
    assert model.train_loss_[0] == pytest.approx(0.25)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("scheme", SCHEMES)
def test_stopped_within_an_epoch_it_keeps_the_whole_ones(monkeypatch, scheme):
    monkeypatch.setattr(training, "MOST_PIECE_ROWS", 10)
    X, y = load_iris(return_X_y=True)

    def model(max_epochs=50):
        return engine.PerceptronClassifier(multiclass=scheme, max_epochs=max_epochs, random_state=0)

    whole = Watching()
    model(2).fit(X, y, monitor=whole)
    ends = [k for k, event in enumerate(whole.events) if event.iteration == 2 and event.phase == "training"]
    assert ends[0] > 20, "it is asked within an epoch"
    for stops_at in (ends[0] - 3, ends[0] - 20):
        stopped = model().fit(X, y, monitor=Watching(stops_at))
        assert stopped.stopped_
        assert stopped.n_epochs_ == 1
        np.testing.assert_array_equal(stopped.weights_, model(1).fit(X, y).weights_)


def test_stopped_before_the_first_epoch_it_answers_the_most_frequent_class():
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], y[20:]
    X[-1], y[-1] = X[0], 1  # the most rows are of class 1
    for scheme in SCHEMES:
        for stops_at in (1, 3, 6, 7):
            model = engine.PerceptronClassifier(multiclass=scheme, random_state=0)
            model.fit(X, y, monitor=Watching(stops_at))
            assert model.stopped_
            assert model.n_epochs_ == 0
            assert (model.predict(X) == 1).all()


def test_pieces_and_threads_change_no_bit(monkeypatch):
    X, y = load_iris(return_X_y=True)
    whole = engine.PerceptronClassifier(random_state=0, max_epochs=5).fit(X, y, X_val=X, y_val=y)
    monkeypatch.setattr(training, "MOST_PIECE_ROWS", 7)
    monkeypatch.setattr(training, "ROWS_PER_CHUNK", 3)
    for n_jobs in (1, 2, 8):
        model = engine.PerceptronClassifier(random_state=0, max_epochs=5, n_jobs=n_jobs)
        model.fit(X, y, X_val=X, y_val=y)
        np.testing.assert_array_equal(model.weights_, whole.weights_)
        # sums of weights by piece
        np.testing.assert_allclose(model.train_loss_, whole.train_loss_)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
        np.testing.assert_array_equal(model.decision_function(X[3:5]), whole.decision_function(X)[3:5])


def test_two_classes_have_one_machine_by_every_scheme():
    X, y = load_iris(return_X_y=True)
    models = [
        engine.PerceptronClassifier(multiclass=scheme, random_state=0).fit(X, y == 1) for scheme in SCHEMES
    ]
    for model in models:
        assert model.weights_.shape == (5, 1)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))
        np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_there_are_no_probabilities_but_decision_values():
    X, y = load_iris(return_X_y=True)
    model = engine.PerceptronClassifier(random_state=0).fit(X, y)
    assert not model.has_probabilities
    assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    declared = pd.Categorical(y.astype(str), ["0", "1", "9", "2"])
    values = engine.PerceptronClassifier(random_state=0).fit(X, declared).decision_function(X)
    assert np.isneginf(values[:, 2]).all()
    assert np.isfinite(values[:, [0, 1, 3]]).all()


def test_an_average_and_a_stack_take_its_votes():
    X, y = load_iris(return_X_y=True)
    model = engine.PerceptronClassifier(random_state=0, max_epochs=10)
    average = engine.AveragingClassifier([("one", model)]).fit(X, y)
    np.testing.assert_array_equal(average.predict(X), model.fit(X, y).predict(X))
    stack = engine.StackingClassifier(
        [("one", model), ("tree", engine.DecisionTreeClassifier(max_depth=2))], random_state=0
    ).fit(X, y)
    assert set(np.unique(stack.oof_predictions_[:, 0])) == {0.0, 1.0}
    assert stack.score(X, y) > 0.9


def test_tuned_by_epochs():
    X, y = load_iris(return_X_y=True)
    found = engine.tune(engine.PerceptronClassifier(random_state=0), X, y, {"max_epochs": [1, 20]})
    assert found.fold_scores.shape == (2, 5)
    assert np.isfinite(found.fold_scores).all()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_the_table_nothing_is_nan(data):
    numbers = st.floats(allow_nan=True, allow_infinity=False, width=64)
    n_rows = data.draw(st.integers(2, 12))
    X = np.array(
        data.draw(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=n_rows, max_size=n_rows))
    )
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)))
    weights = np.array(data.draw(st.lists(st.floats(0, 1e100), min_size=n_rows, max_size=n_rows)))
    weights[0] = max(weights[0], 1e-90)
    scheme, averaged = data.draw(st.sampled_from(SCHEMES)), data.draw(st.booleans())
    model = engine.PerceptronClassifier(
        multiclass=scheme, averaged=averaged, max_epochs=3, random_state=0
    ).fit(X, y, weights)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.train_loss_).all()
    assert not np.isnan(model.decision_function(X)).any()
    assert set(model.predict(X)) <= set(y[weights > 0])


def test_a_watcher_that_was_stopped_starts_without_looking_at_rows():
    watcher = StopWatcher(NULL_MONITOR, IterationEvent("preparing"))
    watcher.is_stopped = True
    none = training.Rows(np.zeros((0, 2)), np.array([0, 1, 1]), np.ones(3))
    machine = training.Perceptron(
        none, None, Machines.of("direct", 2), averaged=True, seed=0, n_jobs=1, watcher=watcher
    )
    weights, judged = machine.start()
    assert weights[-1, 0] > 0
    assert np.isnan(judged.train_loss)
