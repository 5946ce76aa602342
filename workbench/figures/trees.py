"""The trees of an ensemble as a table: how large each is, how wrong alone, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from workbench.figures.words import MINUS, count, number, percent
from workbench.rounds import trees_a_round, unit_of

if TYPE_CHECKING:
    from engine.tree.structure import Tree
    from workbench.datasets import Table
    from workbench.runs import RunResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreesFigure:
    """One row a tree, in the order in which they were grown.

    Attributes
    ----------
    title : str
    heads : tuple of str
        Of the columns.
    tips : tuple of str
        What each column is.
    columns : tuple of float64 (n_trees,)
        What the table is sorted by; NaN where it is not known.
    texts : tuple of tuple of str
        The cells, by column.
    n_a_round : int
        Trees that a round adds.
    has_errors : bool
        A column tells the out-of-bag error.
    """

    title: str
    heads: tuple[str, ...]
    tips: tuple[str, ...]
    columns: tuple[Floats, ...]
    texts: tuple[tuple[str, ...], ...]
    n_a_round: int
    has_errors: bool = False

    @property
    def n_trees(self) -> int:
        return len(self.columns[0])

    def order_by(self, column: int, is_descending: bool) -> NDArray[np.int64]:
        """Return the trees in the order of a column, unknown values last, equals as they were grown."""
        values = -self.columns[column] if is_descending else self.columns[column]
        return np.argsort(values, kind="stable")


def make_trees(name: str, result: RunResult) -> TreesFigure:
    """Make the table of an ensemble's trees, without out-of-bag errors."""
    trees = result.trees
    is_boosted = hasattr(result.estimator, "baseline_prediction_")
    numbers = np.arange(1, len(trees) + 1, dtype=np.float64)
    depths = np.array([tree.max_depth for tree in trees], np.float64)
    leaves = np.array([tree.n_leaves for tree in trees], np.float64)
    matters = np.array([_mean_step(tree) if is_boosted else _total_gain(tree) for tree in trees])
    heads, tips = ["Tree"], ["In the order in which they were grown"]
    columns, texts = [numbers], [tuple(count(int(n)) for n in numbers)]
    n_a_round = trees_a_round(result)
    if n_a_round > 1:
        of = np.arange(len(trees)) % n_a_round
        heads.append("Adds to")
        tips.append("Each round adds one tree for every class")
        columns.append(of.astype(np.float64))
        texts.append(tuple(result.classes[k] for k in of))
    heads += ["Depth", "Leaves", "Mean step" if is_boosted else "Gain"]
    tips += [
        "Questions on the longest way to a leaf",
        "",
        "How far it moves the prediction of a training row, on average"
        if is_boosted
        else "By how much its questions make its rows purer, or their spread smaller",
    ]
    columns += [depths, leaves, matters]
    texts += [
        tuple(count(int(n)) for n in depths),
        tuple(count(int(n)) for n in leaves),
        tuple(number(float(n)) for n in matters),
    ]
    weights = getattr(result.estimator, "estimator_weights_", None)
    if weights is not None and len(weights) >= len(trees):
        heads.append("Weight")
        tips.append("Of its vote, among all")
        share = np.asarray(weights[: len(trees)], np.float64)
        columns.append(share)
        texts.append(tuple(number(float(w)).replace("-", MINUS) for w in share))
    title = f"{name}: {count(len(trees))} trees"
    if n_a_round > 1:
        title += f" in {count(result.n_rounds)} {unit_of(result)}s"
    return TreesFigure(title, tuple(heads), tuple(tips), tuple(columns), tuple(texts), n_a_round)


def known_errors(result: RunResult) -> Floats | None:
    """Return each tree's out-of-bag error where its training told it, as do files; else None."""
    errors = np.asarray(getattr(result.estimator, "member_oob_loss_", ()), np.float64)
    return errors if len(errors) == len(result.trees) else None


def has_out_of_bag(result: RunResult) -> bool:
    """Tell whether the trees left rows out that can be told again."""
    estimator = result.estimator
    if not getattr(estimator, "bootstrap", False) or not hasattr(estimator, "bootstrap_draws"):
        return False
    try:
        estimator.bootstrap_draws(0)
    except DataError:  # read from a file, which holds no rows
        return False
    return True


def with_errors(figure: TreesFigure, errors: Floats, is_share: bool) -> TreesFigure:
    """Return the table with a column of each tree's own error on the rows that it did not see."""
    texts = tuple("" if np.isnan(e) else percent(e, 1.0) if is_share else number(float(e)) for e in errors)
    what = "Share of the rows it did not draw that it has wrong"
    return replace(
        figure,
        heads=(*figure.heads, "Out of bag"),
        tips=(*figure.tips, what if is_share else "Mean squared error on the rows it did not draw"),
        columns=(*figure.columns, errors),
        texts=(*figure.texts, texts),
        has_errors=True,
    )


def out_of_bag_errors(result: RunResult, table: Table, monitor: FitMonitor = NULL_MONITOR) -> Floats:
    """Return each tree's error on the training rows that it did not draw; NaN where it drew all of them.

    Shares of wrong rows, or mean squared errors, by the weights of the rows.
    """
    from engine.features import encode
    from engine.predict import tree_values
    from workbench.fitting import inputs_of_result

    inputs = inputs_of_result(result, table)
    rows = inputs.learnable().take(inputs.rows_of("train"))
    X = np.ascontiguousarray(encode(rows.X, result.feature_specs))
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    errors = np.full(len(result.trees), np.nan)
    for member, tree in enumerate(result.trees):
        monitor.on_iteration(IterationEvent("scoring", member + 1, len(errors)))
        is_out = weights > 0
        is_out[result.estimator.bootstrap_draws(member)] = False
        if is_out.any():
            said = tree_values([tree], X[is_out])
            wrong: Any = (
                np.argmax(said, axis=1) != rows.y[is_out]
                if result.classes
                else (said[:, 0] - rows.y[is_out]) ** 2
            )
            errors[member] = np.average(wrong, weights=weights[is_out])
    return errors


def _mean_step(tree: Tree) -> float:
    leaves = tree.is_leaf
    steps = np.abs(tree.value[leaves]).sum(axis=1)
    return float(np.average(steps, weights=np.maximum(tree.n_node_samples[leaves], 1)))


def _total_gain(tree: Tree) -> float:
    from engine.inspection import total_gains

    return float(total_gains(tree, int(tree.feature.max(initial=0)) + 1).sum())
