"""Ready experiments: they can be trained, and what their sentences claim is measured here."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import ParameterError
from engine.monitor import NULL_MONITOR
from workbench.bias_variance import inputs_of, run_bias_variance
from workbench.catalog import check_parameter_values, entry_of
from workbench.document import Document
from workbench.experiments import (
    EXPERIMENTS,
    VIEW_STATE,
    experiment_of,
    find_experiment,
    is_untouched,
    set_up,
)
from workbench.fitting import fit_run
from workbench.samples import load_sample
from workbench.training_work import training_inputs
from workbench.tuning import Plan, tune_run

KEYS = [experiment.key for experiment in EXPERIMENTS]
_fitted = {}


def opened(key):
    experiment, document = find_experiment(key), Document()
    document.open_table(load_sample(experiment.sample))
    return experiment, document, set_up(document, experiment)


def results(key):
    """The trained models of an experiment by name, each trained once."""
    if key not in _fitted:
        experiment, document, run_ids = opened(key)
        _fitted[key] = {
            model.name: fit_run(training_inputs(document, run_id), NULL_MONITOR)
            for model, run_id in zip(experiment.models, run_ids, strict=True)
        }
    return _fitted[key]


def score(result, part, metric="accuracy"):
    return result.scores[part].metrics[metric].value


def tuned(key, values):
    """Mean of what is drawn, by some values of the one setting that is tried."""
    experiment, document, run_ids = opened(key)
    ((name, tried),) = experiment.tuned.items()
    assert set(values) <= set(tried)
    plan = Plan({name: values}, experiment.metric)
    tuning = tune_run(training_inputs(document, run_ids[0]), plan, NULL_MONITOR)
    return dict(zip(values, tuning.scoring.drawn(tuning.search.means), strict=True))


@pytest.mark.parametrize("key", KEYS)
def test_it_is_set_up_in_one_step_that_can_be_undone(key):
    experiment, document, run_ids = opened(key)
    assert [document.run(run_id).name for run_id in run_ids] == [model.name for model in experiment.models]
    for model, run_id in zip(experiment.models, run_ids, strict=True):
        spec = document.run(run_id).spec
        check_parameter_values(model.kind, document.task, spec.parameters)
        assert entry_of(model.kind).why_not(document.task) == ""
        assert {name: spec.parameters[name] for name in model.parameters} == dict(model.parameters)
    assert document.current_run_id == run_ids[0]
    assert experiment_of(document) is experiment
    assert document.undo_stack.undoText() == f"Set up {experiment.title}"
    document.undo_stack.undo()
    assert not document.runs
    document.undo_stack.redo()
    assert [record.name for record in document.runs.values()] == [m.name for m in experiment.models]


@pytest.mark.parametrize("key", KEYS)
def test_its_words_and_columns_are_whole(key):
    experiment = find_experiment(key)
    table = load_sample(experiment.sample)
    assert len({model.name for model in experiment.models}) == len(experiment.models)
    assert all(sentence.endswith(".") and len(sentence) > 40 for sentence in experiment.look)
    is_below_pictures = experiment.view == "surface"  # in a low window they leave room for two lines
    assert len(experiment.text) <= (195 if is_below_pictures else 260)
    assert {name for name in experiment.columns if name} <= {column.name for column in table.columns}
    parameters = entry_of(experiment.models[0].kind).parameters(opened(key)[1].task)
    assert set(experiment.tuned) <= {parameter.name for parameter in parameters}
    for parameter in parameters:
        assert all(parameter.is_legal(value) for value in experiment.tuned.get(parameter.name, ()))


def test_an_unknown_key_is_refused_and_one_of_a_later_version_passed_over():
    with pytest.raises(ParameterError, match="no experiment 'luck'; there are columns_per_node, shrinkage"):
        find_experiment("luck")
    document = Document()
    assert experiment_of(document) is None
    document.set_view_state(VIEW_STATE, "luck")
    assert experiment_of(document) is None


def test_what_a_person_did_makes_it_their_work():
    _, document, run_ids = opened("neighbors")
    assert is_untouched(document)
    document.set_parameter(run_ids[0], "n_neighbors", 2)
    assert not is_untouched(document)
    document.undo_stack.undo()
    assert not is_untouched(document), "it could be redone"
    _, document, _ = opened("neighbors")
    document.attach_found(found=object())
    assert not is_untouched(document), "a study found something"
    _, document, _ = opened("error_parts")
    assert is_untouched(document)
    document.attach_found(parts=object())
    assert is_untouched(document), "the experiment's own study, which it began itself"
    document.attach_found(curves=object())
    assert not is_untouched(document)
    plain = Document()
    plain.open_table(load_sample("clouds"))
    plain.add_run("tree")
    assert not is_untouched(plain)


# ---- what the sentences say ----------------------------------------------------------------------


def test_the_log_loss_falls_steeply_from_one_column_per_node_and_is_lowest_between_the_ends():
    by_m = tuned("columns_per_node", (1, 3, 11, 13))
    best = min(by_m, key=by_m.get)
    assert 1 < best < 13
    assert by_m[1] - by_m[3] > 0.05
    assert by_m[1] > by_m[13] > by_m[best]


def test_single_trees_are_worst_at_one_column_and_averaging_mends_least_at_all_columns():
    models = {m: results("columns_per_node")[f"m = {m}"].estimator for m in (1, 3, 13)}
    alone = {m: np.nanmean(model.member_oob_loss_) for m, model in models.items()}
    mended = {m: model.oob_loss_[-1] / alone[m] for m, model in models.items()}
    assert alone[1] > alone[3] > alone[13]
    assert mended[13] > max(mended[1], mended[3])


def test_a_high_rate_is_best_at_once_and_a_low_one_later_and_lower():
    curves = [results("shrinkage")[f"rate {rate}"].curve for rate in (0.05, 0.3, 1.0)]
    best = [int(np.argmin(curve.validation)) for curve in curves]
    lowest = [float(np.min(curve.validation)) for curve in curves]
    assert best[0] > best[1] > best[2]
    assert best[2] <= 2
    assert lowest[0] < lowest[1] < lowest[2]
    high = curves[2]
    assert high.train[20] < 0.1 * high.train[0]
    assert high.validation[-1] > 1.15 * lowest[2]


def test_deep_boosted_trees_learn_faster_and_say_less_of_other_rows():
    curves = {depth: results("boosting_depth")[f"depth {depth}"].curve for depth in (1, 3, 8)}
    assert curves[1].train[50] > curves[3].train[50] > curves[8].train[50]
    assert curves[8].train[-1] < 0.001 * curves[8].train[0]
    lowest = {depth: np.min(curve.validation) for depth, curve in curves.items()}
    assert max(lowest[1], lowest[3]) < 0.9 * lowest[8]


def test_one_neighbour_knows_the_training_rows_and_fifteen_the_others():
    one, some, many = (results("neighbors")[f"k = {k}"] for k in (1, 15, 100))
    assert score(one, "train") == 1.0
    assert score(some, "train") > score(many, "train")
    for part in ("validation", "test"):
        assert score(some, part) > score(one, part) + 0.05
    assert score(some, "validation") > score(many, "validation") + 0.05


def test_degree_nine_is_nearest_the_training_rows_and_degree_three_the_others():
    one, three, nine = (results("polynomials")[f"degree {degree}"] for degree in (1, 3, 9))
    train = [score(result, "train", "rmse") for result in (one, three, nine)]
    assert train[0] > train[1] > train[2]
    for part in ("validation", "test"):
        assert score(three, part, "rmse") < 0.75 * score(one, part, "rmse")
        assert score(three, part, "rmse") < 0.75 * score(nine, part, "rmse")
    x = np.linspace(0.05, 0.95, 91)
    off = [
        np.abs(result.estimator.predict(pd.DataFrame({"x": x})) - np.sin(2 * np.pi * x)).mean()
        for result in (one, three, nine)
    ]
    assert off[1] < 0.5 * min(off[0], off[2])


def test_the_error_by_degree_is_lowest_between_the_ends():
    by_degree = tuned("polynomials", tuple(range(1, 10)))
    best = min(by_degree, key=by_degree.get)
    assert 3 <= best <= 5
    assert by_degree[9] > by_degree[best] < by_degree[1]


def test_scores_rise_from_the_tree_over_bagging_to_the_forest():
    tree, bagging, forest = (results("averaging_trees")[name] for name in ("tree", "bagging", "forest"))
    assert score(tree, "validation") < score(bagging, "validation") < score(forest, "validation")
    _, document, run_ids = opened("averaging_trees")
    rows = training_inputs(document, run_ids[0]).learnable().X
    shares = [result.estimator.predict_proba(rows) for result in (tree, bagging, forest)]
    assert set(np.unique(shares[0])) == {0.0, 1.0}
    assert all(np.mean((share > 0.05) & (share < 0.95)) > 0.1 for share in shares[1:])


def test_a_deep_tree_errs_by_variance_a_flat_one_by_bias_and_many_by_little_but_noise():
    experiment, document, _ = opened("error_parts")
    assert document.studies.bias_variance == experiment.study
    found = run_bias_variance(inputs_of(document, experiment.study), NULL_MONITOR)
    assert found.axis.words == tuple(model.name for model in experiment.models)
    deep, flat, *many = range(4)
    bias, variance, noise = (found.means[part] for part in ("bias", "variance", "noise"))
    np.testing.assert_allclose(noise, 0.04, rtol=0.05)
    assert variance[deep] > 15 * bias[deep]
    assert bias[flat] > 30 * bias[deep]
    assert bias[flat] > variance[flat] > variance[deep], "its cuts lie elsewhere in every table"
    for model in many:
        assert bias[model] < 0.1 * noise[model]
        assert variance[model] < 0.4 * variance[deep]


def test_lines_find_a_slanted_border_and_a_tree_climbs_it():
    models = results("slanted_border")
    for part in ("validation", "test"):
        for name in ("logistic regression", "SVM, linear kernel"):
            assert score(models[name], part) >= 0.97
            assert score(models["tree"], part) < score(models[name], part) - 0.02


def test_a_tree_finds_a_box_and_lines_call_every_row_outside():
    models = results("box")
    assert score(models["tree"], "test") > 0.98
    rows = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, (500, 2)), columns=["x1", "x2"])
    for name in ("logistic regression", "SVM, linear kernel"):
        assert set(models[name].estimator.predict(rows)) == {"outside"}
    assert score(models["SVM, rbf kernel"], "test") < score(models["tree"], "test")


def test_networks_disagree_where_there_are_no_rows_and_one_alone_does_not():
    models = results("networks_outside")
    gap = pd.DataFrame({"x": np.linspace(-0.8, 0.8, 9)})
    among_rows = pd.DataFrame({"x": np.r_[np.linspace(-3.8, -1.2, 20), np.linspace(1.2, 3.8, 20)]})
    ten = models["ten networks"].estimator.predict_uncertainty(gap)
    near = models["ten networks"].estimator.predict_uncertainty(among_rows)
    assert np.median(np.sqrt(ten.epistemic)) > 3 * np.median(np.sqrt(near.epistemic))
    one = models["one network"].estimator
    assert np.max(one.predict_uncertainty(gap).epistemic) == 0
    assert np.mean(one.predict_uncertainty(gap).std) < 1.5 * np.mean(one.predict_uncertainty(among_rows).std)
