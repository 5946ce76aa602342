"""The ranked candidates of a node, as they are told."""

import pytest

from engine.tree.structure import MULTIWAY
from tests.workbench.making import Session, open_flowers
from workbench.editing import EACH_LEVEL
from workbench.figures.splits import make_splits
from workbench.forcing import answer_of, can_force
from workbench.splits import study_node


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
@pytest.mark.parametrize(
    ("missing", "question"), [("level", "4 branches, missing: its own"), ("learned", None)]
)
def test_a_branch_of_missing_values_is_counted(qapp, algorithm, missing, question):
    session = Session(open_flowers())
    run_id = session.train("tree", algorithm=algorithm, missing=missing)
    result, table = session.document.run(run_id).result, session.document.table
    figure = make_splits("tree", result, study_node(result, table, ()))
    told = {row.column: row.full_question for row in figure.rows}["colour"]
    assert told in (
        [question] if question else [f"3 branches, missing: {k}" for k in ("red", "blue", "white")]
    )
    session.close()


@pytest.mark.parametrize("missing", ["level", "learned"])
@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
def test_every_candidate_is_forced_as_it_was_shown_and_taken_back(qapp, algorithm, missing):
    document = open_flowers()
    session = Session(document)
    run_id = session.train("tree", algorithm=algorithm, missing=missing)
    session.close()
    grown = document.run(run_id).result.trees[0]
    study = study_node(document.run(run_id).result, document.table, ())
    assert MULTIWAY in {candidate.split.kind for candidate in study.found}
    for candidate in study.found:
        if not can_force(candidate, grown, 0):
            continue
        spec = study.rows.features[candidate.feature]
        document.force_split(run_id, (), spec.name, answer_of(candidate, spec))
        tree = document.run(run_id).result.trees[0]
        assert (tree.feature[0], tree.kind[0]) == (candidate.feature, candidate.split.kind)
        assert tree.gain[0] == pytest.approx(candidate.gain)
        assert tree.levels(0).tolist() == candidate.split.levels.tolist()
        assert not can_force(candidate, tree, 0)
        document.undo_stack.undo()
        assert document.run(run_id).result.trees[0] is grown


@pytest.mark.parametrize("missing", ["level", "learned"])
def test_where_missing_values_were_sent_elsewhere_the_candidate_brings_them_back(qapp, missing):
    document = open_flowers()
    session = Session(document)
    run_id = session.train("tree", algorithm="id3", missing=missing)
    session.close()
    document.force_split(run_id, (), "colour", EACH_LEVEL)
    forced = document.run(run_id).result.trees[0]
    study = study_node(document.run(run_id).result, document.table, ())
    candidate = next(c for c in study.found if c.split.kind == MULTIWAY)
    assert forced.n_missing[0] > 0
    assert not can_force(candidate, forced, 0)
    document.flip_missing(run_id, ())
    assert can_force(candidate, document.run(run_id).result.trees[0], 0)
    document.force_split(run_id, (), "colour", answer_of(candidate, study.rows.features[candidate.feature]))
    assert document.run(run_id).result.trees[0] == forced


def test_a_study_that_is_stopped_tells_nothing(qapp):
    document = open_flowers()
    session = Session(document)
    run_id = session.train("tree")
    session.close()
    result, n_asked = document.run(run_id).result, 0

    class StopsAfter:
        def __init__(self, n_allowed):
            self.n_left = n_allowed

        def on_iteration(self, _event):
            self.n_left -= 1
            return self.n_left < 0

    while study_node(result, document.table, (), None, StopsAfter(n_asked)) is None:
        n_asked += 1
    assert n_asked > 8  # sorting, the columns, their curves
