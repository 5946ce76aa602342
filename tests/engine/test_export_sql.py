"""A tree as SQL: SQLite computes what `predict` says, row by row."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingRegressor
from engine.errors import DataError
from engine.export.sql import share_names, to_sql
from engine.features import FeatureSpec
from engine.tree.structure import Tree, single_leaf
from tests.engine.random_trees import naive_leaf, random_tree
from tests.engine.test_export_json import fitted, frame
from tests.engine.test_export_rules import ODD_NAMES, model_of, rows_of_all_kinds
from tests.engine.test_tree import restaurant
from tests.engine.test_tree_cases import chain_of_classes, chain_of_columns

NAMES = [name for name in ODD_NAMES if "\0" not in name and name.isprintable()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def run_sql(sql, columns):
    """The expression's columns for all rows of a table, given as lists of cells by column name."""
    names, cells = list(columns), list(columns.values())
    with sqlite3.connect(":memory:") as database:
        # SQLite compares names without their case; a column of no type keeps its cells as they are
        database.execute(f"CREATE TABLE t ({', '.join(map(quoted, names))})")
        rows = [tuple(None if cell != cell else cell for cell in row) for row in zip(*cells, strict=True)]  # noqa: PLR0124
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
        found = database.execute(f"SELECT {sql} FROM t ORDER BY rowid").fetchall()
    database.close()
    return [list(column) for column in zip(*found, strict=True)]


def cells_of(column):
    """A frame's column as a database holds it."""
    return [None if pd.isna(cell) else cell for cell in column.astype(object).tolist()]


def table_of(X):
    return {name: cells_of(X[name]) for name in X.columns}


texts = st.sampled_from(["a", "b'c", 'd"e', "", "ü", "x\ny", "C:\\n", "--", ";", "%", "NULL"])


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_any_tree_says_the_same_of_any_row(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=5, max_size=5, unique=True))
    levels = tuple(data.draw(st.lists(texts, min_size=5, max_size=5, unique=True)))
    features = (
        FeatureSpec(names[0]), FeatureSpec(names[1]), FeatureSpec(names[2], levels=levels),
        FeatureSpec(names[3], levels=(3.0, 1.5, 2.0, -1.0, 0.0)),
        FeatureSpec(names[4], ordered_levels=levels),
    )  # fmt: skip
    tree = random_tree(rng, data.draw(st.integers(1, 40)), 5, categorical=(2, 3))
    tree = Tree(**(tree.to_arrays() | {"value": np.arange(tree.n_nodes)[:, None]}))
    rows = rows_of_all_kinds(rng, 80, 5, (2, 3), 5)
    rows[:, 4] = np.where(np.isnan(rows[:, 4]), rows[:, 4], rng.integers(0, 5, len(rows)))
    words = {-1.0: "new", **dict(enumerate(levels))}
    numbers = {-1.0: 77.0, **dict(enumerate(features[3].levels))}
    table = {names[k]: rows[:, k].tolist() for k in range(2)}
    table[names[2]] = [words.get(code) for code in rows[:, 2]]
    table[names[3]] = [numbers.get(code) for code in rows[:, 3]]
    # a level of an ordered column that training never saw counts as missing
    table[names[4]] = [
        "new" if np.isnan(code) and rng.random() < 0.5 else words.get(code) for code in rows[:, 4]
    ]
    (found,) = run_sql(to_sql(model_of(tree, features)), table)
    assert found == [naive_leaf(tree, row) for row in rows]


@pytest.mark.parametrize("y_kind", ["text", "int", "float", "bool"])
def test_a_trained_classifier_and_its_shares(y_kind):
    model, (X, _) = fitted("DecisionTreeClassifier", y_kind), frame()
    X = X.copy()
    X["island"] = X["island"].cat.add_categories(["new"])
    X.loc[::9, "island"] = "new"
    sql = to_sql(model, has_shares=True)
    predicted, *shares = run_sql(sql, table_of(X))
    assert predicted == model.predict(X).tolist()
    np.testing.assert_array_equal(np.transpose(shares), model.predict_proba(X))
    assert re.findall(r'AS "([^"]*)"', sql) == ["prediction", *share_names(model.classes_.tolist())]


def test_a_trained_regressor_to_the_last_bit():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", 'b"c', "select"])
    X = X.mask(rng.random(X.shape) < 0.1)
    model = DecisionTreeRegressor().fit(X, rng.normal(size=300))
    at = pd.DataFrame(
        {name: model.tree_.threshold[model.tree_.feature == k] for k, name in enumerate(X)}.items()
    )
    on_thresholds = pd.concat([pd.DataFrame({name: values}) for name, values in at.to_numpy()])
    rows = pd.concat([X, on_thresholds[X.columns]], ignore_index=True)
    (found,) = run_sql(to_sql(model), table_of(rows))
    assert found == model.predict(rows).tolist()


@pytest.mark.parametrize("algorithm", ["id3", "c4.5", "cart"])
def test_the_restaurant_trees(algorithm):
    X, y = restaurant()
    model = DecisionTreeClassifier(algorithm=algorithm, confidence=None).fit(X, y)
    rows = pd.concat([X.astype(object), pd.DataFrame([dict.fromkeys(X, "new"), dict.fromkeys(X)])])
    known = {name: pd.Categorical(rows[name], [*X[name].cat.categories, "new"]) for name in X}
    (found,) = run_sql(to_sql(model, name="will wait"), {name: rows[name].tolist() for name in X})
    assert found == model.predict(pd.DataFrame(known)).tolist()


