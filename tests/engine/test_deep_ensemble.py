"""Deep ensembles: members, stopping, divergence, scaling, and what they say of tables they cannot learn."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax

from engine import DataError, DeepEnsembleClassifier, DeepEnsembleRegressor, ParameterError
from engine.neural.layout import Layout, start_parameters
from engine.neural.member import OF_START
from tests.engine import naive_neural

QUICK = {"n_estimators": 3, "hidden_layer_sizes": (8,), "max_epochs": 12, "learning_rate": 0.02}


class Recorder:
    def __init__(self, n_allowed=10**9):
        self.events, self.n_allowed = [], n_allowed

    def on_iteration(self, event):
        self.events.append(event)
        return len(self.events) > self.n_allowed


def numbers(n_rows=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, 50 + 10 * (X[:, 0] + np.sin(X[:, 1])) + rng.normal(0, 2, n_rows)


def classes(n_rows=150, seed=0):
    X, y = numbers(n_rows, seed)
    return X, np.digitize(y, [45, 55])


def regressor(**more):
    return DeepEnsembleRegressor(**(QUICK | {"random_state": 7} | more))


def classifier(**more):
    return DeepEnsembleClassifier(**(QUICK | {"random_state": 7} | more))


def test_members_start_differently_and_disagree_far_from_the_data():
    """Case C29 (a)."""
    X, y = numbers()
    model = regressor(n_estimators=5).fit(X, y)
    for one, other in itertools.combinations(model.parameters_, 2):
        assert np.abs(one - other).max() > 0.01
    far = model.predict_uncertainty(np.full((1, 3), 30.0))
    near = model.predict_uncertainty(X)
    assert far.epistemic[0] > np.median(near.epistemic)
    again = regressor(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(again.parameters_, model.parameters_)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_member_is_the_same_whatever_the_number_of_others_and_threads(bootstrap):
    X, y = numbers()
    one = regressor(n_estimators=1, n_jobs=1, bootstrap=bootstrap).fit(X, y)
    for n_jobs in (1, 2, 8):
        more = regressor(n_estimators=4, n_jobs=n_jobs, bootstrap=bootstrap).fit(X, y)
        np.testing.assert_array_equal(more.parameters_[0], one.parameters_[0])
        np.testing.assert_array_equal(more.train_loss_[0], one.train_loss_[0])


def test_one_member_is_a_plain_network():
    """Its whole batches leave nothing to chance but the start, which is drawn as documented."""
    X, y = classes()
    model = classifier(n_estimators=1, batch_size=150, max_epochs=15, hidden_layer_sizes=(6, 5)).fit(X, y)
    layout = Layout.of(model.layer_sizes_)
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(0, OF_START)))
    shares = np.log(np.bincount(y) / 150)
    layers = [tuple(part.astype(float) for part in layer) for layer in
              layout.split(start_parameters(layout, shares, 3, rng))]  # fmt: skip
    inputs = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.tile(np.arange(150), 15)  # of a whole batch the order of rows does not matter
    naive_neural.train(layers, inputs, y, np.ones(150), order, 150, 0.02, "log_loss", False)
    expected = softmax(naive_neural.forward(layers, inputs, False)[-1], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-4)
    told = model.predict_uncertainty(X)
    np.testing.assert_array_equal(told.epistemic, 0.0)


def test_probabilities_are_the_mean_of_softmaxes_of_the_members_layers():
    X, y = classes()
    model = classifier().fit(X, y)
    inputs = (X - model.input_units_ * model.input_means_) / (model.input_units_ * model.input_scales_)
    each = [
        softmax(naive_neural.forward(model.member_layers(member), inputs, False)[-1], axis=1)
        for member in range(3)
    ]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), rtol=1e-10)


def test_the_prediction_is_the_mixture_of_the_members():
    X, y = numbers()
    model = regressor(max_epochs=30).fit(X, y)
    means, variances = model.predict_members(X)
    told = model.predict_uncertainty(X)
    assert means.shape == variances.shape == (3, 100)
    np.testing.assert_allclose(told.mean, means.mean(axis=0))
    np.testing.assert_array_equal(told.mean, model.predict(X))
    spread = np.mean(variances + means**2, axis=0) - means.mean(axis=0) ** 2
    np.testing.assert_allclose(told.std**2, spread, rtol=1e-6)
    np.testing.assert_allclose(told.std**2, told.aleatoric + told.epistemic)
    for coverage in (0.5, 0.9):
        lower, upper = model.predict_interval(X, coverage).T
        assert (lower < told.mean).all()
        assert (told.mean < upper).all()
    wide, narrow = (np.diff(model.predict_interval(X, coverage)) for coverage in (0.9, 0.5))
    assert (wide > narrow).all()


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90])
def test_a_coverage_that_is_none_is_refused(coverage):
    model = regressor(max_epochs=1).fit(*numbers())
    with pytest.raises(ParameterError, match=r"coverage is .* above 0 and below 1"):
        model.predict_interval(numbers()[0], coverage)


def test_noise_that_grows_is_learned_as_variance():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (1500, 1))
    y = rng.normal(0, 0.1 + X[:, 0])
    model = regressor(n_estimators=2, max_epochs=60, hidden_layer_sizes=(16,)).fit(X, y)
    told = model.predict_uncertainty([[0.1], [0.9]])
    np.testing.assert_allclose(np.sqrt(told.aleatoric), [0.2, 1.0], rtol=0.25)


def test_one_variance_for_all_by_squared_error():
    X, y = numbers(400)
    model = regressor(loss="squared_error", max_epochs=60).fit(X, y)
    told = model.predict_uncertainty(X)
    assert len(np.unique(told.aleatoric)) == 1
    np.testing.assert_allclose(model.noise_variance_, 2 * model.train_loss_[:, -1])
    errors = (model.predict_members(X)[0] - y) ** 2
    np.testing.assert_allclose(model.noise_variance_, errors.mean(axis=1), rtol=0.3)
    assert np.isnan(regressor(max_epochs=1).fit(X, y).noise_variance_).all()


def test_while_the_mean_is_learned_all_rows_have_one_variance():
    X, y = numbers()
    model = regressor(variance_warm_up=5, max_epochs=5).fit(X, y)
    _, variances = model.predict_members(X)
    assert np.ptp(variances, axis=1).max() == 0
    log_likelihood = model.train_loss_[0]
    assert log_likelihood[-1] < log_likelihood[0]
    squared = regressor(loss="squared_error", max_epochs=5).fit(X, y)
    np.testing.assert_allclose(variances[:, 0], 2 * squared.train_loss_[:, -1], rtol=0.02)
    np.testing.assert_allclose(model.predict(X), squared.predict(X), rtol=1e-4)


@pytest.mark.parametrize("make", [regressor, classifier])
def test_early_stopping_goes_back_to_each_members_best_epoch(make):
    X, y = (numbers if make is regressor else classes)(200)
    model = make(early_stopping=True, max_epochs=200, n_iter_no_change=3, learning_rate=0.05).fit(X, y)
    for member, epoch in enumerate(model.n_epochs_):
        losses = model.val_loss_[member]
        done = np.count_nonzero(~np.isnan(losses))
        assert epoch == np.nanargmin(losses) + 1  # the first of equals
        assert done < 200
        assert done >= epoch + 3
    cut = make(max_epochs=int(model.n_epochs_[0]), n_estimators=1, learning_rate=0.05, early_stopping=True)
    np.testing.assert_array_equal(cut.fit(X, y).parameters_[0], model.parameters_[0])


def test_a_validation_part_of_fewer_than_two_rows_is_refused_with_the_cure():
    """Case C30 (a)."""
    with pytest.raises(DataError, match="fewer than 2: give at least 3 rows"):
        DeepEnsembleRegressor(early_stopping=True).fit([[0.0], [1.0]], [1.0, 1.0])
    told = r"validation part would have 1 of 10 rows, fewer than 2: set validation_fraction to 0.15 or more"
    X, y = numbers(10)
    with pytest.raises(DataError, match=told):
        regressor(early_stopping=True).fit(X, y)
    model = regressor(early_stopping=True, validation_fraction=0.15).fit(X, y)
    assert np.isfinite(model.val_loss_[:, 0]).all()


def test_text_labels_with_early_stopping():
    """Case C30 (b)."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, "ja", "nein")
    model = classifier(early_stopping=True, learning_rate=0.05).fit(X, y)
    assert set(model.predict(X)) == {"ja", "nein"}
    assert np.isfinite(model.val_loss_[:, 0]).all()


