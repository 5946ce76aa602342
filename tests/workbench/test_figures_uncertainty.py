"""Layers and bands of what a model does not know: the values, the words, and where there are none."""

import csv
import io

import numpy as np
import pytest

from tests.workbench.making import Session, open_flowers
from workbench.figures.rounds import StagedPicture
from workbench.figures.surface import make_curve, make_surface, with_other_tree
from workbench.figures.surface_csv import surface_csv
from workbench.figures.surface_inputs import surface_inputs
from workbench.figures.uncertainty import (
    ALEATORIC,
    EPISTEMIC,
    LAYERS,
    PREDICTION,
    TOTAL,
    layers_of,
    quantity_text,
)

pytestmark = pytest.mark.usefixtures("qapp")
TARGETS = {"classes": "kind", "numbers": "size"}
SETTINGS = {"forest": {"n_estimators": 7}, "networks": {"n_estimators": 2, "max_epochs": 3}}


def inputs_of(kind, target, **settings):
    document = open_flowers(target)
    session = Session(document)
    result = document.run(session.train(kind, **{**SETTINGS.get(kind, {}), **settings})).result
    session.close()
    return surface_inputs("it", result, document.table)


def told_at(inputs, figure, row, column):
    """What the model itself says of its uncertainty in a cell."""
    point = figure.held_encoded.copy()
    point[figure.x.feature], point[figure.y.feature] = figure.x.values[column], figure.y.values[row]
    return inputs.result.estimator.encoded_uncertainty(point[np.newaxis])


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("task", TARGETS)
def test_layers_are_what_the_model_tells_in_one_unit(kind, task):
    inputs = inputs_of(kind, TARGETS[task])
    plain = make_surface(inputs, "length", "width", 12)
    assert plain.is_map == (task == "numbers")
    for layer in LAYERS[1:]:
        figure = make_surface(inputs, "length", "width", 12, layer)
        np.testing.assert_array_equal(figure.answer, plain.answer)
        assert figure.is_map
        assert figure.mapped is figure.spread.of(layer)
        spread = figure.spread
        assert figure.range == (0.0, float(np.max(spread.total)))  # the same for every layer
        for row, column in ((0, 0), (5, 7), (11, 3)):
            told = told_at(inputs, figure, row, column)
            if task == "classes":  # nats: the parts add up
                parts = told.aleatoric[0] + told.epistemic[0], told.aleatoric[0], told.epistemic[0]
            else:  # the target's unit: their squares do
                parts = told.std[0], told.aleatoric[0] ** 0.5, told.epistemic[0] ** 0.5
            found = [part[row, column] for part in (spread.total, spread.aleatoric, spread.epistemic)]
            np.testing.assert_allclose(found, parts, rtol=1e-6, atol=1e-7)


def test_units_are_named_and_the_pointer_tells_all():
    figure = make_surface(inputs_of("forest", "size"), "length", "width", 12, EPISTEMIC)
    assert figure.title == "it, disagreement (epistemic)"
    assert figure.quantity == "size (standard deviation)"
    lines = figure.text_at(figure.x.values[3], figure.y.values[4]).splitlines()
    assert [line.split(" ± ")[0] for line in lines[2:5]] == ["in all", "noise", "disagreement"]
    assert lines[5].startswith("size ")
    figure = make_surface(inputs_of("forest", "kind"), "length", "width", 12, EPISTEMIC)
    assert figure.quantity == "mutual information (nats)"
    lines = figure.text_at(figure.x.values[3], figure.y.values[4]).splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["entropy", "noise", "disagreement"]
    assert all(line.endswith(" nats") for line in lines[2:5])


def test_the_spread_of_a_date_is_in_days():
    assert quantity_text("born", TOTAL, False, True) == "born (standard deviation, days)"
    assert quantity_text("born", TOTAL, False, False) == "born (standard deviation)"
    assert [quantity_text("kind", layer, True, False) for layer in LAYERS[1:]] == [
        "entropy (nats)",
        "expected entropy (nats)",
        "mutual information (nats)",
    ]


@pytest.mark.parametrize("kind", ["tree", "boosting", "neighbors"])
def test_models_that_tell_none_have_the_prediction_alone(kind):
    inputs = inputs_of(kind, "kind")
    assert layers_of(inputs.result.estimator) == (PREDICTION,)
    figure = make_surface(inputs, "length", "width", 12, TOTAL)
    assert (figure.layer, figure.spread, figure.title) == (PREDICTION, None, "it")
    assert make_curve(inputs, "length").band is None


