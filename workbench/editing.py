"""Changing a single tree by hand: new results from old ones, scored anew (D20)."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError
from workbench.fitting import inputs_of_result, rows_of_parts, score_parts, what_differs
from workbench.runs import RunResult

RULES = {
    "reduced_error": "reduced-error pruning",
    "pessimistic": "pessimistic pruning",
    "merge": "merging leaves that answer the same",
}

if TYPE_CHECKING:
    from engine.tree.structure import Path, Tree
    from workbench.datasets import Table


def prune(result: RunResult | None, table: Table, path: Path) -> RunResult:
    """Return the result with the node at `path` made a leaf.

    Raises
    ------
    DataError
        The model is no trained single tree, the node is a leaf or does not exist, or the table
        is no longer the one it was trained on, or is read differently.
    """
    from engine.tree.edit import Edit

    result = _editable(result, table)
    tree = result.tree(0)
    if tree.is_leaf[tree.node_at(path)]:
        raise DataError("this node is a leaf already; choose a node with a question")
    return _with_edits(result, table, (*result.edits, Edit("prune", path)))


def expand(result: RunResult | None, table: Table, path: Path) -> RunResult:
    """Return the result with what was pruned at `path` put back; prunings below it stay.

    Raises
    ------
    DataError
        Nothing was pruned there, or as for `prune`.
    """
    result = _editable(result, table)
    kept = tuple(edit for edit in result.edits if not (edit.kind == "prune" and tuple(edit.path) == path))
    if len(kept) == len(result.edits):
        raise DataError("nothing was pruned at this node, so there is nothing to put back")
    return _with_edits(result, table, kept)


def prune_to(result: RunResult | None, table: Table, alpha: float | None) -> RunResult:
    """Return the result pruned by cost-complexity to the price `alpha` of a leaf; None: not so any more.

    Nodes cut by hand stay cut: they are cut after it, those that it has cut itself being no matter.

    Raises
    ------
    DataError
        As for `prune`.
    """
    from engine.tree.edit import Edit

    result = _editable(result, table)
    by_hand = [edit for edit in result.edits if edit.kind == "prune"]
    first = [] if alpha is None else [Edit("cost_complexity", (), alpha)]
    changed = _with_edits(result, table, (*first, *by_hand))
    # one drag of a slider is one look at the test score
    return changed if alpha_of(result) is None else replace(changed, n_test_looks=result.n_test_looks)


def prune_by_rule(result: RunResult | None, table: Table, rule: str) -> RunResult:
    """Return the result pruned by a rule, as if each branch it cuts had been cut by hand.

    Parameters
    ----------
    rule : "reduced_error", "pessimistic" or "merge"
        By errors on validation rows; by C4.5's expected errors; where leaves answer the same.

    Raises
    ------
    DataError
        As for `prune`; there are no validation rows, or the rule cuts nothing.
    """
    from engine.tree.edit import Edit

    result = _editable(result, table)
    before, after = result.trees[0], _pruned_by(result, table, rule)
    paths = _cut_paths(before, after)
    if not paths:
        raise DataError(f"{RULES[rule]} cuts nothing in this tree: every branch is worth keeping by it")
    return _with_edits(result, table, (*result.edits, *(Edit("prune", path) for path in paths)))


def _pruned_by(result: RunResult, table: Table, rule: str) -> Tree:
    from engine.tree import pruning_rules

    tree, is_classifier = result.trees[0], bool(result.classes)
    if rule == "merge":
        return pruning_rules.merge_same_prediction_leaves(tree, is_classifier=is_classifier)
    if rule == "pessimistic":
        if not is_classifier:
            raise DataError("pessimistic pruning expects errors of classes; prune numbers by validation rows")
        return pruning_rules.pessimistic_prune(tree)
    rows = rows_of_parts(result, table).get("validation")
    if rows is None:
        raise DataError("there are no validation rows to prune by; give some in the split, then train again")
    return pruning_rules.reduced_error_prune(tree, *rows, is_classifier=is_classifier)


def _cut_paths(before: Tree, after: Tree) -> list[Path]:
    """Return the paths of nodes that ask in one tree and are leaves of the other, which is its pruning."""
    paths: list[Path] = []
    waiting: list[tuple[Path, int, int]] = [((), 0, 0)]
    while waiting:
        path, old, new = waiting.pop()
        if before.is_leaf[old]:
            continue
        if after.is_leaf[new]:
            paths.append(path)
            continue
        pairs = zip(before.children(old), after.children(new), strict=True)
        waiting.extend(((*path, k), a, b) for k, (a, b) in enumerate(pairs))
    return sorted(paths)


def alpha_of(result: RunResult) -> float | None:
    """Return the price of a leaf that the result's tree was pruned to by hand; None where it was not."""
    return next((edit.alpha for edit in result.edits if edit.kind == "cost_complexity"), None)


def _editable(result: RunResult | None, table: Table) -> RunResult:
    if result is None:
        raise DataError("this model is not trained yet; train it first")
    if result.grown_tree is None:
        raise DataError("trees inside ensembles cannot be changed by hand; train a single tree")
    if difference := what_differs(result, table):
        raise DataError(f"{difference}, so it cannot be scored anew; undo that, or train the model again")
    return result


def _with_edits(result: RunResult, table: Table, edits: tuple[Any, ...]) -> RunResult:
    from engine.tree.edit import replay

    assert result.grown_tree is not None
    tree = result.grown_tree
    if edits:
        tree, _lost = replay(edits, tree)
    estimator = copy.copy(result.estimator)  # trees are values: the old estimator keeps the old one
    estimator.tree_ = tree
    inputs = inputs_of_result(result, table)
    return replace(
        result,
        estimator=estimator,
        edits=edits,
        importances=_importances(tree, len(result.features)),
        scores=score_parts(estimator, inputs, inputs.learnable()),
        cv=None,  # of another tree
        n_test_looks=result.n_test_looks + 1,
    )


def _importances(tree: Tree, n_features: int) -> np.ndarray[Any, Any]:
    from engine.inspection import impurity_importances

    return np.asarray(impurity_importances([tree], n_features), np.float64)