def test_a_batch_larger_than_the_table_is_the_table_and_said():
    """Case C30 (c)."""
    X, y = numbers(15)
    with pytest.warns(UserWarning, match="batch_size is 1000 but there are 15 training rows; trained with"):
        model = regressor(batch_size=1000).fit(X, y)
    assert model.batch_size_ == 15
    assert regressor().fit(*numbers(4000)).batch_size_ == 200
    assert regressor(max_epochs=1).fit(*numbers(1000)).batch_size_ == 50
    assert regressor(max_epochs=1).fit(X, y).batch_size_ == 15


DEEP = {"learning_rate": 10.0, "hidden_layer_sizes": (8,) * 20}  # a product of 20 large weights overflows


def test_a_network_that_diverges_is_put_back_and_said():
    X, y = numbers(60)
    with pytest.warns(
        UserWarning, match="infinite: network 1 in epoch 2, .*; 3 put back to an earlier epoch"
    ):
        model = regressor(**DEEP, batch_size=60).fit(X, y)  # one step an epoch: the first epoch is well
    assert model.diverged_ == [(0, 2), (1, 2), (2, 2)]
    assert model.n_epochs_.tolist() == [1, 1, 1]
    assert np.isfinite(model.train_loss_).tolist() == [[True]] * 3
    assert np.isfinite(model.parameters_).all()
    assert np.isfinite(model.predict(X)).all()


