import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.export.json import to_json
from engine.monitor import NULL_MONITOR
from tests.workbench.making import Session, flowers, open_flowers, wait_for
from workbench import fitting
from workbench.apply import apply_model
from workbench.catalog import CATALOG
from workbench.crossvalidation import cross_validate
from workbench.datasets import make_table
from workbench.document import Document
from workbench.editing import grow_below
from workbench.exports import export_model, load_model
from workbench.figures.scores import part_block
from workbench.fitting import fit_run, inputs_of_result
from workbench.jobs import Job
from workbench.readers import read_table
from workbench.readiness import check_ready
from workbench.runs import SplitSettings
from workbench.samples import load_sample
from workbench.scripts import make_script
from workbench.training_work import training_inputs

KINDS = ("tree", "forest", "boosting", "adaboost")
SMALL = {
    "tree": {"min_samples_leaf": 2},
    "forest": {"n_estimators": 12},
    "boosting": {"n_estimators": 12, "min_samples_leaf": 3},
    "adaboost": {"n_estimators": 12},
}


@pytest.fixture
def session(qapp):
    session = Session(open_flowers())
    yield session
    session.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["kind", "size"])
def test_every_kind_trains_and_is_scored_on_every_part(qapp, kind, target):
    session = Session(open_flowers(target))
    run_id = session.train(kind, **SMALL[kind])
    record = session.document.run(run_id)
    assert (record.state, record.error) == ("done", None)
    result = record.result
    assert sum(scores.n_rows for scores in result.scores.values()) == 120
    assert list(result.scores) == ["train", "validation", "test"]
    for part, scores in result.scores.items():
        if target == "kind":
            assert scores.accuracy.value > 0.7, part
            rows = np.flatnonzero(result.parts == 2)
            told = dict(apply_model(result, session.document.table).predictions)["predicted kind"][rows]
        else:
            assert scores.r2.value > 0.7, part
    if target == "kind":  # the score on screen is that of the predictions that are saved
        labels = np.array([session.document.table.column("kind").text(row) for row in rows])
        assert result.scores["test"].accuracy.value == np.mean(told == labels)
    assert result.importances.sum() == pytest.approx(1.0)
    assert result.n_rounds == (1 if kind == "tree" else 12)
    assert (result.curve is not None) == (kind in ("boosting", "adaboost"))
    if result.curve is not None:
        assert len(result.curve.train) == len(result.curve.validation) == 13
    session.close()


def test_events_reach_the_trainer_before_the_end_and_the_state_follows(session):
    told = []
    session.trainer.started.connect(lambda run_id: told.append(("started", state(run_id))))
    session.trainer.advanced.connect(lambda run_id, events: told.append(("advanced", len(events))))
    session.trainer.ended.connect(lambda run_id: told.append(("ended", state(run_id))))

    def state(run_id):
        return session.document.run(run_id).state

    session.train("boosting", **SMALL["boosting"])
    assert told[0] == ("started", "training")
    assert told[-1] == ("ended", "done")
    assert {name for name, _ in told[1:-1]} == {"advanced"}
    assert sum(n for _, n in told[1:-1]) >= 12
    assert session.trainer.current_job is None


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_stop_keeps_what_is_there(session, kind):
    run_id = session.document.add_run(kind)
    session.document.set_parameter(run_id, "n_estimators", 100_000)
    n_steps = []

    def stop_after_some(_run_id, events):
        n_steps.extend(event.iteration for event in events if event.phase in ("growing", "boosting"))
        if n_steps and n_steps[-1] >= 5:
            session.trainer.stop()

    session.trainer.advanced.connect(stop_after_some)
    session.retrain(run_id)
    record = session.document.run(run_id)
    assert record.state == "stopped"
    assert record.result.stopped
    assert record.result.n_rounds == n_steps[-1] >= 5
    assert record.result.scores["test"].accuracy.value > 0.7
    assert "stopped after" in session.document.messages[-1]


def test_a_stop_before_the_first_round_is_told_as_one(session):
    run_id = session.document.add_run("boosting")
    session.document.set_parameter(run_id, "n_estimators", 100_000)
    inputs = training_inputs(session.document, run_id)

    class StopsAtOnce:
        def on_iteration(self, event):
            return event.train_loss is not None

    result = fit_run(inputs, StopsAtOnce())
    session.trainer._take_result(run_id, "model", inputs, (), None, result, result)
    assert session.document.messages[-1].startswith(
        "model: stopped before its first round: it gives every row the same answer; train it again"
    )


