"""Searching settings of a document's model: rows, scores, being stopped, project files, values as text."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error

from engine.errors import DataError, ParameterError
from tests.workbench.making import Session, open_flowers, wait_for
from tests.workbench.test_project import edit_json, reopened, rewrite
from workbench.catalog import CATALOG, entry_of, start_parameters
from workbench.crossvalidation import folds_of
from workbench.datasets import make_table
from workbench.project import load_project, save_project
from workbench.runs import SplitSettings
from workbench.training_work import training_inputs
from workbench.tuner import Tuner, how_it_ended
from workbench.tuning import Plan, _orders, scoring_of, tune_run, what_changed
from workbench.tuning_grids import default_values, read_values, tunable_parameters, values_text

pytestmark = pytest.mark.usefixtures("qapp")

DEPTHS = Plan({"max_depth": (1, 2, 4, None)}, "accuracy")


class Watcher:
    def __init__(self, is_enough=lambda _event: False):
        self.events, self._is_enough = [], is_enough

    def on_iteration(self, event):
        self.events.append(event)
        return self._is_enough(event)


class Tuned(Session):
    """A session with a tuner."""

    def __init__(self, document):
        super().__init__(document)
        self.tuner = Tuner(document, self.lanes, self.trainer)
        self.tuner.crashed.connect(lambda title, details: self.crashes.append(details))

    def tune(self, kind="tree", plan=DEPTHS):
        run_id = self.document.add_run(kind)
        wait_for(self.tuner.ended, lambda: self.tuner.start(run_id, plan))
        assert self.crashes == []
        return run_id


@pytest.fixture
def session():
    made = Tuned(open_flowers())
    yield made
    made.close()


def inputs_of(document, kind="tree"):
    return training_inputs(document, document.add_run(kind))


# ---- what is measured --------------------------------------------------------------------------


def test_models_are_trained_and_asked_on_folds_of_the_training_rows():
    document = open_flowers()
    inputs = inputs_of(document)
    found = tune_run(inputs, DEPTHS, Watcher())
    rows = inputs.rows_of("train")
    learnable = inputs.learnable().take(rows)
    folds = folds_of(inputs, rows, learnable)
    np.testing.assert_array_equal(found.search.folds, folds)
    for at, depth in enumerate(DEPTHS.grid["max_depth"]):
        for fold in range(5):
            inside, outside = (
                learnable.take(np.flatnonzero(mask)) for mask in (folds != fold, folds == fold)
            )
            model = entry_of("tree").make("classes", {**inputs.spec.parameters, "max_depth": depth}, 3)
            model.fit(inside.X, inside.labels)
            wrong = np.mean(model.predict(outside.X) != np.asarray(outside.labels))
            assert found.search.fold_scores[at, fold] == pytest.approx(-wrong)
    assert found.n_rows == len(rows) == 72
    assert found.rows_text == "5 folds of the 72 training rows"
    assert found.plan == DEPTHS
    assert found.search.simpler == {"max_depth": "smaller"}


@pytest.mark.parametrize(
    ("target", "metric", "score"),
    [
        (
            "kind",
            "log_loss",
            lambda y, model, X: (
                -log_loss(y, np.clip(model.predict_proba(X), 1e-15, 1), labels=model.classes_)
            ),
        ),
        ("size", "rmse", lambda y, model, X: -root_mean_squared_error(y, model.predict(X))),
    ],
)
def test_other_scores_are_as_scikit_learn_has_them(target, metric, score):
    inputs = inputs_of(open_flowers(target))
    found = tune_run(inputs, Plan({"max_depth": (2,)}, metric), Watcher())
    learnable = inputs.learnable().take(inputs.rows_of("train"))
    for fold in range(5):
        inside, outside = (
            learnable.take(np.flatnonzero(mask))
            for mask in (found.search.folds != fold, found.search.folds == fold)
        )
        model = entry_of("tree").make(inputs.task, {**inputs.spec.parameters, "max_depth": 2}, 3)
        model.fit(inside.X, inside.labels)
        wanted = score(np.asarray(outside.labels), model, outside.X)
        assert found.search.fold_scores[0, fold] == pytest.approx(wanted)


def test_scores_are_drawn_as_what_they_are_called():
    wrong, auc = scoring_of("classes", "accuracy"), scoring_of("classes", "auc")
    assert wrong.score(0.75) == -0.25
    assert wrong.drawn(-0.25) == 0.25
    assert (auc.score(0.75), auc.drawn(0.75)) == (0.75, 0.75)
    assert scoring_of("numbers", "rmse").drawn(-3.0) == 3.0


def test_weights_count_in_training_and_scoring_and_groups_stay_whole():
    document = open_flowers(n=240)
    rng = np.random.default_rng(1)
    x = rng.normal(size=240)
    made = make_table("t", {
        "x": x, "w": np.arange(240) % 3 + 1.0, "g": [f"g{i // 6}" for i in range(240)],
        "y": np.where(x + rng.normal(size=240) > 0, "yes", "no"),
    })  # fmt: skip
    document.open_table(made)
    document.set_target("y")
    document.set_roles(["w"], "weight")
    document.set_roles(["g"], "group")
    inputs = inputs_of(document)
    found = tune_run(inputs, Plan({"max_depth": (1, 3)}, "auc"), Watcher())
    groups = np.arange(240)[inputs.rows_of("train")] // 6
    assert all(len(set(found.search.folds[groups == group])) == 1 for group in set(groups))
    assert found.rows_text.endswith("training rows, weighted by column w, column g kept whole")
    document.set_roles(["w"], "ignored")
    plain = tune_run(inputs_of(document), Plan({"max_depth": (1, 3)}, "auc"), Watcher())
    assert np.any(plain.search.fold_scores != found.search.fold_scores)


def test_settings_without_effect_beside_others_are_left_out_of_the_model():
    """C4.5 knows no leaf limit: the settings that the form does not show must not make it fail."""
    inputs = inputs_of(open_flowers())
    plan = Plan({"algorithm": ("cart", "c4.5"), "confidence": (0.1, 0.5)}, "accuracy")
    found = tune_run(inputs, plan, Watcher())
    assert found.search.errors == {}
    assert found.search.is_done.all()
    np.testing.assert_array_equal(found.search.fold_scores[0], found.search.fold_scores[1])


def test_too_few_rows_are_refused():
    document = open_flowers(n=12)
    with pytest.raises(DataError, match="6 training rows, too few for 5 folds"):
        tune_run(inputs_of(document), DEPTHS, Watcher())


# ---- in the background -------------------------------------------------------------------------


def test_a_search_is_kept_with_its_model(session):
    document = session.document
    run_id = session.tune()
    tuning = document.run(run_id).tuning
    assert tuning.search.is_done.all()
    assert document.is_dirty
    assert document.messages[-1] == f"Decision tree 1: {how_it_ended(tuning)}"
    assert "4 settings tried; best is depth" in document.messages[-1]
    assert session.tuner.shown(run_id) is tuning
    assert document.run(document.duplicate_run(run_id)).tuning is None
    document.delete_run(run_id)
    document.undo_stack.undo()
    assert document.run(run_id).tuning is tuning


def test_settings_are_seen_while_it_runs_and_stay_after_a_stop(session):
    document, tuner = session.document, session.tuner
    run_id = document.add_run("boosting")
    seen = []

    def watch(of_run):
        seen.append(tuner.shown(of_run))
        if seen[-1] is not None:
            tuner.stop()

    tuner.advanced.connect(watch)
    plan = Plan({"n_estimators": (5, 1_000_000)}, "log_loss")
    wait_for(tuner.ended, lambda: tuner.start(run_id, plan))
    tuning = document.run(run_id).tuning
    assert seen[-1].search.n_over == 1
    assert tuning.search.stopped
    assert tuning.search.is_done.tolist() == [True, False]
    assert "stopped after 1 setting of 2; best is rounds 5" in document.messages[-1]


def test_a_stop_before_the_first_setting_keeps_the_search_before(session):
    document, tuner = session.document, session.tuner
    run_id = session.tune()
    before = document.run(run_id).tuning
    document.set_parameter(run_id, "max_depth", None)
    tuner.start(run_id, Plan({"min_samples_leaf": tuple(range(1, 100))}, "accuracy"))
    wait_for(tuner.ended, tuner.stop)
    assert document.messages[-1] == "Decision tree 1: stopped before any setting was done."
    assert document.run(run_id).tuning is before


def test_progress_says_setting_fold_and_time(session):
    document, tuner = session.document, session.tuner
    run_id = document.add_run("forest")
    texts = []
    tuner.advanced.connect(lambda _run_id: texts.append(tuner.current_job.progress.text))
    wait_for(tuner.ended, lambda: tuner.start(run_id, Plan({"max_features": (1, 2, 3)}, "accuracy")))
    assert any(text.startswith("setting ") and " of 3, fold " in text and "left" in text for text in texts)


def test_only_one_at_a_time_and_only_what_can_be_trained(session):
    document, tuner = session.document, session.tuner
    first, second = document.add_run("boosting"), document.add_run("tree")
    assert tuner.start(first, Plan({"n_estimators": (1_000_000,)}, "accuracy"))
    assert not tuner.start(second, DEPTHS)
    assert document.messages[-1] == "Gradient boosting 1 is being tuned; stop that, or wait for its end."
    wait_for(tuner.ended, tuner.stop)
    document.set_roles(document.features, "ignored")
    assert not tuner.start(second, DEPTHS)
    assert "No column has the role feature" in document.messages[-1]


def test_a_deleted_model_takes_its_search_along(session):
    document, tuner = session.document, session.tuner
    run_id = document.add_run("boosting")
    tuner.start(run_id, Plan({"n_estimators": (1_000_000,)}, "accuracy"))
    wait_for(tuner.ended, lambda: document.delete_run(run_id))
    assert tuner.current_run_id is None
    other = session.tune()
    assert document.run(other).tuning is not None


def test_what_cannot_be_done_is_told(session):
    document = session.document
    document.set_split(SplitSettings(0, 0.05, 0.45, 0.5))
    run_id = session.tune()
    assert "could not be tuned: there are" in document.messages[-1]
    assert document.run(run_id).tuning is None


def test_all_failed_is_told(session):
    run_id = session.tune(plan=Plan({"min_samples_split": (1,)}, "accuracy"))
    assert session.document.messages[-1].endswith("1 setting tried, 1 failed; none has a score")
    assert "min_samples_split" in session.document.run(run_id).tuning.search.errors[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d, _: d.set_roles(["colour"], "ignored"), "tried with other columns"),
        (lambda d, _: d.set_split(SplitSettings(1)), "tried on other training rows"),
        (lambda d, r: d.set_parameter(r, "min_samples_leaf", 9), "tried with another Rows per leaf"),
        (lambda d, r: d.set_parameter(r, "max_depth", 9), ""),
        (lambda d, _: d.set_target("size"), "tried for predicting kind"),
    ],
)
def test_what_changed_since_is_said(session, change, words):
    run_id = session.tune()
    document = session.document
    change(document, run_id)
    assert what_changed(document.run(run_id).tuning, document, document.run(run_id).spec) == words


# ---- project files -----------------------------------------------------------------------------


@pytest.fixture
def saved(session, tmp_path):
    run_id = session.tune(plan=Plan({"max_depth": (1, None), "criterion": ("gini", "entropy")}, "log_loss"))
    path = tmp_path / "p.treewright"
    save_project(session.document, path, include_rows=True)
    session.document.mark_saved(path)
    return session.document.run(run_id).tuning, path


def test_a_search_comes_back_to_the_last_bit(session, saved):
    tuning, path = saved
    document = reopened(path)
    (record,) = document.runs.values()
    found = record.tuning
    for name in ("names", "values", "errors", "simpler", "stopped"):
        assert getattr(found.search, name) == getattr(tuning.search, name)
    np.testing.assert_array_equal(found.search.fold_scores, tuning.search.fold_scores)
    np.testing.assert_array_equal(found.search.folds, tuning.search.folds)
    for name in ("task", "metric", "features", "target", "n_rows", "split", "seconds", "table_fingerprint"):
        assert getattr(found, name) == getattr(tuning, name)
    assert dict(found.spec.parameters) == dict(tuning.spec.parameters)
    assert what_changed(found, document, record.spec) == ""


def test_an_unsaved_search_is_work(session, tmp_path):
    document = session.document
    run_id = document.add_run("tree")
    before = document.snapshot()
    path = tmp_path / "p.treewright"
    save_project(before, path, include_rows=True)
    document.mark_saved(path, before)
    assert not document.is_dirty
    wait_for(session.tuner.ended, lambda: session.tuner.start(run_id, DEPTHS))
    assert document.is_dirty
    assert not before.holds_work_of(document.snapshot())


@pytest.mark.parametrize(
    "damage",
    [
        {"names": ["max_depth"]},
        {"names": ["nothing", "criterion"]},
        {"errors": {"9": "why"}},
        {"metric": "luck"},
        {"values": [[1, {}], ["gini", "entropy"]]},
    ],
)
def test_a_damaged_search_is_refused_by_name(saved, tmp_path, damage):
    _, path = saved
    content = json.loads(zipfile.ZipFile(path).read("project.json"))
    content["runs"][0]["tuning"] |= damage
    rewrite(path, tmp_path / "bad.treewright", edit_json(runs=content["runs"]))
    with pytest.raises(DataError, match=r"bad\.treewright"):
        load_project(tmp_path / "bad.treewright")


# ---- which settings, which values --------------------------------------------------------------


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("kind", CATALOG)
def test_every_kind_has_settings_to_tune_with_legal_values(kind, task):
    n_classes = 3 if task == "classes" else 0
    found = tunable_parameters(kind, task, start_parameters(kind, task, 500), n_classes)
    assert found or (kind, task) == ("averaging", "numbers")  # which has models and their weights alone
    for parameter in found:
        values = default_values(parameter, parameter.start_value, 7)
        assert len(values) >= 2
        assert all(parameter.is_legal(value) for value in values)
        assert read_values(parameter, values_text(parameter, values)) == values
    assert not {"n_jobs", "random_state"} & {parameter.name for parameter in found}


def test_the_first_setting_is_the_one_that_matters_most():
    def first(kind):
        return tunable_parameters(kind, "classes", start_parameters(kind, "classes", 500), 3)[0].name

    assert [first(kind) for kind in ("tree", "forest", "extra_trees", "boosting", "adaboost")] == [
        "max_depth", "max_features", "max_features", "learning_rate", "learning_rate",
    ]  # fmt: skip


def parameter(kind, name, task="classes"):
    return entry_of(kind).parameter(task, name)


def test_default_values_follow_the_kind_of_number():
    assert default_values(parameter("tree", "max_depth"), 5, 7) == (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, None)
    assert default_values(parameter("tree", "min_samples_leaf"), 100, 7) == (10, 20, 50, 100, 200, 500, 1000)
    assert default_values(parameter("forest", "max_features"), "sqrt", 4) == (1, 2, 3, 4)
    assert default_values(parameter("forest", "max_features"), "sqrt", 100) == (
        1, 2, 3, 5, 8, 13, 22, 36, 60, 100,
    )  # fmt: skip
    assert default_values(parameter("boosting", "learning_rate"), 0.1, 7) == (
        0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0,
    )  # fmt: skip
    assert default_values(parameter("boosting", "reg_lambda"), 0.0, 7)[:3] == (0.0, 0.0003, 0.001)
    assert default_values(parameter("boosting", "subsample"), 1.0, 7) == tuple(k / 10 for k in range(1, 11))
    assert default_values(parameter("tree", "class_weight"), None, 7) == ("balanced", None)
    assert default_values(parameter("forest", "bootstrap"), True, 7) == (False, True)


@pytest.mark.parametrize(
    ("kind", "name", "text", "values"),
    [
        ("tree", "max_depth", "1, 3,5", (1, 3, 5)),
        ("tree", "max_depth", "1..4, no limit", (1, 2, 3, 4, None)),
        ("tree", "max_depth", "2 to 8 by 3", (2, 5, 8)),
        ("tree", "max_depth", "1..1000", (1, 2, 5, 10, 22, 46, 100, 215, 464, 1000)),
        ("boosting", "learning_rate", "0.1; 0.2", (0.1, 0.2)),
        ("boosting", "learning_rate", "0.1..0.3 by 0.1", (0.1, 0.2, 0.3)),
        ("boosting", "learning_rate", "0.001..0.5", (0.001, 0.002, 0.004, 0.0079, 0.016, 0.032, 0.063,
                                                     0.13, 0.25, 0.5)),
        ("forest", "max_features", "1..3, sqrt, all columns, 0.5", (1, 2, 3, "sqrt", None, 0.5)),
        ("tree", "criterion", "gini, Entropy", ("gini", "entropy")),
        ("forest", "bootstrap", "yes, no", (True, False)),
        ("adaboost", "tol", "1e-4, 0.01", (0.0001, 0.01)),
    ],
)  # fmt: skip
def test_values_are_read_as_a_person_types_them(kind, name, text, values):
    assert read_values(parameter(kind, name), text) == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no value to try"),
        (" , ", "has no value to try"),
        ("0", "max_depth is 0; enter a whole number from 1"),
        ("two", "max_depth is 'two'; enter"),
        ("1.5", "max_depth is 1.5"),
        ("3, 1..4", "3 is there twice"),
        ("4..1", "4..1 is no range"),
        ("1..x", "1..x is no range"),
        ("1..9 by 0", "step 0 is too small"),
        ("1..1000 by 1", "too small"),
    ],
)
def test_what_is_no_list_of_values_is_refused(text, message):
    with pytest.raises(ParameterError, match=message):
        read_values(parameter("tree", "max_depth"), text)


def test_layers_are_read_and_written_with_semicolons():
    layers = parameter("networks", "hidden_layer_sizes")
    assert default_values(layers, (64, 64), 7) == (
        (16,), (16, 16), (32,), (32, 32), (64,), (64, 64), (128,), (128, 128)
    )  # fmt: skip
    assert (7, 5) in default_values(layers, (7, 5), 7)
    values = ((), (8,), (64, 32))
    assert values_text(layers, values) == "none; 8; 64, 32"
    assert read_values(layers, "none; 8; 64, 32") == values
    assert read_values(layers, "64, 32") == ((64, 32),)
    for text in ("8; 8", "8; x", "0; 8", ";"):
        with pytest.raises(ParameterError):
            read_values(layers, text)


def test_layers_are_tuned_the_fewest_units_are_simplest_and_a_project_keeps_them(session, tmp_path):
    document, run_id = session.document, session.document.add_run("networks")
    for name, value in {"n_estimators": 1, "max_epochs": 2}.items():
        document.set_parameter(run_id, name, value)
    plan = Plan({"hidden_layer_sizes": ((4, 4), (), (2,))}, "accuracy")
    wait_for(session.tuner.ended, lambda: session.tuner.start(run_id, plan))
    search = document.run(run_id).tuning.search
    assert search.is_done.all(), search.errors
    np.testing.assert_allclose(search.complexity(), [1, 0, 0.5])
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    (record,) = reopened(tmp_path / "p.treewright").runs.values()
    again = record.tuning.search
    assert again.values == search.values
    np.testing.assert_array_equal(again.fold_scores, search.fold_scores)


@pytest.mark.parametrize(
    ("kind", "grid", "simpler"),
    [
        ("networks", {"n_estimators": (1, 5), "weight_decay": (0.0, 0.1)}, ("smaller", "larger")),
        ("networks", {"dropout": (0.0, 0.5), "max_epochs": (1, 9)}, ("larger", "smaller")),
        ("svm", {"C": (1.0, 10.0), "gamma": (0.1, 1.0)}, ("smaller", "smaller")),
        ("svm", {"gamma": (None, 1.0)}, ()),  # None is a number that the columns tell
        ("naive_bayes", {"var_smoothing": (0.0, 0.1)}, ("larger",)),
        ("polynomial", {"degree": (1, 9), "alpha": (0.0, 1.0)}, ("smaller", "larger")),
    ],
)
def test_the_simpler_values_are_known_of_models_without_trees(kind, grid, simpler):
    document = open_flowers()
    assert tuple(_orders(inputs_of(document, kind), Plan(grid, "accuracy")).values()) == simpler