def test_a_network_that_diverges_at_once_is_left_out_and_the_others_stay():
    X, y = numbers(60)
    with pytest.warns(UserWarning, match=r"infinite: network \d in epoch 1.*; \d left out; a smaller"):
        model = regressor(**DEEP, n_estimators=4, batch_size=8).fit(X, y)
    lost = [member for member, _ in model.diverged_]
    assert 0 < len(lost) < 4
    assert {epoch for _, epoch in model.diverged_} == {1}
    assert model.members_.tolist() == [member for member in range(4) if member not in lost]
    assert set(model.n_epochs_.tolist()) == {12}
    assert np.isnan(model.train_loss_[lost]).all()
    assert np.isfinite(model.train_loss_[model.members_]).all()
    assert model.predict_members(X)[0].shape == (4 - len(lost), 60)


def test_where_all_networks_diverge_at_once_the_cure_is_told():
    X = np.full((40, 2), 1.0)
    X[::2] = -1.0
    y = np.arange(40.0)
    with pytest.raises(DataError, match=r"all 3 networks diverged .* in their first epoch; set a smaller"):
        regressor(learning_rate=10.0, batch_size=1, hidden_layer_sizes=(20,) * 30).fit(X, y)


@pytest.mark.parametrize("make", [regressor, classifier])
def test_scaling_makes_the_validation_part_more_likely(make):
    X, y = (numbers if make is regressor else classes)(120)
    settings = {"max_epochs": 150, "learning_rate": 0.02, "hidden_layer_sizes": (32,)}  # overconfident
    X_val, y_val = (numbers if make is regressor else classes)(300, seed=1)
    plain, scaled = (
        make(calibrate=calibrate, **settings).fit(X, y, X_val=X_val, y_val=y_val)
        for calibrate in (False, True)
    )
    np.testing.assert_array_equal(plain.parameters_, scaled.parameters_)
    if make is regressor:
        assert plain.variance_factor_ == 1.0
        assert scaled.variance_factor_ > 1.0
        np.testing.assert_allclose(scaled.predict(X), plain.predict(X))
        before, after = plain.predict_uncertainty(X_val), scaled.predict_uncertainty(X_val)
        np.testing.assert_allclose(after.std**2, scaled.variance_factor_ * before.std**2)
        ends = scaled.predict_interval(X_val)
        assert np.mean((ends[:, 0] <= y_val) & (y_val <= ends[:, 1])) == pytest.approx(0.9, abs=0.07)
    else:
        assert scaled.temperature_ > plain.temperature_ == 1.0
        rows = np.arange(len(y_val))
        before, after = (-np.log(model.predict_proba(X_val)[rows, y_val]).mean() for model in (plain, scaled))
        assert after < before


