"""Changes by hand in a worker: in order, stopped, undone, while models come and go; steps through splits."""

import contextlib

import numpy as np
import pytest

from engine.errors import DataError
from engine.tree.best_first import first_splits
from engine.tree.node_rows import rows_at
from engine.tree.prune import prune
from tests.workbench.making import HeldLane, Session, open_flowers, wait_for
from workbench import editing, steps, tree_editor
from workbench.tree_editor import TreeEditor


class Editing(Session):
    """With an editor whose tables are all too large to be changed at once."""

    def __init__(self, monkeypatch, document):
        monkeypatch.setattr(tree_editor, "SMALL_CELLS", 0)
        super().__init__(document)
        self.editor = TreeEditor(document, self.lanes, self.trainer)

    def hold(self):
        return HeldLane(self.lanes.edits)

    def finish(self, held=None):
        """Let the worker go, and the event loop run until nothing is under way."""

        def go():
            if held is not None:
                held.let_go()

        while self.editor.is_busy or held is not None:
            wait_for(self.editor.changed, go)
            held = None


@pytest.fixture
def session(qapp, monkeypatch):
    session = Editing(monkeypatch, open_flowers())
    yield session
    session.close()


def tree_of(session, run_id):
    return session.document.run(run_id).result.tree(0)


def inner_paths(tree):
    return [tree.path_to(node) for node in range(tree.n_nodes) if not tree.is_leaf[node]]


def test_changes_are_made_in_order_and_each_is_an_undo_step(session):
    run_id, document, editor = session.train("tree", min_samples_leaf=1), session.document, session.editor
    grown, deep = tree_of(session, run_id), max(inner_paths(tree_of(session, run_id)), key=len)
    held = session.hold()
    editor.prune(run_id, deep)
    editor.force_split(run_id, (0,), "length", 1.0)
    editor.flip_missing(run_id, (0,))
    assert editor.is_busy
    assert editor.title == "Pruning, 2 more to do"
    assert tree_of(session, run_id) is grown
    session.finish(held)
    assert [edit.kind for edit in document.run(run_id).result.edits] == [
        "prune",
        "force_split",
        "set_missing",
    ]
    assert "now; Undo takes it back." in document.messages[-1]
    assert editor.title == ""
    expected = grown
    texts = []
    for _ in range(3):
        texts.append(document.undo_stack.undoText())
        document.undo_stack.undo()
    assert texts == ["Send missing to the other side", "Force a split", "Prune"]
    assert tree_of(session, run_id) is expected


def change_by_chance(document, run_id, rng):
    """Make one change by hand at some node; where it is refused nothing changes."""
    tree = document.run(run_id).result.tree(0)
    path = tree.path_to(int(rng.integers(tree.n_nodes)))
    changes = [
        lambda: document.prune(run_id, path),
        lambda: document.expand(run_id, path),
        lambda: document.flip_missing(run_id, path),
        lambda: document.grow_below(run_id, path),
        lambda: document.force_split(run_id, path, "length", float(rng.normal(2, 1))),
        lambda: document.force_split(run_id, path, "colour", ("red",)),
        lambda: document.force_split(run_id, path, "length", None),
        lambda: document.prune_to(run_id, float(rng.uniform(0, 0.05))),
        lambda: document.prune_by_rule(run_id, "merge"),
    ]
    with contextlib.suppress(DataError):
        changes[int(rng.integers(len(changes)))]()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{}, {"missing": "level"}, {"algorithm": "c4.5"}], ids=str)
def test_any_changes_undone_give_the_same_trees_and_redone_too(session, settings, seed):
    document, rng = session.document, np.random.default_rng(seed)
    run_id = session.train("tree", min_samples_leaf=1, **settings)
    stack, result = document.undo_stack, lambda: document.run(run_id).result
    states = {stack.index(): (result().tree(0), result().scores, result().edits)}
    for _ in range(15):
        change_by_chance(document, run_id, rng)
        states[stack.index()] = (result().tree(0), result().scores, result().edits)
    assert len(states) > 5
    for index in [*sorted(states, reverse=True), *sorted(states)]:
        stack.setIndex(index)
        assert (result().tree(0), result().scores, result().edits) == states[index]


@pytest.mark.parametrize(
    ("algorithm", "branches"), [("cart", ("yes", "no")), ("id3", ("blue", "red", "white"))]
)
def test_the_branch_that_missing_values_take_is_named(session, algorithm, branches):
    document = session.document
    document.set_roles(["length", "width"], "ignored")
    run_id = session.train("tree", algorithm=algorithm, max_depth=1)
    before = int(tree_of(session, run_id).missing_child[0])
    n_missing = int(tree_of(session, run_id).n_missing[0])
    for step in range(1, len(branches)):
        document.flip_missing(run_id, ())
        name = branches[(before + step) % len(branches)]
        told = f"{n_missing} training rows without colour take “{name}” now; Undo takes it back."
        assert document.messages[-1].endswith(told)


