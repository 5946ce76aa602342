"""What is other now than when a study was made: target, columns, rows and models, also from a project."""

from dataclasses import replace

import numpy as np
import pytest

from engine.monitor import NULL_MONITOR
from workbench import bias_variance, bias_variance_choice, many_fits, tree_averages
from workbench.bias_variance import BOOTSTRAP
from workbench.datasets import make_table
from workbench.document import Document
from workbench.fit_basis import basis_from_json, basis_of, what_differs_from
from workbench.project import load_project, save_project
from workbench.project.format import plain
from workbench.runs import SplitSettings
from workbench.training_work import training_inputs

RNG = np.random.default_rng(0)
COLUMNS = {name: RNG.normal(size=60).tolist() for name in ("a", "b", "y", "z")}
STUDIES = {
    "bias_variance": (
        bias_variance,
        bias_variance.run_bias_variance,
        bias_variance_choice.settings_for,
        "parts",
    ),
    "many_fits": (many_fits, many_fits.run_many_fits, many_fits.settings_for, "curves"),
    "averages": (tree_averages, tree_averages.run_averages, tree_averages.settings_for, "variances"),
}


@pytest.fixture
def document(qapp):
    document = Document()
    document.open_table(make_table("t", COLUMNS))
    document.set_target("y")
    document.add_run("forest")
    document.set_parameter(document.current_run_id, "n_estimators", 3)
    return document


def set_column_aside(document):
    document.set_roles(["b"], "ignored")


def choose_target(document):
    document.set_target("z")
    document.set_roles(["y"], "feature")


def deal_again(document):
    document.set_split(SplitSettings(seed=7))


def change_model(document):
    document.set_parameter(document.current_run_id, "max_depth", 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_column_aside, "with other columns"),
        (choose_target, "for another target"),
        (deal_again, "on other training rows"),
        (change_model, "for another model or other settings of it"),
    ],
)
def test_what_is_other_is_told_and_gone_with_undo(document, change, words):
    inputs = training_inputs(document, document.current_run_id)
    before = basis_from_json(plain(basis_of(inputs)))
    n_steps = document.undo_stack.index()
    change(document)
    now = basis_of(training_inputs(document, document.current_run_id))
    assert what_differs_from(before, now) == words
    document.undo_stack.setIndex(n_steps)
    assert what_differs_from(before, basis_of(training_inputs(document, document.current_run_id))) == ""


def test_older_projects_kept_none_and_claim_nothing(document):
    now = basis_of(training_inputs(document, document.current_run_id))
    assert basis_from_json(None) is None
    assert what_differs_from(None, now) == ""


@pytest.mark.parametrize("name", list(STUDIES))
def test_each_study_tells_a_model_that_was_changed_since(document, tmp_path, name):
    module, run, settings_for, kept = STUDIES[name]
    settings = replace(settings_for(document), how=BOOTSTRAP, n_sets=2)
    made = run(module.inputs_of(document, settings), NULL_MONITOR)
    document.attach_found(**{kept: made})
    save_project(document.snapshot(), tmp_path / "p.treewright", True)
    document.restore(load_project(tmp_path / "p.treewright"))
    found = getattr(document.studies, kept)
    assert found.basis == made.basis
    assert module.what_changed(found, document, found.settings) == ""
    document.set_parameter(document.current_run_id, "min_samples_leaf", 9)
    told = module.what_changed(found, document, found.settings)
    assert told.endswith("for another model or other settings of it")
    document.undo_stack.undo()
    document.set_parameter(document.current_run_id, "n_estimators", 4)
    is_varied = name != "many_fits"
    assert bool(module.what_changed(found, document, found.settings)) != is_varied