def test_trees_for_medians_know_their_disagreement_alone():
    inputs = inputs_of("forest", "size", criterion="absolute_error")
    assert layers_of(inputs.result.estimator) == (PREDICTION, EPISTEMIC)
    assert make_surface(inputs, "length", "width", 12, ALEATORIC).layer == PREDICTION
    figure = make_surface(inputs, "length", "width", 12, EPISTEMIC)
    assert figure.range == (0.0, float(figure.mapped.max()))
    lines = figure.text_at(figure.x.values[3], figure.y.values[4]).splitlines()
    assert lines[2].startswith("disagreement ± ")
    band = make_curve(inputs, "length").band
    assert band.outer is None
    assert band.inner_text == "± 1 sd, disagreement alone"


def test_the_band_of_networks_is_their_interval():
    inputs = inputs_of("networks", "size")
    figure = make_curve(inputs, "length", 30)
    table = np.tile([h.encoded for h in inputs.held], (30, 1))
    table[:, figure.x.feature] = figure.x.values
    lower, upper = inputs.result.estimator.encoded_interval(table, 0.9).T
    np.testing.assert_allclose(figure.band.outer[0][0], lower, rtol=1e-9)
    np.testing.assert_allclose(figure.band.outer[1][0], upper, rtol=1e-9)
    assert figure.band.outer_text == "90 % interval"
    told = inputs.result.estimator.encoded_uncertainty(table)
    reach = 1.6448536269514722 * np.sqrt(told.epistemic)
    np.testing.assert_allclose(figure.band.inner[1][0], told.mean + reach, rtol=1e-9)


def test_the_band_of_a_forest_is_its_standard_deviation():
    inputs = inputs_of("forest", "size")
    figure = make_curve(inputs, "length", 30)
    table = np.tile([h.encoded for h in inputs.held], (30, 1))
    table[:, figure.x.feature] = figure.x.values
    told = inputs.result.estimator.encoded_uncertainty(table)
    np.testing.assert_allclose(figure.band.outer[1][0], told.mean + told.std, rtol=1e-6)
    np.testing.assert_allclose(figure.band.inner[0][0], told.mean - told.epistemic**0.5, rtol=1e-6)


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_band_of_a_class_is_the_standard_deviation_of_its_probability(kind):
    inputs = inputs_of(kind, "kind")
    classes = make_curve(inputs, "length", 30)
    table = np.tile([h.encoded for h in inputs.held], (30, 1))
    table[:, classes.x.feature] = classes.x.values
    told = inputs.result.estimator.encoded_uncertainty(table)
    np.testing.assert_allclose(
        classes.band.outer[1], np.minimum((told.mean + told.std).T, 1), rtol=1e-6, atol=1e-7
    )
    assert classes.band.outer_text == "± 1 standard deviation"
    assert classes.band.inner is None
    assert classes.band.outer[0].shape == (3, 30)
    assert classes.band.outer[0].min() >= 0.0
    assert classes.band.outer[1].max() <= 1.0


def test_first_rounds_and_changed_models_show_their_prediction():
    inputs = inputs_of("forest", "size")
    figure = make_surface(inputs, "length", "width", 12, TOTAL)
    first = StagedPicture(figure, inputs).at(3)
    assert (first.layer, first.spread) == (PREDICTION, None)
    assert first.quantity == "size"
    assert StagedPicture(make_curve(inputs, "length", 30), inputs).at(3).band is None
    other = with_other_tree(figure, inputs, inputs.result)
    assert (other.layer, other.spread, other.title) == (PREDICTION, None, "it")


@pytest.mark.parametrize("task", TARGETS)
def test_a_table_has_every_cell_and_all_that_is_told_there(task):
    inputs = inputs_of("forest", TARGETS[task])
    figure = make_surface(inputs, "length", "colour", 12, EPISTEMIC)
    head, *lines = csv.reader(io.StringIO(surface_csv(figure)))
    assert head[:2] == ["length", "colour"]
    named = [f"probability of {name}" for name in ("daisy", "iris", "rose")]
    assert head[2:-3] == (named if task == "classes" else ["predicted size"])
    assert len(lines) == len(figure.x.values) * len(figure.y.values)
    row, column = 1, 5
    line = lines[row * 12 + column]
    assert line[:2] == [repr(float(figure.x.values[column])), figure.y.labels[row]]
    assert [float(cell) for cell in line[2:-3]] == figure.answer[:, row, column].tolist()
    told = [figure.spread.of(layer)[row, column] for layer in LAYERS[1:]]
    assert [float(cell) for cell in line[-3:]] == told
    plain = make_surface(inputs, "length", "colour", 12)
    assert surface_csv(plain).splitlines()[0] == ",".join(head[:-3])
    curve = make_curve(inputs, "length", 30)
    head, *lines = csv.reader(io.StringIO(surface_csv(curve)))
    assert len(lines) == 30
    assert float(lines[4][len(curve.answer) + 1]) == curve.band.spread.total[4]
