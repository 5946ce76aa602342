"""An ensemble's first rounds equal the ensemble cut to them, on grids and about rows."""

import numpy as np
import pytest

import engine
from engine.errors import ParameterError
from engine.staged import StagedAnswers, StagedSurface, first_rounds
from engine.surface import encoded_answer, model_surface

SIDE = np.linspace(-2.5, 2.5, 40)


def table(n_classes, n=300):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(n, 4)), 1)
    X[rng.random((n, 4)) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 2]) + rng.normal(0, 0.3, n)
    return (X, score) if n_classes == 0 else (X, np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1]))


def models():
    for n_classes in (0, 2, 3):
        X, y = table(n_classes)
        what = "Regressor" if n_classes == 0 else "Classifier"
        for kind in ("GradientBoosting", "RandomForest", "AdaBoost"):
            made = getattr(engine, kind + what)(n_estimators=11, random_state=0)
            yield pytest.param(made.fit(X, y), X, id=f"{kind}-{n_classes}")


MODELS = list(models())


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_every_stage_of_a_surface_is_the_truncated_model_s(model, X):
    held = np.array([0.0, 0.0, 0.5, np.nan])
    staged = StagedSurface(model, 0, 1, SIDE, SIDE, held)
    for n_rounds in (7, 1, 11, 3, 2, 10, 7):  # back and forth, as a hand drags
        expected = model_surface(model.truncate(n_rounds), 0, 1, SIDE, SIDE, held)
        shown = staged.at(n_rounds)
        np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(np.argmax(shown, axis=0), np.argmax(expected, axis=0))


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_what_is_asked_for_before_changes_no_bit(model, X):
    def staged():
        return StagedSurface(model, 0, 1, SIDE, SIDE, np.zeros(4))

    wandered = staged()
    for n_rounds in (11, 2, 9, 4):
        wandered.at(n_rounds)
    np.testing.assert_array_equal(wandered.at(8), staged().at(8))


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_a_surface_grows_with_its_ensemble(model, X):
    grown = StagedSurface(first_rounds(model, 2), 0, 1, SIDE, SIDE, np.zeros(4), n_planned=11)
    for n_rounds in (2, 5, 11):
        grown.extend(first_rounds(model, n_rounds))
        assert grown.n_rounds == n_rounds
        expected = model_surface(model.truncate(n_rounds), 0, 1, SIDE, SIDE, np.zeros(4))
        np.testing.assert_allclose(grown.at(n_rounds), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_staged_answers_are_those_of_the_truncated_models_to_the_last_bit(model, X):
    staged = StagedAnswers(first_rounds(model, 4), X)
    for n_rounds in range(1, 12):
        if n_rounds == 5:  # there are more by now
            staged.extend(model)
        np.testing.assert_array_equal(staged.at(n_rounds), encoded_answer(model.truncate(n_rounds), X))


@pytest.mark.parametrize("n_kept", [1, 3, 100])
@pytest.mark.parametrize(("model", "X"), MODELS)
def test_staged_answers_are_the_same_in_any_order_however_few_sums_are_kept(monkeypatch, model, X, n_kept):
    monkeypatch.setattr("engine.staged.KEPT_ANSWER_BYTES", n_kept * 8 * len(X))
    staged = StagedAnswers(model, X)
    for n_rounds in (7, 3, 11, 11, 1, 2, 10, 4, 9, 8, 6, 5):
        np.testing.assert_array_equal(staged.at(n_rounds), encoded_answer(model.truncate(n_rounds), X))
        assert len(staged._kept) <= max(n_kept + 1, 3) or model.combination == "median"


def test_kept_sums_stay_below_a_limit(monkeypatch):
    model = MODELS[4].values[0]
    monkeypatch.setattr("engine.staged.KEPT_BYTES", 8 * 2 * 40 * 40 * 2)  # two sums of two classes
    staged = StagedSurface(model, 0, 1, SIDE, SIDE, np.zeros(4))
    np.testing.assert_allclose(
        staged.at(11), model_surface(model, 0, 1, SIDE, SIDE, np.zeros(4)), rtol=0, atol=1e-9
    )
    assert len(staged._kept) <= 2


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_a_truncated_forest_is_the_forest_of_fewer_trees(kind):
    X, y = table(3 if kind == "Classifier" else 0)
    made = getattr(engine, f"RandomForest{kind}")
    forest = made(n_estimators=8, random_state=5, oob_score=True).fit(X, y)
    cut, small = forest.truncate(3), made(n_estimators=3, random_state=5).fit(X, y)
    assert cut.estimators_ == small.estimators_
    np.testing.assert_array_equal(cut.feature_importances_, small.feature_importances_)
    np.testing.assert_array_equal(cut.predict(X), small.predict(X))
    assert not hasattr(cut, "oob_score_")  # of all eight
    assert forest.truncate(8).oob_score_ == forest.oob_score_
    assert len(forest.estimators_) == 8
    for wrong in (0, 9):
        with pytest.raises(ParameterError, match="n_trees"):
            forest.truncate(wrong)