def test_scaling_without_a_validation_part_is_refused():
    with pytest.raises(ParameterError, match="calibrate is True but there is no validation part; pass one"):
        classifier(calibrate=True).fit(*classes())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_members_curve_is_told_while_it_trains(n_jobs):
    X, y = classes()
    monitor = Recorder()
    model = classifier(n_jobs=n_jobs, n_estimators=3).fit(X, y, X_val=X, y_val=y, monitor=monitor)
    told = [event for event in monitor.events if event.train_loss is not None and event.iteration > 0]
    for member in range(3):
        own = {event.iteration: event for event in told if event.member == member}
        assert list(own) == list(range(1, 13))
        np.testing.assert_array_equal([event.train_loss for event in own.values()], model.train_loss_[member])
        np.testing.assert_array_equal([event.val_loss for event in own.values()], model.val_loss_[member])
    members = [event.member for event in told]
    assert members.index(2) < len(members) - members[::-1].index(0)  # side by side, not one after another
    so_far = told[-1].so_far()
    np.testing.assert_allclose(so_far.predict_proba(X), model.predict_proba(X))


def test_a_stop_leaves_all_members_about_equally_far():
    X, y = numbers(300)
    model = regressor(n_estimators=4, n_jobs=1, max_epochs=50).fit(X, y, monitor=Recorder(40))
    assert model.stopped_
    assert len(model.members_) == 4
    assert np.ptp(model.n_epochs_) <= 1


def test_losses_are_those_of_the_target_in_its_own_units():
    X, y = numbers(200)
    for loss, factor, shift in (("squared_error", 100.0, 0.0), ("gaussian", 1.0, np.log(10.0))):
        small, large = (
            regressor(loss=loss, max_epochs=8, variance_warm_up=2).fit(X, target).train_loss_
            for target in (y, 10 * y)
        )
        np.testing.assert_allclose(large, factor * small + shift, rtol=1e-3)
    model = regressor(max_epochs=20, batch_size=200, learning_rate=1e-9).fit(X, y, X_val=X, y_val=y)
    means, variances = model.predict_members(X)
    expected = 0.5 * np.mean(np.log(2 * np.pi * variances) + (y - means) ** 2 / variances, axis=1)
    np.testing.assert_allclose(model.val_loss_[:, -1], expected, rtol=1e-4)


def test_a_row_has_the_same_bits_whatever_is_beside_it():
    X, y = classes(1000)
    model = classifier().fit(X, y)
    whole = model.predict_proba(X)
    for rows in (slice(0, 1), slice(3, 300), slice(999, 1000), np.arange(999, -1, -7)):
        np.testing.assert_array_equal(model.predict_proba(X[rows]), whole[rows])


def test_missing_values_are_the_mean_and_are_said():
    """Missing rows of a column have a target of their own: only an input that says so can learn it."""
    rng = np.random.default_rng(0)
    X = rng.normal(5, 2, (400, 1))
    y = np.zeros(400)
    X[::4], y[::4] = np.nan, 1.0
    model = classifier(max_epochs=40).fit(X, y)
    assert model.score(X, y) == 1.0
    whole = classifier(max_epochs=2).fit(np.nan_to_num(X), y)  # no gap in training: the mean
    mean = np.full((1, 1), np.nan_to_num(X).mean())
    np.testing.assert_allclose(whole.predict_proba([[np.nan]]), whole.predict_proba(mean))


def test_a_level_that_training_never_saw_is_none_of_them():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "green", "blue"] * 20)})
    y = np.tile([0.0, 1.0, 5.0], 20)
    model = regressor(max_epochs=60).fit(X, y)
    unseen = pd.DataFrame({"colour": pd.Categorical(["violet", None])})
    first, second = model.predict(unseen)
    assert first == second  # there was no missing value to learn from
    inner = model.member_layers(0)
    np.testing.assert_array_equal(model.layer_sizes_, [3, 8, 2])
    assert inner[0][0].shape == (3, 8)


