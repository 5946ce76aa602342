"""Which rows of the table a node of a single tree holds, and which leaf a row ends in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.datasets import feature_frame
from workbench.figures.words import count, number
from workbench.scoring import wilson_interval

if TYPE_CHECKING:
    from engine.tree.structure import Path
    from workbench.datasets import Table
    from workbench.runs import RunResult


def is_at_node(result: RunResult, table: Table, path: Path) -> NDArray[np.bool_]:
    """Tell which rows of the table pass a node of the result's single tree: bool (n_rows,).

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    from engine.features import encode
    from engine.tree.node_rows import rows_at

    X = encode(feature_frame(table, result.features), result.feature_specs)
    is_at = np.zeros(table.n_rows, bool)
    is_at[rows_at(result.trees[0], path, X)] = True
    return is_at


def leaves_of_rows(result: RunResult, table: Table, rows: NDArray[np.intp]) -> dict[Path, int]:
    """Return the leaves of the result's single tree that rows of the table end in, and how many in each."""
    from engine.features import encode
    from engine.predict import leaf_numbers

    tree = result.trees[0]
    X = encode(feature_frame(table, result.features, rows), result.feature_specs)
    leaves, n_rows = np.unique(leaf_numbers(tree, X), return_counts=True)
    return {tree.path_to(int(leaf)): int(n) for leaf, n in zip(leaves, n_rows, strict=True)}


def leaf_of_row(result: RunResult, table: Table, row: int) -> tuple[Path, str]:
    """Return the path of the leaf that a row of the table ends in, and the way there as a sentence.

    The sentence gives the leaf's merged rule and its answer: the share of its most frequent class with count
    and 95 % interval (Wilson 1927), or mean and
    standard deviation, by absolute error median and mean distance from it.
    """
    from engine.features import encode
    from engine.predict import leaf_numbers

    tree = result.trees[0]
    frame = feature_frame(table, result.features, slice(row, row + 1))
    leaf = int(leaf_numbers(tree, encode(frame, result.feature_specs))[0])
    path = tree.path_to(leaf)
    return path, f"Row {row + 1:,}: {rule_of_node(result, path)}"


def rule_of_node(result: RunResult, path: Path) -> str:
    """Return the merged rule of a single tree's node and its answer, as `leaf_of_row` does of a leaf.

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    from engine.tree.inspect import merged_rule

    tree = result.trees[0]
    rule = " and ".join(merged_rule(tree, path, result.feature_specs)) or "every row"
    return f"{rule} → {_answer(result, tree, tree.node_at(path))}"


def _answer(result: RunResult, tree: Any, leaf: int) -> str:
    n, value = int(tree.n_node_samples[leaf]), tree.value[leaf]
    if not result.classes:
        spread = ""
        criterion = result.spec.parameters.get("criterion")
        if criterion != "poisson":
            impurity = max(float(tree.impurity[leaf]), 0.0)
            spread = (
                f" ± {number(impurity if criterion == 'absolute_error' else float(np.sqrt(impurity)), 2)}"
            )
        return f"{number(float(value[0]))}{spread}, {count(n)} training rows"
    top = int(np.argmax(value))
    share = wilson_interval(float(value[top]) * n, n)
    interval = f"95 % interval {100 * share.low:.0f} to {100 * share.high:.0f} %"
    told = f"{result.classes[top]} {100 * share.value:.0f} %"
    return f"{told}, {count(round(float(value[top]) * n))} of {count(n)} training rows, {interval}"