@pytest.mark.parametrize("name", ["True", "false"])
def test_a_column_called_true_is_no_answer(name):
    X = pd.DataFrame({name: [1.0, 2, 3, 4]})
    model = DecisionTreeClassifier().fit(X, [True, True, False, True])
    assert run_sql(to_sql(model), table_of(X)) == [[True, True, False, True]]


def test_missing_is_asked_for_only_where_it_belongs():
    X = pd.DataFrame({"x": [1.0, 2, 3, np.nan, np.nan]})
    right = DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 1, 1, 1])
    assert to_sql(right) == 'CASE\n  WHEN "x" <= 2.5 THEN 0.0\n  ELSE 1.0\nEND AS "prediction"'
    left = DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 1, 0, 0])
    assert '"x" IS NULL OR "x" <= 2.5' in to_sql(left)
    alone = DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 0, 1, 1])
    assert 'WHEN "x" IS NULL THEN 1.0' in to_sql(alone)
    for model in (left, right, alone):
        assert run_sql(to_sql(model), table_of(X)) == [model.predict(X).tolist()]


def test_conditions_on_one_column_are_one_interval_or_one_set():
    X = pd.DataFrame({"x": np.arange(8.0), "c": pd.Categorical(list("abcdefgh"))})
    numbers = DecisionTreeRegressor().fit(X[["x"]], [0, 3, 1, 2, 9, 7, 8, 6])
    for line in to_sql(numbers).splitlines()[1:-1]:
        assert line.count('"x" <=') <= 1
        assert line.count('"x" >') <= 1
    levels = DecisionTreeRegressor().fit(X[["c"]], [0, 3, 1, 2, 9, 7, 8, 6])
    assert all(line.count(" IN (") <= 1 for line in to_sql(levels).splitlines()[1:-1])


def test_ordered_levels_are_named_not_numbered():
    X = pd.DataFrame({"size": pd.Categorical(["S", "M", "L", None] * 3, ["S", "M", "L"], ordered=True)})
    model = DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 1, 1] * 3)
    sql = to_sql(model)
    assert "IN ('S', 'M') THEN 0.0" in sql
    assert run_sql(sql, {"size": ["S", "M", "L", None, "XXL"]}) == [[0, 0, 1, 1, 1]]


def test_dates_are_compared_as_dates():
    days = np.array([18262.0, 18263.0, 18263.25, 18264.5])  # from 2020-01-01 on
    model = DecisionTreeRegressor().fit(pd.DataFrame({"day": days}), [0, 1, 2, 3])
    sql = to_sql(model, dates=["day"])
    assert sorted(re.findall(r"'[^']*'", sql)) == [
        "'2020-01-01 12:00:00'", "'2020-01-02 03:00:00'", "'2020-01-02 21:00:00'",
    ]  # fmt: skip
    cells = ["2020-01-01", "2020-01-02", "2020-01-02 06:00", "2020-01-03 12:00:00", "2020-01-01 12:00:00"]
    assert run_sql(sql, {"day": cells}) == [[0, 1, 2, 3, 0]]
    assert "18262.5" in to_sql(model)


def test_c42_a_deep_tree_has_short_conditions():
    names = [f"c{k}" for k in range(1100)]
    sql = to_sql(model_of(chain_of_columns(), tuple(map(FeatureSpec, names))))
    assert len(sql) < 45_000  # every leaf asks one question; the whole rules would make 11 million signs
    assert " AND " not in sql
    some = [*range(0, 1101, 50), 1100]
    (found,) = run_sql(sql, dict(zip(names, np.tri(1101, 1100, -1)[some].T.tolist(), strict=True)))
    assert found == some
    chain = model_of(chain_of_classes(), (FeatureSpec("x"),), ["no", "yes"])
    x = [*range(1, 1103), None]
    (found,) = run_sql(to_sql(chain), {"x": x})
    assert found == ["no"] * 1100 + ["yes"] * 3


def test_a_leaf_asks_no_more_than_the_logarithm_of_the_leaves():
    tree = random_tree(np.random.default_rng(3), 1000, 300)
    features = tuple(FeatureSpec(f"x{k}") for k in range(300))
    sql = to_sql(model_of(tree, features))
    asked = [len(set(re.findall(r'"x\d+"', line))) for line in sql.splitlines()[1:-1]]
    assert max(asked) <= np.log2(1000)


def test_a_single_leaf_is_a_value():
    assert to_sql(model_of(single_leaf([2.5], 0, 4, 4), (FeatureSpec("x"),))) == '2.5 AS "prediction"'


def test_c47_levels_by_the_hundred():
    codes = np.repeat(np.arange(300), 3)
    X, y = pd.DataFrame({"lev": pd.Categorical(codes)}), (codes >= 256).astype(int)
    model = DecisionTreeClassifier().fit(X, y)
    assert run_sql(to_sql(model), {"lev": codes.tolist()}) == [y.tolist()]


def test_what_sql_cannot_say_is_told():
    with pytest.raises(DataError, match="GradientBoostingRegressor is not a fitted single tree"):
        to_sql(GradientBoostingRegressor())
    tree = random_tree(np.random.default_rng(0), 2, 1)
    with pytest.raises(DataError, match="ends an SQL text; rename it"):
        to_sql(model_of(tree, (FeatureSpec("a\0b"),)))
    endless = Tree(**(tree.to_arrays() | {"value": [[0.0], [np.inf], [0.0]]}))
    with pytest.raises(DataError, match="value inf, for which SQL has no word"):
        to_sql(model_of(endless, (FeatureSpec("x"),)))
