"""Columns of very many levels: case C47 (b) for every ensemble, and a search that writes down one cut."""

import numpy as np
import pandas as pd
import pytest

import engine
from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.base import begin_fit
from engine.tree.growth_rules import make_rules
from engine.tree.kernels import levels, medians
from engine.tree.kernels.impurity import purity
from engine.tree.kernels.layout import TOTAL
from engine.tree.node_search import NodeSearch
from engine.tree.presort import presort
from tests.engine.test_ensemble_properties import ENSEMBLES


def one_level_a_row(n_rows):
    return pd.DataFrame({"name": pd.Categorical([f"p{i:05d}" for i in range(n_rows)])}), np.arange(n_rows) % 2


def python_of(kernel):
    """The kernel as plain Python."""
    return getattr(kernel, "py_func", kernel)


@pytest.mark.parametrize(
    ("kind", "criterion", "module", "search"),
    [
        (DecisionTreeClassifier, "gini", levels, "scan_ordered"),
        (DecisionTreeRegressor, "squared_error", levels, "scan_ordered"),
        (DecisionTreeRegressor, "absolute_error", medians, "offer_cuts"),
    ],
)
def test_a_partition_is_written_down_once_a_column(kind, criterion, module, search, monkeypatch):
    """With a class a level every cut beats the one before: written at each, it took n levels squared."""
    X, y = one_level_a_row(40)
    model = kind(criterion=criterion, random_state=0)
    data = begin_fit(model, X, y * 1.0, None, is_classifier=kind is DecisionTreeClassifier)
    table = presort(data.X, data.features, lambda *_: False)
    rules = make_rules(model, data, 40.0)
    node_search = NodeSearch(table, table.order, data.y, data.sample_weight, rules, np.uint64(0))
    node_search.look_at_root()
    found = node_search.best_split_of(0)
    written, searched = [], getattr(module, search)
    keep_partition, keep_cut = python_of(levels.keep_partition), python_of(levels.keep_cut)

    def counted(*given):
        written.append(given)
        return keep_partition(*given)

    monkeypatch.setattr(levels, "keep_partition", counted)
    monkeypatch.setattr(module, "keep_partition", counted)
    monkeypatch.setattr(module, "keep_cut", keep_cut)
    node_search._best.ints[:] = -1
    nodes, scratch = node_search._nodes, node_search._scratch
    nodes = nodes._replace(records=nodes.records.view(np.recarray))  # whose fields Python reads as kernels do
    scratch = scratch._replace(
        levels=scratch.levels.view(np.recarray), medians=scratch.medians.view(np.recarray)
    )
    node = (nodes, 0)
    if module is levels:
        node = (40, nodes, 0, float(purity(rules.criterion, scratch.sums[TOTAL], nodes.records["weight"][0])))
    python_of(searched)(rules, np.int32(0), *node, 40, node_search._best, scratch)
    assert len(written) == 1
    sides = {int(code): int(child) for code, child in found.levels}
    assert {sides[code] for code in range(0, 40, 2)} != {sides[code] for code in range(1, 40, 2)}
    assert found.gain == pytest.approx(0.5 if criterion != "squared_error" else 0.25)


MORE = [("GradientBoosting", {"categorical": "ordered"}), ("GradientBoosting", {"growth": "oblivious"})]


@pytest.mark.parametrize(("name", "more"), [*((name, {}) for name in ENSEMBLES), *MORE], ids=str)
def test_c47_a_level_for_every_row_ends_with_little_to_log(name, more, caplog):
    """Case C47 (b)."""
    X, y = one_level_a_row(50_000)
    with caplog.at_level("DEBUG", logger="engine"):  # numba tells megabytes of what it compiles
        kind = getattr(engine, f"{name}Classifier")
        model = kind(n_estimators=2, random_state=0, **more).fit(X, y)
    assert set(model.predict(X.iloc[:100])) <= {0, 1}
    assert len(caplog.text) < 1_000_000
    if name in ("AdaBoost", "GradientBoosting") and "categorical" not in more:
        assert model.score(X, y) == 1.0, "one question parts the levels of one class from the others"