def test_scoring_asks_its_monitor_between_steps_and_gives_the_same_bits(session, monkeypatch):
    document, asked = session.document, []
    result = document.run(session.train("forest", n_estimators=5)).result
    inputs = inputs_of_result(result, document.table)

    class Monitor:
        def on_iteration(self, event):
            asked.append(event.phase)
            return True  # a stop changes nothing here

    monkeypatch.setattr(fitting, "STEP_ROWS", 7)
    again = fitting.score_parts(result.estimator, inputs, inputs.learnable(), Monitor())
    n_rows = [int(np.sum(result.parts == part)) for part in range(3)]
    assert asked == ["scoring"] * sum(-(-n // 7) for n in n_rows)
    for part, scores in result.scores.items():
        assert again[part].metrics == scores.metrics
        np.testing.assert_array_equal(again[part].proba, scores.proba)


def test_trainings_queue_and_a_queued_one_can_be_taken_back(session):
    document, trainer = session.document, session.trainer
    first, second = document.add_run("boosting"), document.add_run("tree")
    document.set_parameter(first, "n_estimators", 100_000)
    ended = []
    trainer.ended.connect(ended.append)

    def begin():
        assert trainer.train(first)
        assert trainer.train(second)
        assert not trainer.train(second)
        assert "is being trained already" in document.messages[-1]
        assert (document.run(first).state, document.run(second).state) == ("training", "queued")
        trainer.stop(second)

    wait_for(trainer.ended, begin)
    assert ended == [second]
    assert document.run(second).state == "new"
    wait_for(trainer.ended, trainer.stop)
    assert document.run(first).state == "stopped"


def test_a_deleted_model_comes_back_without_its_training(session):
    document, trainer = session.document, session.trainer
    run_id = document.add_run("boosting")
    document.set_parameter(run_id, "n_estimators", 100_000)
    wait_for(trainer.started, lambda: trainer.train(run_id))
    document.delete_run(run_id)
    assert trainer.current_job is None
    document.undo_stack.undo()
    assert document.run(run_id).state == "new"
    session.train("tree")  # the lane is free again, and nothing of the old training arrives
    assert document.run(run_id).result is None


def test_later_changes_do_not_reach_a_training_under_way(session):
    document = session.document
    run_id = document.add_run("forest")

    def begin_and_change():
        session.trainer.train(run_id)
        document.set_roles(["width"], "ignored")
        document.set_parameter(run_id, "n_estimators", 3)

    wait_for(session.trainer.ended, begin_and_change)
    record = document.run(run_id)
    assert record.result.features == ("length", "width", "colour")
    assert record.result.n_rounds == 100
    assert record.is_outdated


def test_undoing_an_added_model_keeps_its_training_for_redo(session):
    run_id = session.train("tree")
    result = session.document.run(run_id).result
    session.document.undo_stack.setIndex(0)
    assert session.document.runs == {}
    session.document.undo_stack.redo()
    assert session.document.run(run_id).result is result


def test_a_model_deleted_brought_back_and_trained_before_its_end_was_told_is_trained_to_the_end(session):
    document, trainer = session.document, session.trainer
    run_id, told, again = document.add_run("tree"), [], []

    def train_again():
        document.delete_run(run_id)
        document.undo_stack.undo()
        again.append(trainer.train(run_id))

    def on_changed(_run_id):
        if document.run(run_id).state == "done" and not again:
            trainer.in_turn(train_again)  # the views have the result; `ended` is still to come

    document.run_changed.connect(on_changed)
    trainer.ended.connect(lambda _run_id: told.append(document.runs[run_id].state if again else "deleted"))
    wait_for(trainer.ended, lambda: trainer.train(run_id))
    wait_for(trainer.ended, lambda: None)
    assert told == ["deleted", "done"]
    assert again == [True]
    assert trainer.current_job is None


# ---- refusals ----------------------------------------------------------------------------------


def ready_words(columns, target, split=None, **roles):
    document = Document()
    document.open_table(make_table("t", columns))
    document.set_target(target)
    if split is not None:
        document.set_split(split)
    for name, role in roles.items():
        document.set_roles([name], role)
    return " ".join(check_ready(document))


@pytest.mark.usefixtures("qapp")
def test_what_cannot_be_trained_is_refused_in_words():
    document = Document()
    assert check_ready(document) == ["No table is open; open a file or a sample first."]
    document.open_table(flowers())
    assert "No column is the target" in check_ready(document)[0]
    x = [3, 1, 2, 5] * 5
    assert "'y' has the same value everywhere" in ready_words({"x": x, "y": ["a"] * 20}, "y")
    assert "20 classes in as many rows" in ready_words({"x": x, "y": [f"n{i}" for i in range(20)]}, "y")
    assert "No column has the role feature" in ready_words({"x": x, "y": ["a", "b"] * 10}, "y", x="ignored")
    assert ready_words({"x": x, "y": ["a", "b"] * 10}, "y") == ""


def test_a_refused_training_changes_nothing(session):
    run_id = session.document.add_run("tree")
    session.document.set_roles(["length", "width", "colour"], "ignored")
    assert not session.trainer.train(run_id)
    assert session.document.run(run_id).state == "new"
    assert "role feature" in session.document.messages[-1]


def test_infinite_values_are_refused_by_column_and_row_whatever_their_part(session, tmp_path):
    rows = "\n".join(f"{i % 7 if i not in (11, 30) else 'inf'},{'ab'[i % 2]}" for i in range(40))
    (tmp_path / "t.csv").write_text(f"x,y\n{rows}\n")
    document = session.document
    document.open_table(read_table(tmp_path / "t.csv"))
    document.set_target("y")
    document.set_kind(["x"], "number")
    run_id = document.add_run("tree")
    for seed in range(4):
        document.set_split(SplitSettings(seed=seed))
        assert not session.trainer.train(run_id)
        assert "'x' holds 2 infinite numbers, the first in row 12" in document.messages[-1]
    assert {int(part) for part in document.parts[[11, 30]]} != {0}, "not all in training"
    document.set_column_tokens(["x"], ("inf",))
    session.retrain(run_id)
    assert document.run(run_id).state == "done"


WEIGHTS = {
    "text": (["light", "heavy"] * 20, "'w' is of the kind category"),
    "date": ([f"2020-01-{i % 9 + 1:02}" for i in range(40)], "'w' is of the kind date"),
    "negative": ([1] * 25 + [-2.5] + [1] * 14, "'w' is -2.5 in row 26"),
    "zero": ([0] * 40, "'w' is 0 in every row of training"),
    "missing": ([None] * 40, "No row is left for training"),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_weights_that_are_none_are_refused_by_column_and_row(what):
    weights, words = WEIGHTS[what]
    columns = {"x": list(range(40)), "w": weights, "y": ["a", "b"] * 20}
    for seed in range(3):
        assert words in ready_words(columns, "y", SplitSettings(seed=seed), w="weight", x="feature")


def test_rows_without_weight_or_with_none_are_left_out_and_the_rest_is_trained_on():
    columns = {"x": list(range(40)), "w": [None, 0, 2, 3] * 10, "y": ["a", "b", "b", "a"] * 10}
    assert ready_words(columns, "y", w="weight", x="feature") == ""


def test_ten_thousand_small_classes_are_told_in_one_sentence():
    columns = {"x": [1.5, 2.5, 3.5] * 40, "y": [f"n{i % 60}" for i in range(120)]}
    document = Document()
    document.open_table(make_table("t", columns))
    document.set_target("y")
    assert document.split_notes == ("60 classes have too few rows for every part: used for training alone",)


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_only_constant_columns_train_a_constant_with_a_warning(session, kind):
    session.document.open_table(make_table("flat", {"x": [1.5] * 40, "y": ["a", "b"] * 20}))
    session.document.set_target("y")
    session.document.set_roles(["x"], "feature")
    run_id = session.train(kind)
    assert session.document.run(run_id).state == "done"
    assert "Warning: no column split the rows" in session.document.messages[-1]


def test_a_model_that_asks_something_is_not_warned_of(session):
    session.document.open_table(make_table("two", {"x": [1.5, 2.5] * 20, "y": ["a", "b"] * 20}))
    session.document.set_target("y")
    session.train("tree")
    assert "Warning" not in session.document.messages[-1]


def test_an_error_of_ours_is_told_with_details_and_ends_nothing(session, monkeypatch, caplog):
    from workbench import training_work

    cell = "4711"

    def broken(*_arguments):
        raise RuntimeError(cell)

    monkeypatch.setattr(training_work, "fit_run", broken)
    run_id = session.document.add_run("tree")
    wait_for(session.trainer.crashed, lambda: session.trainer.train(run_id))
    details = session.crashes.pop()
    for told in (details, caplog.text):
        assert ", in broken" in told
        assert "RuntimeError" in told
        assert cell not in told, "an error's own words may quote the table"
    assert session.document.run(run_id).state == "failed"
    monkeypatch.undo()
    session.retrain(run_id)
    assert session.document.run(run_id).state == "done"


# ---- hand edits --------------------------------------------------------------------------------


def facts(document, run_id):
    result = document.run(run_id).result
    applied = dict(apply_model(result, document.table).predictions)
    return (
        to_json(result.estimator),
        [column.tolist() for column in applied.values()],
        {part: scores.metrics for part, scores in result.scores.items()},
        result.importances.tolist(),
    )


def test_prune_undo_redo_restore_predictions_scores_and_file(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=2)
    grown = document.run(run_id).result.tree(0)
    path = (0,) if not grown.is_leaf[grown.node_at((0,))] else (1,)
    before = facts(document, run_id)
    document.prune(run_id, path)
    pruned = facts(document, run_id)
    assert all(one != other for one, other in zip(before[:3], pruned[:3], strict=True))
    assert document.would_lose_edits(run_id)
    assert document.run(run_id).result.n_test_looks == 1
    document.undo_stack.undo()
    assert facts(document, run_id) == before
    assert document.run(run_id).result.tree(0) == grown
    assert not document.would_lose_edits(run_id)
    document.undo_stack.redo()
    assert facts(document, run_id) == pruned


def test_expand_puts_back_what_was_grown_and_leaves_other_cuts(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    grown = document.run(run_id).result.tree(0)
    inner = [grown.path_to(node) for node in range(grown.n_nodes) if not grown.is_leaf[node]]
    deep = max(inner, key=len)
    document.prune(run_id, deep)
    once = document.run(run_id).result.tree(0)
    document.prune(run_id, ())
    assert document.run(run_id).result.tree(0).n_nodes == 1
    document.expand(run_id, ())
    assert document.run(run_id).result.tree(0) == once
    document.expand(run_id, deep)
    assert document.run(run_id).result.tree(0) == grown
    with pytest.raises(DataError, match="nothing was changed"):
        document.expand(run_id, ())
    leaf = int(np.flatnonzero(grown.is_leaf)[0])
    with pytest.raises(DataError, match="leaf already"):
        document.prune(run_id, grown.path_to(leaf))
    document.undo_stack.undo()
    assert document.run(run_id).result.tree(0) == once


def inner_paths(tree):
    return [tree.path_to(node) for node in range(tree.n_nodes) if not tree.is_leaf[node]]


def test_a_split_is_forced_and_what_the_settings_allow_grows_below_it(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=2)
    grown, before = document.run(run_id).result.tree(0), facts(document, run_id)
    feature, middle = "length", 3.0
    document.force_split(run_id, (), feature, middle)
    forced = document.run(run_id).result
    assert forced.tree(0).n_nodes == 3
    assert forced.feature_specs[forced.tree(0).feature[0]].name == feature
    assert forced.tree(0).threshold[0] == middle
    document.grow_below(run_id, (1,))
    below = document.run(run_id).result.tree(0)
    assert below.n_nodes > 3
    assert below.n_children[1] == 0
    assert below.n_node_samples[0] == grown.n_node_samples[0]
    after = facts(document, run_id)
    assert all(one != other for one, other in zip(before[:3], after[:3], strict=True))
    with pytest.raises(DataError, match="nothing else grows below"):
        document.grow_below(run_id, (1,))
    with pytest.raises(DataError, match="all go to one side"):
        document.force_split(run_id, (), feature, 1e9)
    with pytest.raises(ParameterError, match="holds numbers"):
        document.force_split(run_id, (), feature, ["rose"])
    assert facts(document, run_id) == after
    for _ in range(2):
        document.undo_stack.undo()
    assert facts(document, run_id) == before
    assert document.run(run_id).result.tree(0) == grown
    for _ in range(2):
        document.undo_stack.redo()
    assert facts(document, run_id) == after
    document.expand(run_id, ())
    assert document.run(run_id).result.edits == ()
    assert document.run(run_id).result.tree(0) == grown


def test_what_was_pruned_grows_again(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    grown = document.run(run_id).result.tree(0)
    for path in inner_paths(grown):
        document.prune(run_id, path)
        document.grow_below(run_id, path)
        assert document.run(run_id).result.tree(0) == grown
    assert document.run(run_id).result.n_test_looks == 2 * len(inner_paths(grown))


def test_growing_below_that_is_stopped_leaves_the_tree_as_it_was(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    document.prune(run_id, ())
    result = document.run(run_id).result

    class Stop:
        def on_iteration(self, event):
            return True

    with pytest.raises(DataError, match="was stopped"):
        grow_below(result, document.table, (), Stop())
    grown = grow_below(result, document.table, ())
    document.take_edited(run_id, result, grown, "Grow below")
    assert document.run(run_id).result.tree(0) == result.grown_tree
    with pytest.raises(DataError, match="in the meantime"):
        document.take_edited(run_id, result, grown, "Grow below")


def test_missing_values_are_sent_to_the_other_side_and_back(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=2)
    grown = document.run(run_id).result.tree(0)
    path = next(path for path in inner_paths(grown) if grown.n_missing[grown.node_at(path)])
    node, before = grown.node_at(path), facts(document, run_id)
    document.flip_missing(run_id, path)
    flipped = document.run(run_id).result.tree(0)
    assert flipped.missing_child[node] == 1 - grown.missing_child[node]
    first = int(grown.first_child[node])
    moved = flipped.n_node_samples[first : first + 2] - grown.n_node_samples[first : first + 2]
    assert sorted(moved.tolist()) == [-grown.n_missing[node], grown.n_missing[node]]
    assert "now; Undo takes it back." in document.messages[-1]
    after = facts(document, run_id)
    document.flip_missing(run_id, path)
    assert document.run(run_id).result.edits == ()
    assert facts(document, run_id) == before
    document.undo_stack.undo()
    assert facts(document, run_id) == after
    document.undo_stack.undo()
    assert facts(document, run_id) == before
    with pytest.raises(DataError, match="is a leaf"):
        document.flip_missing(run_id, grown.path_to(int(np.flatnonzero(grown.is_leaf)[0])))


def test_changes_by_hand_are_made_again_on_a_tree_trained_anew(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    document.force_split(run_id, (), "length", 3.0)
    document.grow_below(run_id, (1,))
    changed = document.run(run_id).result
    session.retrain(run_id, keeps_edits=True)
    again = document.run(run_id).result
    assert again is not changed
    assert again.edits == changed.edits
    assert again.tree(0) == changed.tree(0)
    assert "2 changes by hand made again" in document.messages[-1]
    document.expand(run_id, ())
    assert document.run(run_id).result.tree(0) == again.grown_tree == changed.grown_tree


def test_changes_that_no_longer_hold_are_told_after_training_anew(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    document.force_split(run_id, (0,), "length", 1.0)
    document.force_split(run_id, (), "width", 0.0)
    document.set_roles(["length"], "ignored")
    session.retrain(run_id, keeps_edits=True)
    result = document.run(run_id).result
    assert [edit.feature for edit in result.edits] == ["width"]
    assert result.tree(0).threshold[0] == 0.0
    assert (
        "1 of 2 changes by hand made again; the new tree has no place for the rest" in document.messages[-1]
    )
    document.prune_to(run_id, None)
    session.retrain(run_id)
    assert document.run(run_id).result.edits == ()
    assert "by hand" not in document.messages[-1]


def test_changes_by_hand_stay_when_the_tree_is_pruned_to_a_price(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=1)
    document.force_split(run_id, (), "length", 3.0)
    document.prune_to(run_id, 0.01)
    result = document.run(run_id).result
    assert [edit.kind for edit in result.edits] == ["cost_complexity", "force_split"]
    assert result.tree(0).threshold[0] == 3.0


def test_a_prune_cannot_be_undone_into_an_older_training(session):
    document = session.document
    run_id = session.train("tree", min_samples_leaf=2)
    document.prune(run_id, ())
    session.retrain(run_id)
    result = document.run(run_id).result
    assert result.edits == ()
    document.undo_stack.undo()
    assert document.run(run_id).result is result


def test_trees_of_ensembles_are_read_only(session):
    run_id = session.train("forest", n_estimators=2)
    with pytest.raises(DataError, match="inside ensembles"):
        session.document.prune(run_id, ())


# ---- cross-validation (D31) --------------------------------------------------------------------


def test_cross_validation_follows_and_lands_in_the_result(session):
    session.trainer.cross_validates = True
    run_id = session.document.add_run("tree")
    wait_for(session.trainer.cross_validation_ended, lambda: session.trainer.train(run_id))
    result = session.document.run(run_id).result
    assert (result.cv.n_folds, result.cv.n_repeats, result.cv.n_rows) == (
        5,
        2,
        int(np.sum(result.parts <= 1)),
    )
    assert len(result.cv.fold_scores["accuracy"]) == 10
    found = result.cv.metrics["accuracy"]
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(np.mean(result.cv.fold_scores["accuracy"]))
    assert not result.cv.stopped


def test_a_training_goes_before_a_cross_validation_which_then_begins_anew(session):
    document, trainer = session.document, session.trainer
    trainer.cross_validates = True
    first, second = document.add_run("forest"), document.add_run("tree")
    told = []
    trainer.ended.connect(lambda run_id: told.append(("trained", run_id)))

    def note_cv(run_id):
        if document.run(run_id).result.cv is not None:
            told.append(("validated", run_id))

    trainer.cross_validation_ended.connect(note_cv)
    wait_for(trainer.cross_validation_started, lambda: trainer.train(first))
    wait_for(trainer.ended, lambda: trainer.train(second))
    while len(told) < 4:
        wait_for(trainer.cross_validation_ended, lambda: None)
    assert told == [("trained", first), ("trained", second), ("validated", first), ("validated", second)]


def test_a_tree_pruned_while_it_is_validated_has_its_cross_validation_when_it_is_whole_again(session):
    document, trainer = session.document, session.trainer
    trainer.cross_validates = True
    run_id = document.add_run("tree")
    wait_for(trainer.cross_validation_started, lambda: trainer.train(run_id))
    wait_for(trainer.cross_validation_ended, lambda: document.prune(run_id, ()))
    assert document.run(run_id).result.cv is None, "it tells of the tree as grown"
    document.undo_stack.undo()
    found = document.run(run_id).result.cv
    assert len(found.fold_scores["accuracy"]) == 10
    document.undo_stack.redo()
    assert document.run(run_id).result.cv is None
    document.expand(run_id, ())
    assert document.run(run_id).result.cv is found


def test_a_cross_validation_that_ends_after_a_prune_was_undone_outlives_redo_and_undo(session):
    document, trainer = session.document, session.trainer
    trainer.cross_validates = True
    run_id = document.add_run("tree")
    wait_for(trainer.cross_validation_started, lambda: trainer.train(run_id))
    document.prune(run_id, ())
    wait_for(trainer.cross_validation_ended, document.undo_stack.undo)
    found = document.run(run_id).result.cv
    assert found is not None
    document.undo_stack.redo()
    document.undo_stack.undo()
    assert document.run(run_id).result.cv is found


def test_a_stopped_cross_validation_says_so(session):
    trainer = session.trainer
    trainer.cross_validates = True
    run_id = session.document.add_run("boosting")
    trainer.cross_validation_advanced.connect(lambda _run_id, _events: trainer.stop())
    wait_for(trainer.cross_validation_ended, lambda: trainer.train(run_id))
    assert session.document.run(run_id).result.cv.stopped
    assert trainer.cross_validation_job is None


@pytest.mark.parametrize("kind", ["tree", "forest", "bagging"])
def test_a_fold_that_cannot_be_trained_on_is_named_with_a_cure(qapp, caplog, kind):
    n, weights = 60, np.zeros(60)
    weights[[7, 9]] = 1.0
    columns = {"x": np.arange(n) * 0.5, "w": weights, "y": [("a", "b")[k % 2] for k in range(n)]}
    document = Document()
    document.open_table(make_table("weighted", columns))
    document.set_target("y")
    document.set_roles(["w"], "weight")
    is_training = document.parts[[7, 9]] == 0
    assert np.count_nonzero(is_training) == 1, "one row alone to train on: the fold that tests it has none"
    session = Session(document, cross_validates=True)
    run_id = document.add_run(kind)
    wait_for(session.trainer.cross_validation_ended, lambda: session.trainer.train(run_id))
    told = document.messages[-1]
    assert re.search(r"was not cross-validated: fold \d+ of 10, trained on \d+ rows: ", told)
    assert "train it again with more rows or other settings" in told
    assert document.run(run_id).result.cv is None
    assert document.run(run_id).result.scores
    assert session.crashes == []
    assert caplog.records == []
    session.close()


def test_a_cross_validation_that_fails_by_our_fault_is_told_with_its_details(session, monkeypatch):
    def fails(_inputs, _monitor):
        raise ZeroDivisionError("a slip")

    monkeypatch.setattr("workbench.crossvalidation.cross_validate", fails)
    trainer, document = session.trainer, session.document
    trainer.cross_validates = True
    run_id = document.add_run("tree")
    wait_for(trainer.cross_validation_ended, lambda: trainer.train(run_id))
    assert "was not cross-validated" in document.messages[-1]
    assert len(session.crashes) == 1
    assert "ZeroDivisionError" in session.crashes[0]


# ---- honesty, field cases ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_coin_flip_labels_are_learned_by_heart_and_shown_as_worthless(qapp, kind):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": np.round(rng.normal(size=1000), 6) for i in range(4)}
    document = Document()
    document.open_table(
        make_table("coins", {**columns, "y": np.array(["heads", "tails"])[rng.integers(0, 2, 1000)]})
    )
    document.set_roles(list(columns), "feature")
    document.set_target("y")
    session = Session(document)
    unlimited = {
        "tree": {"max_depth": None, "min_samples_leaf": 1},
        "forest": {"n_estimators": 60},
        "boosting": {"n_estimators": 150, "learning_rate": 0.5, "min_samples_leaf": 1},
        "adaboost": {"n_estimators": 60, "max_depth": 8},
    }
    result = document.run(session.train(kind, **unlimited[kind])).result
    assert result.scores["train"].accuracy.value == 1.0
    assert 0.4 <= result.scores["test"].accuracy.value <= 0.6
    assert result.scores["test"].part == "test"
    session.close()


@pytest.mark.parametrize("kind", [key for key, entry in CATALOG.items() if "classes" in entry.tasks])
@pytest.mark.parametrize(
    "labels", [["3", "5", "9"], ["no", "yes"], ["1.0", "2.5", "7.25"], ["-1", "1"], ["False", "True"]]
)
def test_c23_labels_keep_their_spelling(qapp, tmp_path, kind, labels):
    rows = "".join(f"{i},{labels[i * len(labels) // 30]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"x,y\n{rows}x,\n")
    table = read_table(tmp_path / "t.csv")
    document = Document()
    document.open_table(table)
    document.set_roles(["x"], "feature")
    document.set_target("y")
    document.set_kind(["x"], "number")
    document.set_as_classes(True)
    assert document.classes == tuple(labels)
    assert any("1 row" in message for message in document.messages)
    session = Session(document)
    own = {"min_samples_leaf": 2} if kind in (*KINDS, "extra_trees") else {}
    result = document.run(session.train(kind, **own)).result
    predictions = apply_model(result, table).predictions
    told = "probability" if result.has_probabilities else "decision value"
    assert [name for name, _ in predictions] == ["predicted y", *(f"{told} of {k}" for k in labels)]
    assert set(predictions[0][1]) == set(labels)
    assert predictions[0][1][0] == labels[0]
    session.close()


def test_c37_a_training_and_a_surface_at_once_give_what_each_gives_alone(session, qtbot):
    from engine.surface import model_surface

    document = session.document
    alone = document.run(session.train("forest", n_estimators=40)).result
    axis = np.linspace(-3.0, 6.0, 200)
    held = np.full(3, np.nan)

    def surface(_monitor):
        return model_surface(alone.estimator, 0, 1, axis, axis, held)

    expected = surface(None)
    run_id = document.duplicate_run(document.current_run_id)
    found, jobs = [], []

    def both():
        for _ in range(20):
            jobs.append(Job(surface))
            jobs[-1].ended.connect(lambda future: found.append(future.result()))
            jobs[-1].start(session.lanes.views)
        session.trainer.train(run_id)

    wait_for(session.trainer.ended, both)
    jobs.append(Job(surface))
    wait_for(jobs[-1].ended, lambda: jobs[-1].start(session.lanes.views))  # the lane's last: all are done
    qtbot.waitUntil(lambda: len(found) == 20)  # of one lane, yet each job tells its end by its own clock
    assert document.run(run_id).result.trees == alone.trees
    assert all(np.array_equal(one, expected) for one in found)


# ---- taking away -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_exported_model_predicts_the_same_bits(session, tmp_path, kind):
    result = session.document.run(session.train(kind, **SMALL[kind])).result
    export_model(result, tmp_path / "m.tree.json")
    again = load_model(tmp_path / "m.tree.json")
    names = "features", "classes", "n_rounds", "target", "event_class"
    assert [getattr(again, name) for name in names] == [getattr(result, name) for name in names]
    assert apply_model(again, session.document.table).predictions[0][0] == f"predicted {result.target}"
    for (_, one), (_, other) in zip(
        apply_model(result, session.document.table).predictions,
        apply_model(again, session.document.table).predictions,
        strict=True,
    ):
        assert np.array_equal(one, other)
    (tmp_path / "m.tree.json").write_text("{}")
    with pytest.raises(DataError, match=r"m\.tree\.json"):
        load_model(tmp_path / "m.tree.json")


def test_model_files_without_metadata_still_open(session, tmp_path):
    """Those of the first version; a damaged entry counts as none."""
    estimator = session.document.run(session.train("tree")).result.estimator
    for metadata in (None, {"target": 3, "event_class": ["rose"]}, {"target": ""}):
        (tmp_path / "m.tree.json").write_text(to_json(estimator, metadata), encoding="utf-8")
        again = load_model(tmp_path / "m.tree.json")
        assert (again.target, again.event_class) == ("prediction", None)
        assert apply_model(again, session.document.table).predictions[0][0] == "predicted prediction"


@pytest.mark.parametrize("target", ["art", "zahl"])
def test_weights_enter_scores_folds_and_the_copied_script(qapp, tmp_path, target):
    rng = np.random.default_rng(0)
    lines = ["x;z;w;art;zahl"]
    for row in range(160):
        x, z = rng.normal(), rng.normal()
        w = "" if row % 23 == 5 else rng.integers(0, 5)  # missing: in no part; 0: in a part, not counted
        lines.append(f"{x};{z};{w};{'ja' if x + rng.normal() > 0 else 'nein'};{x * x + rng.normal()}")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    document = Document()
    document.open_table(read_table(tmp_path / "t.csv"))
    document.set_target(target)
    document.set_roles(["zahl" if target == "art" else "art"], "ignored")
    document.set_roles(["w"], "weight")
    session = Session(document)
    run_id = session.train("tree")
    result = document.run(run_id).result
    measure = "accuracy" if target == "art" else "r2"
    weights = document.table.column("w").values
    rows = np.flatnonzero(result.parts == 2)
    test = result.scores["test"]
    assert test.weights.tolist() == weights[rows].tolist()
    if target == "art":
        by_hand = np.average(test.prediction == test.y_true, weights=weights[rows])
        assert by_hand != np.mean(test.prediction == test.y_true)
        assert test.accuracy.value == pytest.approx(by_hand, rel=1e-12)
    cv = cross_validate(inputs_of_result(result, document.table), NULL_MONITOR)
    assert cv.rows_text.endswith("training and validation rows, weighted by column w")
    plain = cross_validate(replace(inputs_of_result(result, document.table), weight=None), NULL_MONITOR)
    assert cv.metrics[measure].value != plain.metrics[measure].value
    script = tmp_path / "script.py"
    script.write_text(make_script(document, run_id), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = [float(score) for score in re.findall(r"(?:accuracy|R squared) (\S+) ", done.stdout)]
    shown = [scores.metrics[measure].value for scores in result.scores.values()]
    assert told == pytest.approx(shown, rel=1e-12)
    session.close()


@pytest.mark.parametrize(
    ("kind", "sample"), [("tree", "penguins"), ("boosting", "penguins"), ("forest", "diabetes")]
)
def test_a_copied_script_gives_the_same_held_out_score(qapp, tmp_path, kind, sample):
    document = Document()
    document.open_table(load_sample(sample))
    session = Session(document)
    run_id = session.train(kind, **({} if kind == "tree" else {"n_estimators": 8}))
    script = tmp_path / "script.py"
    script.write_text(make_script(document, run_id), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = {
        part: float(score) for part, score in re.findall(r"(\w+) (?:accuracy|R squared) (\S+) ", done.stdout)
    }
    for part, scores in document.run(run_id).result.scores.items():
        metric = scores.metrics["accuracy" if document.is_classification else "r2"]
        name = "training" if part == "train" else part
        assert told[name] == pytest.approx(metric.value, rel=1e-12, abs=1e-12)
    session.close()


@pytest.mark.filterwarnings("ignore::engine.errors.FitWarning")
@pytest.mark.parametrize(
    ("kind", "parameters", "note"),
    [
        ("networks", {"n_estimators": 1, "max_epochs": 1, "batch_size": 5000}, "batch_size is 5000"),
        ("linear", {"max_iter": 1}, "the solver was not done after 1 step"),
        ("boosting", {"n_estimators": 2}, ""),
    ],
)
def test_what_a_fit_says_of_itself_reaches_the_person(session, kind, parameters, note):
    """Case C30 (c): in the message at its end, and beside the scores."""
    run_id = session.train(kind, **parameters)
    result = session.document.run(run_id).result
    beside = [text for text in part_block("m", result, "test").notes if text.startswith("Warning")]
    if note:
        assert f"s. Warning: {note}" in session.document.messages[-1]
        assert beside[0].startswith(f"Warning: {note}")
    else:
        assert "Warning" not in session.document.messages[-1]
        assert beside == []
