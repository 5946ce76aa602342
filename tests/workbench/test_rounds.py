"""Ensembles by rounds: what is looked at, what is kept, undo and redo, and trainings that go on."""

import numpy as np
import pytest

from engine.errors import DataError
from engine.monitor import FitMonitor
from tests.workbench.making import Session, flowers, open_flowers, wait_for
from workbench import rounds
from workbench.catalog import CATALOG
from workbench.datasets import feature_frame
from workbench.project import load_project, save_project
from workbench.selection import Selection

KINDS = [key for key, entry in CATALOG.items() if entry.is_ensemble]
FEW = {"n_estimators": 8}


@pytest.fixture
def session(qapp):
    made = Session(open_flowers())
    yield made
    made.close()


@pytest.fixture(params=KINDS)
def trained(request, session):
    run_id = session.train(request.param, **FEW)
    return session, run_id, session.document.run(run_id).result


def answers(result, table):
    return result.estimator.predict_proba(feature_frame(table, result.features))


def test_looking_at_the_first_rounds_answers_as_the_truncated_model_does(trained):
    session, _run_id, result = trained
    for n_rounds in (1, 3, 8):
        seen = rounds.looked_at(result, n_rounds)
        expected = result.estimator.truncate(n_rounds)
        table = session.document.table
        np.testing.assert_array_equal(
            answers(seen, table), expected.predict_proba(feature_frame(table, result.features))
        )
        assert seen.scores is result.scores
        assert len(seen.trees) == n_rounds * rounds.trees_a_round(result)
    for wrong in (0, 9):
        with pytest.raises(DataError, match="choose from 1 to 8"):
            rounds.looked_at(result, wrong)


def test_keeping_rounds_is_one_undo_step_and_all_of_the_model_is_of_them(trained):
    session, run_id, result = trained
    document, n_steps = session.document, session.document.undo_stack.count()
    document.keep_rounds(run_id, 3)
    kept = document.run(run_id).result
    assert document.undo_stack.count() == n_steps + 1
    assert kept.n_rounds == 3
    assert len(kept.estimator.estimators_) == 3
    assert document.parameter(run_id, "n_estimators") == kept.spec.parameters["n_estimators"] == 3
    assert not document.run(run_id).is_outdated
    proba = answers(kept, document.table)
    is_validation = kept.parts == 1
    np.testing.assert_array_equal(kept.scores["validation"].proba, proba[is_validation])
    np.testing.assert_array_equal(kept.importances, kept.estimator.feature_importances_)
    if result.curve is not None:
        np.testing.assert_array_equal(kept.curve.train, result.curve.train[:4])
        np.testing.assert_array_equal(kept.curve.validation, result.curve.validation[:4])
        assert kept.curve.best_round == int(np.argmin(result.curve.validation[1:4])) + 1
    document.undo_stack.undo()
    assert document.run(run_id).result is result
    assert document.parameter(run_id, "n_estimators") == 8
    document.undo_stack.redo()
    assert document.run(run_id).result is kept


def test_training_anew_with_the_kept_setting_makes_the_kept_model(trained):
    session, run_id, _result = trained
    session.document.keep_rounds(run_id, 3)
    kept = session.document.run(run_id).result
    session.retrain(run_id)
    again = session.document.run(run_id).result
    assert again is not kept
    np.testing.assert_array_equal(
        answers(again, session.document.table), answers(kept, session.document.table)
    )


def test_undo_after_another_training_leaves_that_alone(trained):
    session, run_id, _result = trained
    session.document.keep_rounds(run_id, 3)
    session.retrain(run_id)
    again = session.document.run(run_id).result
    session.document.undo_stack.undo()
    assert session.document.run(run_id).result is again
    assert session.document.parameter(run_id, "n_estimators") == 3


