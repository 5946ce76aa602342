"""Models as settings of other models: data in the document and in files, estimators in a fit."""

import subprocess
import sys

import numpy as np
import pytest

import engine
from engine.errors import DataError, ParameterError
from tests.workbench.making import Session, open_flowers
from workbench.averages import average_runs, why_no_average
from workbench.catalog import adapted_parameters, check_parameter_values, entry_of, start_parameters
from workbench.document import Document
from workbench.fitting import fit_run
from workbench.model_choice import MAX_DEPTH, offers, with_free_name, words_of
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.scripts import make_script
from workbench.training_work import training_inputs

TREE = {"name": "Tree", "kind": "tree", "parameters": {"max_depth": 3}}
FOREST = {"name": "Forest", "kind": "forest", "parameters": {"n_estimators": 4, "random_state": 1}}


def stack(*models, final=TREE, **settings):
    return {"estimators": list(models), "final_estimator": final, "cv": 3, "random_state": 0} | settings


def test_models_as_data_become_estimators():
    made = entry_of("stacking").make("classes", stack(TREE, FOREST))
    (first, tree), (second, forest) = made.estimators
    assert (first, second) == ("Tree", "Forest")
    assert type(tree) is engine.DecisionTreeClassifier
    assert (tree.max_depth, tree.random_state) == (3, None)
    assert (forest.n_estimators, forest.random_state) == (4, 1)
    assert type(made.final_estimator) is engine.DecisionTreeClassifier
    numbers = entry_of("averaging").make("numbers", {"estimators": [TREE]})
    assert type(numbers.estimators[0][1]) is engine.DecisionTreeRegressor


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"estimators": []}, "Base models is empty; choose one model at least"),
        ({"estimators": [TREE, TREE]}, "two models called 'Tree'"),
        ({"estimators": [{**TREE, "kind": "oak"}]}, "there is no kind of model 'oak'"),
        ({"estimators": [{**TREE, "parameters": {"max_depth": -1}}]}, "Base models, Tree: max_depth is -1"),
        ({"estimators": [{**TREE, "parameters": {"leaves": 1}}]}, "has no parameter 'leaves'"),
        ({"estimators": ["tree"]}, "estimators is"),
        ({"final_estimator": {"kind": "tree"}}, "final_estimator is"),
    ],
)
def test_what_is_no_model_is_refused(values, told):
    with pytest.raises(ParameterError, match=told):
        check_parameter_values("stacking", "classes", values)


def test_models_are_not_nested_without_end():
    inner = TREE
    for _ in range(MAX_DEPTH):
        inner = {"name": "Stack", "kind": "stacking", "parameters": {"estimators": [inner]}}
    check_parameter_values("stacking", "classes", inner["parameters"])
    with pytest.raises(ParameterError, match="nested deeper"):
        check_parameter_values("stacking", "classes", {"estimators": [inner]})


def test_offers_are_the_catalog_and_trained_models(qapp):
    session = Session(open_flowers())
    run_id = session.train("tree", max_depth=2)
    session.document.add_run("forest")  # not trained
    parameter = entry_of("stacking").parameter("classes", "estimators")
    found = offers(parameter, "classes", 120, session.document.runs.values())
    assert [offer.title for offer in found if offer.is_of_run] == [session.document.run(run_id).name]
    assert found[-1].model["parameters"]["max_depth"] == 2
    kinds = [offer.model["kind"] for offer in found]
    assert "tree" in kinds
    assert "stacking" not in kinds
    assert all("random_state" not in offer.model["parameters"] for offer in found if not offer.is_of_run)
    for offer in found:
        check_parameter_values("stacking", "classes", {"estimators": [offer.model]})
    session.close()


def test_names_are_made_different_and_legal():
    assert with_free_name(TREE, ["Tree", "Tree 2"])["name"] == "Tree 3"
    assert with_free_name({**TREE, "name": "a__b"}, [])["name"] == "a_b"
    assert words_of(None, "k-NN and SVM") == "k-NN and SVM"
    assert words_of([TREE, FOREST], "") == "Tree, Forest"


def test_another_task_keeps_the_models_that_learn_it():
    kept = adapted_parameters("stacking", "numbers", 100, stack(TREE, FOREST))
    assert [model["name"] for model in kept["estimators"]] == ["Tree", "Forest"]
    only_classes = {"name": "Tree", "kind": "tree", "parameters": {"criterion": "entropy"}}
    assert adapted_parameters("stacking", "numbers", 100, stack(only_classes))["estimators"] is None