def test_what_is_refused_does_not_hold_up_what_follows(session):
    run_id, document, told = session.train("tree", min_samples_leaf=1), session.document, []
    held = session.hold()
    session.editor.restore(run_id, ())
    session.editor.force_split(run_id, (), "length", 1e9, told.append)
    session.editor.force_split(run_id, (), "length", 3.0, told.append)
    session.finish(held)
    assert any("nothing was changed at this node" in message for message in document.messages)
    assert "all go to one side" in str(told[0])
    assert told[1:] == [None]
    assert tree_of(session, run_id).threshold[0] == 3.0


def test_stop_and_undo_reach_what_is_not_made_yet(session):
    run_id, document, editor = session.train("tree", min_samples_leaf=1), session.document, session.editor
    grown, n_steps, told = tree_of(session, run_id), document.undo_stack.count(), []
    held = session.hold()
    editor.prune(run_id, ())
    editor.force_split(run_id, (), "length", 3.0, told.append)
    editor.take_back_last()
    assert "taken back before it began" in str(told[0])
    assert editor.is_busy
    editor.take_back_last()
    assert not editor.is_busy
    assert document.messages[-1] == "Pruning was stopped; the tree is as it was."
    editor.flip_missing(run_id, ())
    editor.grow_below(run_id, (0,))
    editor.stop()
    assert not editor.is_busy
    wait_for(document.message_posted, lambda: (held.let_go(), editor.prune(run_id, max(inner_paths(grown)))))
    assert document.undo_stack.count() == n_steps + 1
    assert tree_of(session, run_id) == prune(grown, max(inner_paths(grown)))


def test_models_and_tables_may_go_meanwhile(session):
    run_id, document, editor = session.train("tree", min_samples_leaf=1), session.document, session.editor
    other = session.train("tree", min_samples_leaf=2)
    held = session.hold()
    editor.prune(run_id, ())
    editor.prune(other, ())
    editor.prune(run_id, (0,))
    document.delete_run(run_id)
    session.finish(held)
    assert tree_of(session, other).n_nodes == 1
    document.undo_stack.undo()  # of the other
    held = session.hold()
    editor.prune(other, ())
    document.prune(other, (0,))
    session.finish(held)
    assert "was changed in the meantime" in document.messages[-1]
    held = session.hold()
    editor.prune(other, ())
    document.open_table(document.table)
    assert not editor.is_busy
    held.let_go()


def test_a_change_is_stopped_while_it_is_scored(session):
    run_id, editor = session.train("tree", min_samples_leaf=1), session.editor
    result, table = session.document.run(run_id).result, session.document.table

    class SupersededError(Exception):
        pass

    class Monitor:
        def on_iteration(self, event):
            raise SupersededError

    for edit, how in ((editing.prune, ((),)), (steps.step_splits, (-1,)), (editing.flip_missing, ((),))):
        with pytest.raises(SupersededError):
            edit(result, table, *how, monitor=Monitor())
    assert not editor.is_busy


def test_a_small_table_is_changed_at_once(session, monkeypatch):
    run_id = session.train("tree", min_samples_leaf=1)
    monkeypatch.setattr(tree_editor, "SMALL_CELLS", 10**6)
    session.editor.prune(run_id, ())
    assert tree_of(session, run_id).n_nodes == 1
    assert not session.editor.is_busy


# ---- steps through the splits --------------------------------------------------------------------


def test_splits_go_and_come_one_by_one_and_are_one_undo_step(session):
    run_id, document = session.train("tree", min_samples_leaf=1), session.document
    grown, looks = tree_of(session, run_id), []
    n_splits = len(inner_paths(grown))
    for k in range(n_splits - 1, -1, -1):
        session.editor.step_splits(run_id, -1)
        session.finish()
        assert tree_of(session, run_id) == first_splits(grown, k)
        looks.append(document.run(run_id).result.n_test_looks)
    assert set(looks) == {1}
    session.editor.step_splits(run_id, -1)
    session.finish()
    assert "no split to take back" in document.messages[-1]
    for k in range(1, 4):
        session.editor.step_splits(run_id, 1)
        session.finish()
        assert tree_of(session, run_id) == first_splits(grown, k)
    scores = document.run(run_id).result.scores
    assert scores["train"].accuracy.value < 1.0
    assert document.undo_stack.undoText() == "Grow or take back splits"
    document.undo_stack.undo()
    assert tree_of(session, run_id) is grown
    document.undo_stack.redo()
    assert tree_of(session, run_id) == first_splits(grown, 3)


