"""The first tree of second-order boosting beside XGBoost's: the same rows in every node, the same leaves."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np

from tests.benchmarks.report import Report

N_SEEDS = 8
GAMMAS, LAMBDAS = (0.0, 0.3, 1.0), (0.0, 1.0)
LEAF_TOLERANCE = 1e-6
MAX_DEPTH = 4
Table = tuple[np.ndarray, np.ndarray, np.ndarray]
Nodes = tuple[dict[str, tuple[int, ...]], dict[str, float]]


def run(report: Report) -> None:
    """Compare trees of squared error and of log loss on random tables; print how many differ."""
    for loss in ("squared_error", "log_loss"):
        n_nodes = n_different = n_tables = 0
        worst = 0.0
        for _, gamma, reg_lambda in product(range(N_SEEDS), GAMMAS, LAMBDAS):
            table = random_table(n_tables, loss)
            ours = our_nodes(table, loss, gamma, reg_lambda)
            theirs = xgboost_nodes(table, loss, gamma, reg_lambda)
            difference = largest_difference(ours, theirs, table[1])
            n_tables, n_nodes = n_tables + 1, n_nodes + len(ours[0])
            n_different += difference is None
            worst = max(worst, difference or 0.0)
        words = f"{n_tables} tables, {n_nodes:,} nodes"
        report.line(f"first tree, {loss}: tables unlike XGBoost's", n_different, "", 0, quality=words)
        report.line(f"first tree, {loss}: largest difference of a leaf", worst, "", LEAF_TOLERANCE)


def largest_difference(ours: Nodes, theirs: Nodes, y: np.ndarray) -> float | None:
    """Return the largest relative difference of two leaves, or None where the trees part rows differently.

    Rows of one answer have nothing to gain by a split. XGBoost, which adds up gains in single precision,
    now and then makes one; what is below is left out.
    """
    ended = [path for path in ours[1] if path not in theirs[1] and len(set(y[list(ours[0][path])])) == 1]
    partitions = {
        path: rows
        for path, rows in theirs[0].items()
        if not any(path.startswith(leaf) and path != leaf for leaf in ended)
    }
    if partitions != ours[0]:
        return None
    return max(abs(ours[1][path] / theirs[1][path] - 1) for path in ours[1] if path not in ended)


def random_table(seed: int, loss: str) -> Table:
    """Numbers that single precision holds, under 255 distinct a column, with weights that leave no ties.

    Weight times gradient is held too: XGBoost rounds it, which a leaf near 0 would show.
    """
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(60, 2000)), int(rng.integers(2, 7))
    X = rng.integers(0, rng.integers(20, 254), (n_rows, n_features)) / 8
    z = X[:, 0] * X[:, 1] / 30 + np.abs(X[:, -1] - 8) + rng.normal(size=n_rows) * 3
    if loss == "squared_error":
        return X, np.round((z - z.mean()) * 64) / 64, rng.integers(128, 512, n_rows) / 256
    return X, (z > np.median(z)).astype(float), rng.uniform(0.5, 2.0, n_rows).astype(np.float32).astype(float)


def our_nodes(table: Table, loss: str, gamma: float, reg_lambda: float) -> Nodes:
    """Return the rows of every node, by its path, and the values of the leaves."""
    import engine

    X, y, weight = table
    kind = "GradientBoostingClassifier" if loss == "log_loss" else "GradientBoostingRegressor"
    model = getattr(engine, kind)(
        n_estimators=1, learning_rate=1.0, order=2, growth="depth", max_depth=MAX_DEPTH,
        max_leaf_nodes=None, min_samples_leaf=1, min_child_weight=1.0, gamma=gamma, reg_lambda=reg_lambda,
        init="zero",
    ).fit(X, y, weight)  # fmt: skip
    ((tree,),) = model.estimators_

    def question(node: int) -> Any:
        if tree.is_leaf[node]:
            return float(tree.value[node, 0])
        children = tree.children(node)
        return X[:, tree.feature[node]] <= tree.threshold[node], children[0], children[1]

    return _nodes(question, 0, len(X))


def xgboost_nodes(table: Table, loss: str, gamma: float, reg_lambda: float) -> Nodes:
    """Return the same of XGBoost's first tree, with its start at zero."""
    import xgboost

    X, y, weight = table
    logistic = loss == "log_loss"
    settings = {
        "objective": "binary:logistic" if logistic else "reg:squarederror", "eta": 1, "gamma": gamma,
        "base_score": 0.5 if logistic else 0.0, "max_depth": MAX_DEPTH, "tree_method": "hist",
        "max_bin": 256, "reg_lambda": reg_lambda, "nthread": 1,
    }  # fmt: skip
    booster = xgboost.train(settings, xgboost.DMatrix(X, y, weight=weight), 1)

    def question(node: dict) -> Any:
        if "leaf" in node:
            return float(node["leaf"])
        by_id = {child["nodeid"]: child for child in node["children"]}
        goes_left = X[:, int(node["split"][1:])] < node["split_condition"]
        return goes_left, by_id[node["yes"]], by_id[node["no"]]

    return _nodes(question, json.loads(booster.get_dump(dump_format="json")[0]), len(X))


def _nodes(question: Any, root: Any, n_rows: int) -> Nodes:
    """Walk a tree: rows of every node and values of leaves, by the branches that lead there."""
    partitions, leaves = {}, {}
    waiting = [("", root, np.arange(n_rows))]
    while waiting:
        path, node, rows = waiting.pop()
        partitions[path] = tuple(rows.tolist())
        told = question(node)
        if isinstance(told, float):
            leaves[path] = told
            continue
        goes_left, left, right = told
        waiting.append((path + "0", left, rows[goes_left[rows]]))
        waiting.append((path + "1", right, rows[~goes_left[rows]]))
    return partitions, leaves
