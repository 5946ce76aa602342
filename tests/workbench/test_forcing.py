"""What a forced split can ask at a node."""

import numpy as np
import pytest

from engine.errors import DataError
from tests.workbench.making import Session
from workbench.datasets import make_table
from workbench.document import Document
from workbench.forcing import choices_at

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def document():
    """Dates, a number, a category, and two columns that divide no rows: one constant, one empty."""
    days = [f"2020-01-{1 + i % 28:02d}" for i in range(60)]
    columns = {
        "day": days,
        "amount": [None if i % 10 == 3 else round(i * 0.37, 2) for i in range(60)],
        "colour": [("red", "blue", "white")[i % 3] for i in range(60)],
        "same": [7.5] * 60,
        "kind": [("no", "yes")[i >= 30] for i in range(60)],
    }
    document = Document()
    document.open_table(make_table("days", columns))
    document.set_target("kind")
    document.set_roles(["day", "amount", "colour", "same"], "feature")
    return document


def trained(document):
    session = Session(document)
    run_id = session.train("tree", min_samples_leaf=1)
    session.close()
    return document.run(run_id).result


def test_columns_that_differ_at_a_node_are_offered_with_their_range(document):
    result, table = trained(document), document.table
    choices = choices_at(result, table, ())
    training = result.parts == 0
    assert choices.n_rows == training.sum()
    assert [choice.name for choice in choices.columns] == ["day", "amount", "colour"]
    day, amount, colour = choices.columns
    values = table.column("amount").values[training]
    assert (amount.low, amount.high) == (np.nanmin(values), np.nanmax(values))
    assert amount.low <= amount.middle < amount.high
    assert day.is_date
    assert not amount.is_date
    assert sorted(colour.levels) == ["blue", "red", "white"]
    assert choices.columns[choices.current].name == result.feature_specs[result.tree(0).feature[0]].name


def test_below_a_forced_split_only_its_rows_count(document):
    result = trained(document)
    run_id = document.current_run_id or next(iter(document.runs))
    document.force_split(run_id, (), "colour", ["red"])
    result = document.run(run_id).result
    choices = choices_at(result, document.table, (0,))
    assert choices.n_rows == result.tree(0).n_node_samples[1]
    assert "colour" not in [choice.name for choice in choices.columns]
    assert choices.current == 0
    document.force_split(run_id, (0,), "day", choices.columns[0].middle)
    assert document.run(run_id).result.tree(0).n_leaves == 3


def test_nothing_is_offered_inside_ensembles(document):
    session = Session(document)
    run_id = session.train("forest", n_estimators=2)
    session.close()
    with pytest.raises(DataError, match="inside ensembles"):
        choices_at(document.run(run_id).result, document.table, ())