def test_a_kept_model_is_saved_and_read_back(trained, tmp_path):
    session, run_id, _result = trained
    session.document.keep_rounds(run_id, 3)
    save_project(session.document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright")
    record = read.runs[0]
    assert record.result.n_rounds == 3
    assert record.spec.parameters["n_estimators"] == 3
    np.testing.assert_array_equal(
        answers(record.result, session.document.table),
        answers(session.document.run(run_id).result, session.document.table),
    )


def test_single_trees_have_no_rounds_to_keep(session):
    run_id = session.train("tree")
    assert not rounds.has_rounds(session.document.run(run_id).result)
    assert not rounds.can_go_on(session.document.run(run_id).result)
    with pytest.raises(DataError, match="choose a forest or boosting"):
        session.document.keep_rounds(run_id, 1)


def test_rounds_of_a_table_read_differently_are_not_kept(trained):
    session, run_id, result = trained
    with pytest.raises(DataError, match="it had 120 rows, now 60"):
        rounds.keep_rounds(result, flowers(60), 2)
    assert session.document.run(run_id).result is result


def test_more_rounds_equal_a_training_in_one_go_where_a_kind_can_go_on(trained):
    session, run_id, result = trained
    document, trainer = session.document, session.trainer
    if not rounds.can_go_on(result):
        assert not trainer.add_rounds(run_id, 4)
        assert "train it anew with more rounds" in document.messages[-1]
        return
    wait_for(trainer.ended, lambda: trainer.add_rounds(run_id, 4))
    longer = document.run(run_id).result
    assert longer.n_rounds == 12
    assert document.run(run_id).state == "done"
    assert document.parameter(run_id, "n_estimators") == 12
    assert result.n_rounds == len(result.estimator.estimators_) == 8  # the one on screen did not grow
    in_one_go = session.train(document.run(run_id).spec.kind, n_estimators=12)
    np.testing.assert_array_equal(
        answers(longer, document.table), answers(document.run(in_one_go).result, document.table)
    )
    document.undo_stack.undo()  # the other model
    while document.run(run_id).result is longer:
        document.undo_stack.undo()
    assert document.run(run_id).result is result
    assert document.parameter(run_id, "n_estimators") == 8


def test_a_selection_holds_the_round_and_brings_its_tree_along(trained):
    _session, _run_id, result = trained
    selection, told = Selection(), []
    selection.preview_changed.connect(lambda: told.append(selection.rounds_of(result)))
    assert selection.rounds_of(result) == 8
    n_a_round = rounds.trees_a_round(result)
    selection.select_tree(n_a_round - 1)
    selection.look_at_rounds(result, 5)
    assert selection.rounds_of(result) == 5
    assert selection.tree_idx == 5 * n_a_round - 1  # of the same class
    assert len(selection.preview_of(result).estimator.estimators_) == 5
    selection.look_at_rounds(result, 5)
    selection.look_at_rounds(result, 8)
    assert selection.preview_of(result) is None
    assert told == [5, 8]


def test_the_round_of_one_model_is_not_that_of_another(session):
    first, second = (session.document.run(session.train("forest", **FEW)).result for _ in range(2))
    selection = Selection()
    selection.look_at_rounds(first, 3)
    assert selection.rounds_of(first) == 3
    assert selection.rounds_of(second) == 8


@pytest.mark.parametrize(
    ("kind", "parameters", "why"),
    [
        ("boosting", {"early_stopping": True, "tol": 100.0}, "switch Stop early off and train it anew"),
        ("adaboost", {"max_depth": None, "min_samples_leaf": 1}, "fits all rows; train it anew"),
    ],
)
def test_where_no_round_can_be_added_it_says_why_and_nothing_changes(session, kind, parameters, why):
    document, trainer = session.document, session.trainer
    run_id = session.train(kind, **FEW, **parameters)
    before, n_steps = document.run(run_id), document.undo_stack.count()
    assert before.result.n_rounds < 8
    wait_for(trainer.ended, lambda: trainer.add_rounds(run_id, 4))
    assert document.run(run_id).result is before.result
    assert document.run(run_id).state == before.state
    assert document.run(run_id).spec == before.spec
    assert document.undo_stack.count() == n_steps
    assert document.messages[-1].startswith(f"{before.name}: no round was added: ")
    assert why in document.messages[-1]


class StopsAtOnce(FitMonitor):
    def on_iteration(self, event):
        return True


def test_a_stop_before_a_round_is_added_changes_nothing(trained):
    session, run_id, result = trained
    document = session.document
    before, n_steps = document.run(run_id), document.undo_stack.count()
    if not rounds.can_go_on(result):
        return
    longer = rounds.add_rounds(result, document.table, 4, StopsAtOnce())
    assert rounds.why_none_added(result, longer).endswith("stopped before the first was done.")
    np.testing.assert_array_equal(answers(longer, document.table), answers(result, document.table))
    document.take_more_rounds(run_id, result, longer)
    assert document.run(run_id).result is before.result
    assert document.run(run_id).state == before.state
    assert document.run(run_id).spec == before.spec
    assert document.undo_stack.count() == n_steps
