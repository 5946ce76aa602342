import contextlib
import gc
import random
import weakref
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from tests.workbench.making import Session, flowers, open_flowers
from workbench.datasets import make_table
from workbench.document import Document
from workbench.exports import export_model
from workbench.project import load_project
from workbench.readers import read_table
from workbench.runs import SplitSettings
from workbench.samples import load_sample

pytestmark = pytest.mark.usefixtures("qapp")


def snapshot(document):
    """Everything that undo must bring back."""
    return (
        document.table.fingerprint if document.table else None,
        tuple((c.name, c.kind) for c in document.table.columns) if document.table else None,
        document.roles,
        document.is_classification,
        document.event_class,
        document.split,
        None if document.parts is None else document.parts.tobytes(),
        [(r.run_id, r.name, r.spec, r.state, id(r.result)) for r in document.runs.values()],
    )


SIGNALS = (
    "table_changed",
    "columns_changed",
    "run_added",
    "run_removed",
    "run_changed",
    "parameter_changed",
    "current_run_changed",
    "dirty_changed",
    "message_posted",
)


class Told:
    """Counts the signals of a document."""

    def __init__(self, document):
        self.names = []
        for name in SIGNALS:
            getattr(document, name).connect(
                lambda *arguments, name=name: self.names.append((name, *arguments))
            )

    def take(self):
        names, self.names = self.names, []
        return names


def test_a_new_document_is_empty_and_clean():
    document = Document()
    assert (document.table, document.target, document.features, document.classes) == (None, None, [], ())
    assert (document.parts, document.runs, document.current_run, document.is_dirty) == (None, {}, None, False)
    with pytest.raises(DataError, match="no table is open"):
        document.add_run("boosting")


def test_a_sample_opens_with_its_target():
    document = Document()
    told = Told(document)
    document.open_table(load_sample("penguins"))
    assert document.target == "species"
    assert document.classes == ("Adelie", "Chinstrap", "Gentoo")
    assert document.event_class is None
    assert document.is_classification
    assert "species" not in document.features
    assert told.take() == [("table_changed",), ("columns_changed",)]
    counts = np.bincount(document.parts)
    assert counts.sum() == 344
    assert abs(counts[0] - 0.6 * 344) <= 2
    assert not document.is_dirty


def test_rows_without_target_are_in_no_part_and_counted():
    table = make_table("t", {"x": range(40), "y": [None, None, *("ab" * 19)]})
    document = Document()
    document.open_table(table)
    document.set_roles(["x"], "feature")
    document.set_target("y")
    assert document.parts[:2].tolist() == [255, 255]
    assert np.all(document.parts[2:] < 3)
    assert any("2 rows" in message for message in document.messages)


def test_a_second_target_makes_the_first_a_feature():
    document = open_flowers()
    document.set_target("colour")
    assert document.roles["kind"] == "feature"
    assert document.target == "colour"
    document.undo_stack.undo()
    assert document.target == "kind"


def test_roles_are_set_for_several_columns_at_once():
    document = open_flowers()
    document.set_roles(["length", "width"], "ignored")
    assert document.features == ["colour"]
    assert document.undo_stack.count() == 1
    with pytest.raises(ParameterError, match="2 columns cannot all be the target"):
        document.set_roles(["length", "width"], "target")
    with pytest.raises(ParameterError, match="choose one of feature, target"):
        document.set_roles(["length"], "label")


def test_setting_what_is_there_already_pushes_nothing():
    document = open_flowers()
    document.set_target("kind")
    document.set_kind(["colour"], "category")
    document.set_roles(["length"], "feature")
    document.set_split(SplitSettings())
    document.set_as_classes(True)
    assert document.undo_stack.count() == 0


def test_a_kind_that_cells_cannot_have_changes_nothing():
    document = open_flowers()
    before = snapshot(document)
    with pytest.raises(DataError, match="'colour' cannot be read as 'number'"):
        document.set_kind(["width", "colour"], "number")
    assert snapshot(document) == before