def test_steps_that_wait_are_made_together_and_cancel_out(session):
    run_id, document = session.train("tree", min_samples_leaf=1), session.document
    grown, held = tree_of(session, run_id), session.hold()
    for n_more in (-1, -1, -1, 1):
        session.editor.step_splits(run_id, n_more)
    assert session.editor.title == "Taking splits back, 1 more to do"
    session.finish(held)
    n_splits = len(inner_paths(grown))
    assert tree_of(session, run_id) == first_splits(grown, n_splits - 2)
    session.editor.step_splits(run_id, 2)
    session.finish()
    assert document.run(run_id).result.edits == ()
    assert tree_of(session, run_id) == grown
    assert document.undo_stack.undoText() != "Grow or take back splits"  # back where they began
    session.editor.step_splits(run_id, 1)
    session.finish()
    assert "every split is there already" in document.messages[-1]


def test_growing_goes_on_past_cuts_and_keeps_other_changes(session):
    run_id, document = session.train("tree", min_samples_leaf=1), session.document
    document.force_split(run_id, (0,), "length", 1.0)
    document.grow_below(run_id, (0, 1))
    whole = tree_of(session, run_id)
    cut = max((path for path in inner_paths(whole) if path[:1] == (1,)), key=len)
    document.prune(run_id, cut)
    document.prune_to(run_id, 0.02)
    result, table = document.run(run_id).result, document.table
    n_now, n_all = len(inner_paths(result.tree(0))), steps.n_splits_uncut(result, table)
    assert n_now < n_all == len(inner_paths(whole))
    for n_splits in range(n_now + 1, n_all + 1):
        result = steps.step_splits(result, table, 1)
        assert len(inner_paths(result.tree(0))) == n_splits
        assert steps.n_splits_uncut(result, table) == n_all
    assert result.tree(0) == whole
    with pytest.raises(DataError, match="every split is there"):
        steps.step_splits(result, table, 1)
    again = editing.expand(result, table, (0,))  # put back: the steps stay, as far as there are splits
    assert (
        again.tree(0).feature[again.tree(0).node_at((0,))]
        == result.grown_tree.feature[result.grown_tree.node_at((0,))]
    )
    assert editing.prune_to(result, table, 0.02).edits[0].kind == "cost_complexity"
    assert not any(edit.kind == "splits" for edit in editing.prune_to(result, table, 0.02).edits)


def test_a_change_below_what_a_price_cut_comes_back_with_it(session):
    run_id, document = session.train("tree", min_samples_leaf=1), session.document
    grown = tree_of(session, run_id)
    leaf = next(
        path
        for path in map(grown.path_to, np.flatnonzero(grown.is_leaf & (grown.n_node_samples > 8)))
        if len(path) > 1
    )
    rows = editing.training_rows(document.run(run_id).result, document.table)
    x = rows.X[rows_at(grown, leaf, rows.X), 0]
    document.force_split(run_id, leaf, "length", float(np.nanmedian(x)) - 1e-4)
    whole = tree_of(session, run_id)
    assert whole.n_leaves == grown.n_leaves + 1
    document.prune_to(run_id, 10.0)
    result, table = document.run(run_id).result, document.table
    assert [edit.kind for edit in result.edits] == ["cost_complexity", "force_split"]
    n_all = steps.n_splits_uncut(result, table)
    assert n_all == len(inner_paths(whole))
    for n_splits in range(1, n_all + 1):
        result = steps.step_splits(result, table, 1)
        assert len(inner_paths(result.tree(0))) == n_splits
        assert steps.n_splits_uncut(result, table) == n_all
    assert result.tree(0) == whole


def test_changes_made_again_after_training_are_one_undo_step_and_the_tree_is_validated(qapp):
    session = Session(open_flowers(), cross_validates=True)
    document = session.document
    done = session.trainer.cross_validation_ended
    run_id = document.add_run("tree")
    document.set_parameter(run_id, "min_samples_leaf", 1)
    wait_for(done, lambda: session.trainer.train(run_id))
    document.force_split(run_id, (0,), "length", 1.0)
    document.flip_missing(run_id, (0,))
    wait_for(done, lambda: session.trainer.train(run_id, keeps_edits=True))
    changed = document.run(run_id).result
    assert [edit.kind for edit in changed.edits] == ["force_split", "set_missing"]
    assert changed.cv is None  # it tells of the tree as grown
    assert document.undo_stack.undoText() == "Make changes again"
    document.undo_stack.undo()
    grown = document.run(run_id).result
    assert grown.edits == ()
    assert grown.tree(0) is grown.grown_tree is changed.grown_tree
    assert grown.cv is not None
    document.undo_stack.redo()
    assert document.run(run_id).result.tree(0) == changed.tree(0)
    for _ in range(2):
        document.undo_stack.undo()  # the older change is of another training: nothing to undo
    assert document.run(run_id).result.tree(0) is grown.grown_tree
    np.testing.assert_array_equal(document.run(run_id).result.importances, grown.importances)
    session.close()