def test_more_inputs_than_fit_name_the_column(monkeypatch):
    monkeypatch.setattr("engine.inputs.MOST_NUMBERS", 1000)
    X = pd.DataFrame({"id": pd.Categorical(np.arange(60).astype(str)), "size": np.arange(60.0)})
    with pytest.raises(DataError, match=r"61 inputs in 60 rows.*column 'id' has 60 levels"):
        regressor().fit(X, np.arange(60.0))


def test_no_hidden_layer_is_a_linear_model():
    X, y = numbers()
    model = regressor(hidden_layer_sizes=(), max_epochs=300, loss="squared_error", batch_size=100).fit(X, y)
    slopes = np.linalg.lstsq(np.column_stack([X, np.ones(100)]), y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), np.column_stack([X, np.ones(100)]) @ slopes, rtol=0.02)


@pytest.mark.parametrize("sizes", [(0,), (-1,), (2.5,), "64", 64, (True,), None])
def test_layers_that_are_none_are_refused(sizes):
    with pytest.raises(ParameterError, match=r"hidden_layer_sizes is .*; enter whole numbers from 1"):
        classifier(hidden_layer_sizes=sizes).fit(*classes())


def test_decay_shrinks_weights_and_dropout_blurs():
    X, y = classes()
    plain, decayed = (classifier(weight_decay=decay).fit(X, y) for decay in (0.0, 1.0))
    weights = [np.abs(model.member_layers(0)[0][0]).mean() for model in (plain, decayed)]
    assert weights[1] < 0.9 * weights[0]
    dropped = classifier(dropout=0.5).fit(X, y)
    assert dropped.train_loss_[0, -1] > plain.train_loss_[0, -1]
    np.testing.assert_array_equal(dropped.predict_proba(X), dropped.predict_proba(X))


@settings(max_examples=25, deadline=None)
@given(
    X=arrays(np.float64, (12, 2), elements=st.floats(allow_infinity=False, width=64)),
    y=arrays(np.float64, 12, elements=st.floats(-1e140, 1e140)),
    weights=arrays(np.float64, 12, elements=st.floats(0, 1e6)),
    loss=st.sampled_from(["gaussian", "squared_error"]),
)
def test_nothing_is_ever_nan(X, y, weights, loss):
    weights[0] = 1.0
    model = regressor(n_estimators=2, loss=loss, max_epochs=6, variance_warm_up=2).fit(X, y, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # squares of 1e150 are near the end of doubles
        for part in (model.predict_uncertainty(X), model.predict_interval(X)):
            assert not np.isnan(np.concatenate([np.ravel(of) for of in part])).any()
    assert not np.isnan(model.train_loss_).any()
    labels = (y > np.median(y)).astype(int)
    proba = classifier(n_estimators=2, max_epochs=3).fit(X, labels, weights).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_values_far_outside_the_training_rows_are_cut_off_without_a_warning():
    tiny = np.full((12, 2), 5e-324)
    model = regressor(n_estimators=2, max_epochs=2).fit(tiny, np.arange(12.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = model.predict(np.array([[1.0, -1.0], [1e300, -1e300]]))
    assert np.isfinite(far).all()
    assert far[0] == far[1]  # both are at the largest input there is


def test_two_classes_have_one_output_and_the_shares_at_the_start():
    X, y = classes()
    two = y > 0
    model = classifier(max_epochs=1, learning_rate=1e-9).fit(X, two, monitor=Recorder(0))
    assert model.layer_sizes_.tolist() == [3, 8, 1]
    np.testing.assert_allclose(model.predict_proba(X), [[1 - two.mean(), two.mean()]] * 150, rtol=1e-5)
    three = classifier().fit(X, y, monitor=Recorder(0))
    np.testing.assert_allclose(three.predict_proba(X[:1])[0], np.bincount(y) / 150, rtol=1e-5)
    assert classifier(max_epochs=40).fit(X, two).score(X, two) > 0.9
