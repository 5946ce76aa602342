"""The ranked candidates of a node, as they are told."""

import pytest

from tests.workbench.making import Session, open_flowers
from workbench.figures.splits import make_splits
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