@pytest.mark.parametrize("target", ["kind", "size"])
def test_a_stack_is_kept_in_a_project_with_what_it_said_out_of_fold(qapp, tmp_path, target):
    from engine.stacking.leakage import check_leakage

    session = Session(open_flowers(target))
    run_id = session.train("stacking", **stack(TREE, FOREST, n_repeats=2))
    document, record = session.document, session.document.run(run_id)
    assert set(record.result.scores) == {"train", "validation", "test"}
    save_project(document, tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright").runs[0]
    assert not read.is_outdated
    before, after = record.result.estimator, read.result.estimator
    np.testing.assert_array_equal(before.oof_repeats_, after.oof_repeats_)
    np.testing.assert_array_equal(before.oof_fold_, after.oof_fold_)
    np.testing.assert_array_equal(before.oof_predictions_, after.oof_predictions_)
    assert check_leakage(after) == check_leakage(before)
    for part, scores in record.result.scores.items():
        np.testing.assert_array_equal(read.result.scores[part].prediction, scores.prediction)
    session.close()


def test_groups_of_the_table_reach_the_stack(qapp):
    from engine.stacking.leakage import check_leakage

    document = open_flowers()
    document.set_roles(["colour"], "group")
    run_id = document.add_run("stacking")
    for name, value in stack(TREE, folds="grouped", cv=2).items():
        document.set_parameter(run_id, name, value)
    result = fit_run(training_inputs(document, run_id))
    groups = document.table.column("colour").label_codes()[0][result.parts == 0]
    assert check_leakage(result.estimator, groups).is_clean


def test_a_script_makes_the_same_stack(qapp, tmp_path):
    document = Document()
    document.open_table(load_sample("darts"))
    run_id = document.add_run("stacking")
    for name, value in stack(TREE, FOREST).items():
        document.set_parameter(run_id, name, value)
    result = fit_run(training_inputs(document, run_id))
    document.begin_training(run_id)
    document.apply_result(run_id, result)
    path = tmp_path / "made.py"
    path.write_text(make_script(document, run_id), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    accuracy = result.scores["test"].metrics["accuracy"].value
    assert f"test accuracy {accuracy!r} " in done.stdout


def test_trained_models_are_averaged_as_they_are(qapp, tmp_path):
    session = Session(open_flowers())
    document = session.document
    first, second = session.train("tree", max_depth=2), session.train("forest", n_estimators=4)
    records = [document.run(first), document.run(second)]
    result = average_runs(records, document.table)
    assert result.estimator.estimators_ == [record.result.estimator for record in records]
    proba = [record.result.scores["test"].proba for record in records]
    np.testing.assert_allclose(result.scores["test"].proba, np.mean(proba, axis=0))
    run_id = document.add_trained("Average models", "Averaging", result.spec, result)
    assert document.run(run_id).state == "done"
    assert not document.run(run_id).is_outdated
    with pytest.raises(DataError, match="no script repeats"):
        make_script(document, run_id)
    save_project(document, tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright").runs[2].result
    np.testing.assert_array_equal(read.scores["test"].proba, result.scores["test"].proba)
    document.undo_stack.undo()
    assert run_id not in document.runs
    document.undo_stack.redo()
    session.retrain(run_id)  # copies of the models, with their settings and seeds
    again = document.run(run_id).result
    np.testing.assert_array_equal(again.scores["test"].proba, result.scores["test"].proba)
    session.close()


def test_why_models_are_not_averaged_is_said(qapp):
    session = Session(open_flowers())
    document = session.document
    first = session.train("tree")
    new = document.add_run("tree")
    one, untrained = document.run(first), document.run(new)
    for chosen in ([], [one], [one, untrained]):
        assert why_no_average(chosen, document.table).startswith("Select two trained models")
    document.set_split(type(document.split)(seed=5))
    other = document.run(session.train("tree"))
    assert "was trained on other rows" in why_no_average([one, other], document.table)
    document.set_roles(["size"], "feature")
    document.set_target("size")
    number = document.run(session.train("tree"))
    assert "predicts size" in why_no_average([other, number], document.table)
    session.close()


def test_start_parameters_can_be_trained_with():
    for kind in ("stacking", "averaging"):
        check_parameter_values(kind, "classes", start_parameters(kind, "classes", 100))
