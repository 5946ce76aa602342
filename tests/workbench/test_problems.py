"""Columns that should not be features, and how strongly one column predicts the target."""

import numpy as np
import pytest

from engine.errors import DataError
from workbench.datasets import default_roles, make_table
from workbench.problems import column_strengths, find_problems
from workbench.samples import load_sample

N = 400


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_strength_of_a_number_is_the_share_of_variance_its_groups_explain(rng):
    x = rng.integers(0, 8, N)
    noise = rng.normal(0, 1, N)
    y = 3.0 * x + noise
    table = make_table("t", {"x": x, "coin": rng.integers(0, 2, N), "y": np.round(y, 3)})
    share = 1 - noise.var() / y.var()
    assert column_strengths(table, "y")["x"] == pytest.approx(share, abs=0.02)
    assert column_strengths(table, "y")["coin"] < 0.02


def test_strength_for_classes_is_the_share_of_errors_removed(rng):
    y = np.where(rng.random(N) < 0.4, "yes", "no")
    flipped = rng.random(N) < 0.1
    hint = np.where(flipped, np.where(y == "yes", "no", "yes"), y)
    table = make_table("t", {"hint": hint, "same": y, "y": y})
    share = 1 - flipped.mean() / (y == "yes").mean()
    assert column_strengths(table, "y")["hint"] == pytest.approx(share, abs=0.02)
    assert column_strengths(table, "y")["same"] == 1.0


def test_values_that_never_repeat_predict_nothing(rng):
    names = [f"n{i}" for i in range(N)]
    table = make_table("t", {"name": names, "noise": rng.normal(size=N), "y": rng.integers(0, 2, N)})
    assert column_strengths(table, "y")["name"] == 0.0, "each half of the rows judges the other"
    assert column_strengths(table, "y")["noise"] < 0.15


def test_being_missing_can_be_the_hint(rng):
    y = rng.integers(0, 2, N)
    x = [None if answer else value for answer, value in zip(y, rng.normal(size=N), strict=True)]
    assert column_strengths(make_table("t", {"x": x, "y": y}), "y")["x"] == 1.0


def test_strengths_for_an_unknown_target_are_refused():
    with pytest.raises(DataError, match="no column 'z'"):
        column_strengths(make_table("t", {"x": [1, 2], "y": [1, 2]}), "z")


def test_petals_are_strong_and_sepal_widths_weak():
    strengths = column_strengths(load_sample("iris"), "species")
    assert strengths["petal_width_cm"] > 0.8
    assert strengths["sepal_width_cm"] < 0.5
    assert list(strengths) == ["sepal_length_cm", "sepal_width_cm", "petal_length_cm", "petal_width_cm"]


def test_constant_identifier_and_leaking_columns_are_named(rng):
    y = rng.integers(0, 3, N)
    table = make_table(
        "t",
        {
            "same": ["a"] * N,
            "void": [None] * N,
            "name": [f"n{i}" for i in range(N)],
            "row": range(N),
            "answer": y * 10 + 0.5,
            "honest": y + rng.normal(0, 1, N),
            "sometimes": ["a" if i % 2 else None for i in range(N)],
            "y": y,
        },
    )
    roles = dict.fromkeys(table.names, "feature") | {"y": "target"}
    problems = {problem.column: problem for problem in find_problems(table, roles)}
    assert {name: problem.kind for name, problem in problems.items()} == {
        "same": "constant",
        "void": "constant",
        "name": "identifier",
        "row": "identifier",
        "answer": "leaks",
    }
    assert "400 levels in 400 rows" in problems["name"].message
    assert "all 400 rows" in problems["same"].message
    assert "predicts y almost by itself" in problems["answer"].message
    roles |= dict.fromkeys(problems, "ignored")
    assert find_problems(table, roles) == ()


def test_c09_a_column_of_missing_cells_alone_has_no_values():
    table = make_table("t", {"empty": [None] * 6, "x": range(6), "y": ["a", "b"] * 3})
    (problem,) = find_problems(table, {"empty": "feature", "x": "feature", "y": "target"})
    assert (problem.column, problem.message) == ("empty", "no values: every cell is missing")
    assert table.column("empty").reason == "no values: every cell is missing"


def test_c47_fifty_thousand_names_are_an_identifier_with_the_count():
    table = make_table("t", {"name": [f"p{i}" for i in range(50_000)], "y": np.arange(50_000) % 2})
    assert default_roles(table)["name"] == "id"
    (problem,) = find_problems(table, {"name": "feature", "y": "target"})
    assert (problem.kind, problem.column) == ("identifier", "name")
    assert "50,000 levels" in problem.message


def test_without_a_target_leaks_are_not_looked_for(rng):
    table = make_table("t", {"x": rng.normal(size=50), "y": [1] * 50})
    assert [p.kind for p in find_problems(table, {"x": "feature", "y": "feature"})] == ["constant"]


def test_number_target_and_few_rows_do_not_raise(rng):
    table = make_table("t", {"x": [1.5, 2.5, 3.5], "y": [1.25, 2.5, 3.75]})
    assert column_strengths(table, "y")["x"] == 0.0, "three rows tell nothing"


def test_noise_in_300_columns_is_weak_in_all_of_them(rng):
    data = {f"c{i}": np.round(rng.normal(size=2000), 4) for i in range(300)}
    table = make_table("wide", data | {"y": rng.integers(0, 2, 2000)})
    strengths = column_strengths(table, "y")
    assert len(strengths) == 300
    assert max(strengths.values()) < 0.3