def test_a_whole_number_target_is_classes_until_switched():
    table = make_table("t", {"x": range(30), "y": [1, 2, 5] * 10})
    document = Document()
    document.open_table(table)
    document.set_target("y")
    assert document.is_classification
    assert document.classes == ("1", "2", "5")
    run_id = document.add_run("boosting")
    assert document.parameter(run_id, "loss") == "log_loss"
    document.set_as_classes(False)
    assert not document.is_classification
    assert document.classes == ()
    assert document.parameter(run_id, "loss") == "squared_error"  # the form now belongs to numbers
    document.undo_stack.undo()
    assert document.parameter(run_id, "loss") == "log_loss"
    assert document.is_classification


def test_the_event_class_can_be_changed():
    table = make_table("t", {"x": range(20), "y": ["no", "yes"] * 10})
    document = Document()
    document.open_table(table)
    document.set_target("y")
    assert document.event_class == "yes"
    document.set_event_class("no")
    assert document.event_class == "no"
    with pytest.raises(ParameterError, match="choose one of no, yes"):
        document.set_event_class("perhaps")
    document.undo_stack.undo()
    assert document.event_class == "yes"


def test_parts_follow_the_split_and_groups_stay_whole():
    document = open_flowers(n=200)
    document.set_split(SplitSettings(seed=1, train=0.5, validation=0.0, test=0.5))
    assert set(document.parts.tolist()) == {0, 2}
    groups = make_table("t", {"x": range(60), "g": [i // 4 for i in range(60)], "y": ["a", "b", "c"] * 20})
    document.open_table(groups)
    document.set_target("y")
    document.set_roles(["g"], "group")
    parts = document.parts.reshape(15, 4)
    assert np.all(parts == parts[:, :1])
    assert set(parts.ravel().tolist()) == {0, 1, 2}
    with pytest.raises(ParameterError, match="add up to 1"):
        SplitSettings(train=0.5, validation=0.2, test=0.2)


def test_models_are_added_named_duplicated_renamed_deleted():
    document = open_flowers()
    told = Told(document)
    first, second = document.add_run("boosting"), document.add_run("boosting")
    assert [r.name for r in document.runs.values()] == ["Gradient boosting 1", "Gradient boosting 2"]
    assert document.current_run_id == second
    document.set_parameter(first, "n_estimators", 7)
    third = document.duplicate_run(first)
    assert document.run(third).spec == document.run(first).spec
    assert document.run(third).name == "Gradient boosting 3"
    document.rename_run(third, "  small ")
    assert document.run(third).name == "small"
    with pytest.raises(ParameterError, match="the name is empty"):
        document.rename_run(third, " ")
    told.take()
    document.delete_run(third)
    assert told.take() == [
        ("run_removed", third),
        ("current_run_changed", second),
        ("message_posted", "small is gone; Undo brings it back."),
    ]
    document.undo_stack.undo()
    assert list(document.runs) == [first, second, third]
    document.delete_run(first)
    document.undo_stack.undo()
    assert list(document.runs) == [first, second, third]  # back in its old place
    assert document.current_run_id == first


def test_drags_of_one_parameter_are_one_step():
    document = open_flowers()
    run_id, other = document.add_run("boosting"), document.add_run("boosting")
    n_steps = document.undo_stack.count()
    for rate in (0.2, 0.3, 0.4):
        document.set_parameter(run_id, "learning_rate", rate)
    assert document.undo_stack.count() == n_steps + 1
    assert document.undo_stack.undoText() == "Set learning rate"
    document.set_parameter(other, "learning_rate", 0.5)
    document.set_parameter(other, "n_estimators", 5)
    assert document.undo_stack.count() == n_steps + 3
    document.undo_stack.undo()
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.parameter(run_id, "learning_rate") == 0.1
    document.undo_stack.redo()
    assert document.parameter(run_id, "learning_rate") == 0.4


def test_a_drag_back_to_the_start_leaves_nothing_to_undo():
    document = open_flowers()
    run_id = document.add_run("boosting")
    n_steps = document.undo_stack.count()
    for rate in (0.2, 0.3, 0.1):
        document.set_parameter(run_id, "learning_rate", rate)
    assert document.undo_stack.count() == n_steps
    assert document.parameter(run_id, "learning_rate") == 0.1


def test_parameters_are_checked_before_anything_changes():
    document = open_flowers()
    run_id = document.add_run("boosting")
    with pytest.raises(ParameterError, match="learning_rate is -1; enter a number above 0"):
        document.set_parameter(run_id, "learning_rate", -1)
    with pytest.raises(ParameterError, match=r"has no parameter 'eta'; it has .*n_estimators"):
        document.set_parameter(run_id, "eta", 0.1)
    assert document.parameter(run_id, "learning_rate") == 0.1


def test_dirty_follows_the_stack_and_saving(tmp_path):
    document = open_flowers()
    told = Told(document)
    run_id = document.add_run("boosting")
    assert ("dirty_changed", True) in told.take()
    document.mark_saved(tmp_path / "a.treewright")
    assert told.take() == [("dirty_changed", False)]
    assert document.path == tmp_path / "a.treewright"
    document.set_parameter(run_id, "n_estimators", 3)
    document.undo_stack.undo()
    assert [name for name in told.take() if name[0] == "dirty_changed"] == [
        ("dirty_changed", True),
        ("dirty_changed", False),
    ]
    document.set_view_state("open", "tree")
    document.select_run(None)
    assert not document.is_dirty


def test_a_model_file_whose_model_was_deleted_leaves_nothing_to_save(tmp_path):
    session = Session(open_flowers())
    export_model(session.document.run(session.train("tree")).result, tmp_path / "m.tree.json")
    session.close()
    document, told = Document(), []
    document.restore(load_project(tmp_path / "m.tree.json"))
    document.dirty_changed.connect(told.append)
    document.rename_run("run1", "mine")
    document.delete_run("run1")
    assert document.is_empty
    assert not document.is_dirty
    document.undo_stack.undo()
    assert document.is_dirty, "it was renamed"
    document.undo_stack.undo()
    assert not document.is_dirty
    assert told == [True, False, True, False]


def test_a_document_goes_with_its_last_reference_not_as_a_cycle():
    """Steps that the collector freed before their stack, which deletes them too, ended the process."""
    gc.disable()
    try:
        document = open_flowers()
        run_id = document.add_run("tree")
        document.set_parameter(run_id, "max_depth", 3)
        document.set_parameter(run_id, "max_depth", 4)
        document.rename_run(run_id, "mine")
        document.delete_run(run_id)
        document.undo_stack.undo()
        document.set_target("colour")
        gone = weakref.ref(document)
        del document
        assert gone() is None
    finally:
        gc.enable()


def test_opening_another_table_drops_models_and_steps():
    document = open_flowers()
    run_id = document.add_run("boosting")
    told = Told(document)
    document.open_table(load_sample("penguins"))
    names = [name for name, *_ in told.take()]
    assert names[:2] == ["run_removed", "current_run_changed"]
    assert "table_changed" in names
    assert document.runs == {}
    assert document.undo_stack.count() == 0
    assert not document.is_dirty
    with pytest.raises(DataError, match="was deleted"):
        document.run(run_id)


def test_rereading_keeps_roles_and_can_be_undone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("land,wert\n" + "NA,1\nDE,2\nFR,3\n" * 10)
    document = Document()
    document.open_table(read_table(path))
    document.set_target("land")
    assert document.table.column("land").n_missing == 10
    options = document.table.options
    document.reread(replace(options, column_tokens={"land": ("",)}))
    assert document.table.column("land").levels == ("DE", "FR", "NA")
    assert document.target == "land"
    document.undo_stack.undo()
    assert document.table.column("land").n_missing == 10
    document.open_table(flowers())
    with pytest.raises(DataError, match="no file to read differently"):
        document.reread(options)


def test_rereading_keeps_kinds_chosen_by_hand_where_the_cells_allow_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code;size;y\n" + "1;1,5;a\n2;2,5;b\n3;3,5;a\n" * 20)
    document = Document()
    document.open_table(read_table(path))
    document.set_kind(["code", "size"], "category")
    assert document.table.column("code").is_kind_chosen
    document.reread(replace(document.table.options, decimal="."))
    assert document.table.column("code").kind == "category"
    assert document.table.column("y").kind == "category"
    assert not document.table.column("y").is_kind_chosen
    document.set_kind(["code"], "number")
    assert not document.table.column("code").is_kind_chosen, "this is what would be guessed"


def random_change(document, rng):
    """Make one change by chance; refusals are part of the walk."""
    runs = list(document.runs)
    columns = list(document.roles)
    changes = [
        lambda: document.add_run("boosting"),
        lambda: document.set_roles([rng.choice(columns)], rng.choice(["feature", "ignored", "target", "id"])),
        lambda: document.set_target(rng.choice(columns)),
        lambda: document.set_kind([rng.choice(columns)], rng.choice(["number", "category", "text"])),
        lambda: document.set_as_classes(rng.random() < 0.5),
        lambda: document.set_split(SplitSettings(seed=rng.randrange(3))),
    ]
    if runs:
        run_id = rng.choice(runs)
        changes += [
            lambda: document.rename_run(run_id, f"model {rng.randrange(5)}"),
            lambda: document.duplicate_run(run_id),
            lambda: document.delete_run(run_id),
            lambda: document.set_parameter(run_id, "learning_rate", rng.choice([0.1, 0.2, 0.3])),
            lambda: document.set_parameter(run_id, "n_estimators", rng.choice([10, 100])),
        ]
    with contextlib.suppress(DataError, ParameterError):
        rng.choice(changes)()


@pytest.mark.parametrize("seed", range(10))
def test_a_random_walk_returns_to_its_start(seed):
    document, rng = open_flowers(n=30), random.Random(seed)
    states = [(document.undo_stack.count(), snapshot(document))]
    for _ in range(60):
        n_before = document.undo_stack.index()
        random_change(document, rng)
        if document.undo_stack.index() > n_before:
            states.append((document.undo_stack.index(), snapshot(document)))
        elif document.undo_stack.index() < n_before:  # a drag back: its step is gone
            states = [state for state in states if state[0] <= document.undo_stack.index()]
        else:  # merged into the last step
            states[-1] = (states[-1][0], snapshot(document))
    end = snapshot(document)
    for index, state in reversed(states):
        document.undo_stack.setIndex(index)
        assert snapshot(document) == state
    assert not document.is_dirty
    document.undo_stack.setIndex(document.undo_stack.count())
    assert snapshot(document) == end


def test_whoever_hears_of_another_task_finds_the_parameters_of_that_task():
    document = Document()
    document.open_table(make_table("two targets", {"x": range(40), "y": ["a", "b"] * 20, "z": range(40)}))
    document.set_target("y")
    run_id = document.add_run("tree")
    seen = []
    for signal in (document.columns_changed, document.run_changed):
        signal.connect(lambda *_: seen.append((document.task, document.parameter(run_id, "criterion"))))
    document.set_target("z")
    document.undo_stack.undo()
    numbers, classes = ("numbers", "squared_error"), ("classes", "gini")
    assert seen == [numbers, numbers, classes, classes]
    assert document.undo_stack.undoText() == "Add decision tree"


def test_a_model_that_goes_and_comes_back_is_told():
    document = open_flowers()
    run_id = document.add_run("tree")
    document.post_message("Decision tree 1 has 6 leaves again.")
    document.undo_stack.undo()
    assert document.messages[-1] == "Decision tree 1 is gone; Redo brings it back."
    document.undo_stack.redo()
    assert document.messages[-1] == "Decision tree 1 is back."
    document.delete_run(run_id)
    assert document.messages[-1] == "Decision tree 1 is gone; Undo brings it back."
    document.undo_stack.undo()
    assert document.messages[-1] == "Decision tree 1 is back."
