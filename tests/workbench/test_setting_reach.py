"""How far the ends of a curve along a setting can be moved: values tried before, then steps like theirs."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.bias_variance import BiasVarianceFound, BiasVarianceSettings
from workbench.bias_variance_choice import offered_parameters
from workbench.document import Document
from workbench.figures.tuning import value_axis
from workbench.samples import load_sample
from workbench.setting_reach import reach_of
from workbench.training_sets import BOOTSTRAP, SUBSAMPLE


@pytest.fixture(scope="module")
def documents(qapp):
    """A document of 206 training rows and 7 columns for every kind of model, made on first need."""
    made = {}

    def document_of(kind):
        if kind not in made:
            made[kind] = Document()
            made[kind].open_table(load_sample("penguins"))
            made[kind].add_run(kind)
        return made[kind]

    return document_of


def reach(document, name, values, settings=None, how=BOOTSTRAP):
    drawn = BiasVarianceSettings(name, tuple(values), how, 4)
    parameter = next(p for p in offered_parameters(document) if p.name == name)
    axis = value_axis(parameter, drawn.values)
    found = BiasVarianceFound(drawn, axis, "", document.task, {}, np.zeros(len(values), np.int64))
    return reach_of(document, found, settings or drawn)


@pytest.mark.parametrize(
    ("kind", "name", "drawn", "before", "after"),
    [
        ("tree", "max_depth", (1, 2, 3), [], [4, 5, None]),  # no depth below 1
        ("tree", "max_depth", (5, 3, 4), [1, 2], [6, 8, None]),
        ("tree", "max_depth", (15, 20), [8, 10], [25, 30, None]),
        ("tree", "max_depth", (10, 15, None), [6, 8], []),
        ("tree", "max_depth", (30, 60, 90), [15, 20], [120, 150, None]),
        ("forest", "n_estimators", (20, 50, 100), [5, 10], [200, 500]),
        ("forest", "n_estimators", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000), [],
         [10_000, 20_000, 50_000]),
        ("forest", "n_estimators", (64, 128, 256), [20, 50], [512, 1024]),
        ("forest", "max_features", (2, 3), [1], [4, 5]),
        ("forest", "max_features", (5, 6, 7), [3, 4], []),  # there are seven columns
        ("forest", "max_features", (0.4, 0.8), [0.1, 0.2], [1.0]),
        ("neighbors", "n_neighbors", (50, 100, 200), [15, 20], [206]),  # as many as training rows
        ("boosting", "learning_rate", (0.1, 0.3), [0.01, 0.03], [1.0, 3.0]),
        ("boosting", "learning_rate", (0.03,), [0.003, 0.01], [0.1, 0.3]),
    ],
)  # fmt: skip
def test_values_beyond_the_ends_are_those_that_a_person_would_try(
    documents, kind, name, drawn, before, after
):
    found = reach(documents(kind), name, drawn)
    size = [np.inf if value is None else value for value in drawn]
    line = [drawn[at] for at in np.argsort(size)]
    assert list(found.values) == [*before, *line, *after]
    assert (found.lowest, found.highest) == (-len(before), len(line) + len(after) - 1)
    assert (found.first, found.last) == (0, len(line) - 1)
    assert list(found.between(found.lowest, 0)) == [*before, line[0]]
    assert all(type(value) is type(line[0]) for value in found.values if value is not None)


def test_halves_have_half_as_many_neighbours(documents):
    assert reach(documents("neighbors"), "n_neighbors", (50, 100), how=SUBSAMPLE).values[-1] == 103


def test_the_ends_are_where_they_are_set_and_a_curve_of_something_else_has_none(documents):
    tree, drawn = documents("tree"), BiasVarianceSettings("max_depth", (2, 3, 4), BOOTSTRAP, 4)
    inner = reach(tree, "max_depth", (2, 3, 4), replace(drawn, values=(3, 4, 5)))
    assert (inner.first, inner.last) == (1, 3)
    assert inner.word(3) == "5"
    assert reach(tree, "max_depth", (2, 3), replace(drawn, parameter="min_samples_leaf", values=(5,))) is None
    assert reach(tree, "max_depth", (2, 3), replace(drawn, parameter="", values=())) is None
    assert reach(documents("forest"), "max_features", (2, "sqrt")) is None, "words have no order"
