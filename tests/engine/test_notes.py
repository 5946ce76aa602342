"""Notes of fits: of networks, classical solvers and stacks, and through models made of models."""

import numpy as np
import pytest

from engine import (
    AveragingClassifier,
    AveragingRegressor,
    BaggingRegressor,
    DeepEnsembleRegressor,
    GradientBoostingRegressor,
    LogisticClassifier,
    StackingClassifier,
    StackingRegressor,
    SVMClassifier,
)
from engine.classical import svm
from engine.errors import FitWarning
from engine.notes import notes_of
from tests.engine.test_deep_ensemble import DEEP, numbers

TOO_LARGE = {"n_estimators": 1, "max_epochs": 1, "hidden_layer_sizes": (2,), "batch_size": 1000}


def networks(**more):
    return DeepEnsembleRegressor(**(TOO_LARGE | {"random_state": 0} | more))


def test_networks_note_what_they_warn_of():
    X, y = numbers(60)
    with pytest.warns(FitWarning) as warned:
        model = networks(**DEEP, n_estimators=4, max_epochs=3, batch_size=8, random_state=7).fit(X, y)
    assert notes_of(model) == tuple(str(one.message) for one in warned)
    member, epoch = model.diverged_[0]
    assert f"network {member + 1} in epoch {epoch}" in notes_of(model)[0]


def test_a_new_fit_has_its_own_notes():
    X, y = numbers(40)
    with pytest.warns(FitWarning, match="batch_size is 1000"):
        model = networks().fit(X, y)
    assert len(notes_of(model)) == 1
    assert notes_of(model.set_params(batch_size=10).fit(X, y)) == ()


@pytest.mark.filterwarnings("ignore::engine.errors.FitWarning")
@pytest.mark.parametrize(
    ("model", "note"),
    [
        (AveragingRegressor([("nets", networks()), ("more", networks())]), "nets: batch_size is 1000"),
        (StackingRegressor([("nets", networks())], cv=2, random_state=0), "nets: batch_size is 1000"),
        (
            StackingRegressor([("nets", networks())], cv=2, random_state=0),
            "nets, in 2 of its fits",
        ),
        (StackingRegressor(None, networks(), cv=2, random_state=0), "the meta-model: batch_size is 1000"),
        (GradientBoostingRegressor(init=networks(), n_estimators=1), "the model it begins with: batch_size"),
        (GradientBoostingRegressor(estimator=networks(), n_estimators=2), "a batch size of 40 (in 2 of its"),
        (BaggingRegressor(networks(), n_estimators=3), "a batch size of 40 (in 3 of its models)"),
    ],
)
def test_models_made_of_models_tell_their_parts_notes(model, note):
    X, y = numbers(40)
    told = notes_of(model.fit(X, y))
    assert any(note in text for text in told), told


def test_stacks_note_rare_classes():
    """Case C28."""
    X, y = np.arange(13.0)[:, None], np.array(["a"] * 6 + ["b"] * 6 + ["c"])
    stack = StackingClassifier([("lines", LogisticClassifier())], LogisticClassifier(), cv=3, random_state=0)
    assert notes_of(stack.fit(X, y))[0] == "class c has 1 row, fewer than 3 folds"


@pytest.mark.parametrize("make", [AveragingClassifier, StackingClassifier])
def test_the_default_models_notes_bear_their_names(make):
    X, y = np.arange(13.0)[:, None], np.array(["a"] * 6 + ["b"] * 6 + ["c"])
    told = notes_of(make(random_state=0).fit(X, y))
    assert told[-1].startswith("SVM: 1 class has one training row")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers_that_ran_out_of_steps_say_so(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3
    told = notes_of(LogisticClassifier(max_iter=1).fit(X, y))
    assert told == ("the solver was not done after 1 step; set a larger max_iter, or a smaller C",)
    assert notes_of(LogisticClassifier().fit(X, y)) == ()
    monkeypatch.setattr(svm, "MAX_STEPS", 1)
    for answers in ("calibrated", "decision"):
        machine = SVMClassifier(kernel="linear", multiclass="direct", answers=answers, random_state=0)
        assert "the solver was not done" in notes_of(machine.fit(X, y))[0]
