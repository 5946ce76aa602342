"""Single trees leave the document as rules and as SQL, in the words of the table, and rules come back."""

import re
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from tests.engine.test_export_sql import run_sql
from tests.workbench.making import Session, open_flowers
from workbench import cli
from workbench.apply import apply_model
from workbench.datasets import make_table
from workbench.document import Document
from workbench.exports import export_rules, export_sql, load_model, rules_of, sql_of
from workbench.project import load_project, save_project
from workbench.readers import read_table

ALL = {"max_depth": None, "min_samples_leaf": 1}


def stays(n=90):
    """Dates with and without the time of day, text, yes and no, numbers; cells are missing in all of them."""
    rng = np.random.default_rng(2)
    day = rng.integers(18262, 18322, n)
    text = [f"{np.datetime64(int(d), 'D')}" + (" 18:30" if d % 3 == 0 else "") for d in day]
    table = {
        'day of "arrival"': text,
        "room": rng.choice(["sea view", "l'étage", "attic"], n).tolist(),
        "paid": rng.choice(["yes", "no"], n).tolist(),
        "nights": rng.integers(1, 9, n).tolist(),
    }
    price = (day % 20) + 5 * (np.array(table["room"]) == "attic") + np.array(table["nights"]) / 7
    for k, cells in enumerate(table.values()):
        for row in rng.choice(n, 9, replace=False):
            cells[row] = None
        assert len(cells) == n, k
    return make_table("stays", table | {"price": price.tolist()}, {'day of "arrival"': "date"})


def cells_of(table):
    """What a database holds that has read the file: numbers as such, all else as text, NULL for missing."""
    found = {}
    for column in table.columns:
        texts = [column.text(row) or None for row in range(table.n_rows)]
        is_number = column.kind == "number"
        found[column.name] = [float(t) if is_number and t else t for t in texts]
    return found


@pytest.fixture
def session(qapp):
    document = Document()
    document.open_table(stays())
    made = Session(document)
    yield made
    made.close()


@pytest.mark.parametrize("target", ["price", "room"])
def test_sql_speaks_of_the_tables_own_cells(session, target):
    document = session.document
    document.set_target(target)
    result = document.run(session.train("tree", **ALL)).result
    table = document.table
    sql = sql_of(result, table, has_shares=True)
    assert {'day of "arrival"', "nights"} <= {result.features[k] for k in set(result.trees[0].feature) - {-1}}
    assert re.search(r'"day of ""arrival""" <= \'2020-0\d-\d\d \d\d:\d\d:\d\d', sql)
    assert "-- Dates are DATE" in sql
    predicted, *shares = run_sql(sql, cells_of(table))
    (_, expected), *probabilities = apply_model(result, table).predictions
    assert predicted == list(expected)
    assert len(shares) == len(probabilities) == (0 if target == "price" else 3)
    for ours, (_name, theirs) in zip(shares, probabilities, strict=True):
        assert ours == theirs.tolist()


def test_without_its_table_the_sql_says_that_dates_are_days(session):
    session.document.set_target("price")
    result = session.document.run(session.train("tree", **ALL)).result
    for table in (None, open_flowers().table):
        sql = sql_of(result, table)
        assert "-- Columns that are dates are compared as days since 1970-01-01." in sql
        assert "'20" not in sql
    table = session.document.table
    days = cells_of(table) | {'day of "arrival"': table.columns[0].values.tolist()}
    assert run_sql(sql, days) == [list(apply_model(result, table).predictions[0][1])]


def test_rules_open_as_a_model_that_predicts_the_same(session, tmp_path):
    document = session.document
    document.set_target("room")
    run_id = session.train("tree", **ALL)
    document.prune(run_id, (0,))
    result = document.run(run_id).result
    path = tmp_path / "größe 🌳.rules.txt"
    export_rules(result, path, document.table)
    assert '# column "day of \\"arrival\\"" holds dates, as days since 1970-01-01' in path.read_text("utf-8")
    again = load_project(path).runs[0]
    assert (again.name, again.result.target, again.result.classes) == ("größe 🌳", "room", result.classes)
    assert again.result.trees == result.trees
    one, other = (apply_model(each, document.table).predictions for each in (result, again.result))
    assert [name for name, _ in one] == [name for name, _ in other]
    for (_, ours), (_, theirs) in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert rules_of(again.result, document.table) != path.read_text("utf-8")  # of another table: no remark
    path.write_text(path.read_text("utf-8").replace("all rows", "all cows"), encoding="utf-8")
    with pytest.raises(DataError, match=r"^größe 🌳\.rules\.txt: line \d+ of the rules: expected 'rows'"):
        load_model(path)


def test_ensembles_are_refused_and_folders_that_are_not_there(session, tmp_path):
    session.document.set_target("price")
    forest = session.document.run(session.train("forest", n_estimators=2)).result
    tree = session.document.run(session.train("tree")).result
    for write in (export_rules, export_sql):
        with pytest.raises(DataError, match="RandomForestRegressor is not a fitted single tree"):
            write(forest, tmp_path / "x")
        with pytest.raises(DataError, match="x cannot be written"):
            write(tree, tmp_path / "nowhere" / "x")
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_exports_rules_and_sql_and_predicts_by_rules(session, tmp_path, capsys):
    session.document.set_target("price")
    result = session.document.run(session.train("tree", **ALL)).result
    project, rules, sql = (str(tmp_path / name) for name in ("p.treewright", "t.rules.txt", "t.sql"))
    save_project(session.document, project, include_rows=True)
    for out in (rules, sql):
        assert cli.main(["export", project, "--out", out]) == 0
    assert load_model(rules).trees == result.trees
    assert Path(sql).read_text("utf-8") == sql_of(result, session.document.table) + "\n"
    table, out = tmp_path / "new.csv", tmp_path / "out.csv"
    table.write_text('"day of ""arrival""",room,paid,nights\n2020-01-05,attic,yes,3\n', encoding="utf-8")
    assert cli.main(["predict", rules, str(table), "--out", str(out)]) == 0
    expected = apply_model(result, read_table(table)).predictions[0][1][0]
    assert repr(float(expected)) in out.read_text(encoding="utf-8")
    assert cli.main(["export", project, "--out", "x.doc"]) == 2
    assert "ends in none of .tree.json, .rules.txt, .sql, .py" in capsys.readouterr().err
