"""Changing a single tree by hand: new results from old ones, scored anew (D20)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, StopWatcher
from workbench.figures.words import counted
from workbench.fitting import inputs_of_result, rows_of_parts, score_parts, what_differs
from workbench.runs import RunResult

if TYPE_CHECKING:
    from engine.base import TrainingData
    from engine.tree.edit import Edit
    from engine.tree.structure import Path, Tree
    from workbench.datasets import Table

EACH_LEVEL = "each level"  # the answer of a forced split with a branch for each of them
RULES = {
    "reduced_error": "reduced-error pruning",
    "pessimistic": "pessimistic pruning",
    "merge": "merging leaves that answer the same",
}


def prune(
    result: RunResult | None, table: Table, path: Path, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with the node at `path` made a leaf.

    Raises
    ------
    DataError
        The model is no trained single tree, the node is a leaf or does not exist, or the table
        is no longer the one it was trained on, or is read differently.
    """
    from engine.tree.edit import Edit

    result = editable(result, table)
    tree = result.tree(0)
    if tree.is_leaf[tree.node_at(path)]:
        raise DataError("this node is a leaf already; choose a node with a question")
    return _with_edits(result, table, (*result.edits, Edit("prune", path)), monitor)


def expand(
    result: RunResult | None, table: Table, path: Path, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with all that was done by hand at `path` taken back.

    Changes below it stay, but those of a branch that was grown or split by hand and is gone.

    Raises
    ------
    DataError
        Nothing was changed there, or as for `prune`.
    """
    result = editable(result, table)
    kept: list[Edit] = []
    is_branch_gone = False
    for edit in result.edits:
        if not edit.is_of_whole_tree and edit.path == path:
            is_branch_gone = is_branch_gone or edit.kind in ("force_split", "regrow")
        elif not (is_branch_gone and edit.path[: len(path)] == path):
            kept.append(edit)
    if len(kept) == len(result.edits):
        raise DataError("nothing was changed at this node, so there is nothing to put back")
    return _with_edits(result, table, tuple(kept), monitor)


def flip_missing(
    result: RunResult | None, table: Table, path: Path, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with missing values taking the other side at `path`; the next of several branches.

    Raises
    ------
    DataError
        The node is a leaf or asks whether the value is missing, or as for `prune`.
    """
    from engine.tree.edit import Edit

    result = editable(result, table)
    tree = result.tree(0)
    node = tree.node_at(path)
    n_children = max(int(tree.n_children[node]), 1)  # a leaf is refused by the edit itself
    edit = Edit("set_missing", path, child=(int(tree.missing_child[node]) + 1) % n_children)
    last = result.edits[-1] if result.edits else None
    if last is None or last.kind != "set_missing" or last.path != path:
        return _and_then(result, table, edit, monitor)
    before = _with_edits(result, table, result.edits[:-1], monitor)  # turned on: one change, or none
    child_before = int(before.tree(0).missing_child[before.tree(0).node_at(path)])
    if child_before == edit.child:
        return before
    return _with_edits(result, table, (*result.edits[:-1], edit), monitor)


def grow_below(
    result: RunResult | None, table: Table, path: Path, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with all below the node at `path` grown anew, with the settings of its training.

    Raises
    ------
    DataError
        The monitor stopped it, nothing else grows there than what is there already, or as for `prune`.
    """
    from engine.tree.edit import Edit
    from engine.tree.regrow import regrow

    result = editable(result, table)
    edit, watcher = Edit("regrow", path), StopWatcher(monitor, IterationEvent("growing"))
    tree = regrow(result.tree(0), path, result.estimator, training_rows(result, table), watcher.ask)
    if watcher.is_stopped:  # a part of a branch could not be repeated
        raise DataError("growing below was stopped; the tree is as it was")
    if tree == result.tree(0):
        raise DataError(
            "with the settings of this model nothing else grows below this node; force a split there, or "
            "change the settings and train it again"
        )
    return with_tree(result, table, (*result.edits, edit), tree, monitor)


def force_split(
    result: RunResult | None, table: Table, path: Path, feature: str, answer: float | Sequence[str] | None,
    missing_child: int | None = None, monitor: FitMonitor = NULL_MONITOR,
) -> RunResult:  # fmt: skip
    """Return the result with the node at `path` asking about `feature`; what was below is gone.

    Parameters
    ----------
    answer : float, sequence of str, or None
        The threshold of a number, the levels of a category that take the first side, `EACH_LEVEL` for a
        branch for each of them, or None to ask whether the value is missing.
    missing_child : 0 or 1, optional
        Side of missing values beside a threshold or levels; where they help most if it is not given.

    Raises
    ------
    DataError
        All rows would go to one side, or as for `prune`.
    ParameterError
        The answer is none to a question about this column.
    """
    from engine.tree.edit import Edit

    result = editable(result, table)
    if answer is None:
        edit = Edit("force_split", path, feature=feature, is_missing=True)
    elif answer == EACH_LEVEL:
        edit = Edit("force_split", path, feature=feature, each_level=True)
    elif isinstance(answer, (int, float)):
        edit = Edit(
            "force_split", path, feature=feature, threshold=float(answer), missing_child=missing_child
        )
    else:
        edit = Edit("force_split", path, feature=feature, levels=tuple(answer), missing_child=missing_child)
    return _and_then(result, table, edit, monitor)


def prune_to(result: RunResult | None, table: Table, alpha: float | None) -> RunResult:
    """Return the result pruned by cost-complexity to the price `alpha` of a leaf; None: not so any more.

    Changes by hand stay: they are made after it, those at nodes that it has cut itself being no matter. How
    many splits the tree was given (`workbench.steps`) is not kept: the price of a leaf decides that now.

    Raises
    ------
    DataError
        As for `prune`.
    """
    result = editable(result, table)
    changed = _with_edits(result, table, _with_price(result, alpha))
    # one drag of a slider is one look at the test score
    return changed if alpha_of(result) is None else replace(changed, n_test_looks=result.n_test_looks)


def preview_of_price(result: RunResult, alpha: float | None) -> RunResult | None:
    """Return what `prune_to` does with the old scores, in a few milliseconds; None where it takes rows."""
    from engine.tree.edit import replay

    edits = _with_price(result, alpha)
    if result.grown_tree is None or any(edit.needs_training_rows for edit in edits):
        return None
    estimator = copy.copy(result.estimator)
    estimator.tree_ = replay(edits, result.grown_tree, None, result.estimator)[0]
    return replace(result, estimator=estimator, edits=edits)


def _with_price(result: RunResult, alpha: float | None) -> tuple[Edit, ...]:
    from engine.tree.edit import Edit

    by_hand = [edit for edit in result.edits if not edit.is_of_whole_tree]
    return (*([] if alpha is None else [Edit("cost_complexity", (), alpha)]), *by_hand)


def prune_by_rule(
    result: RunResult | None, table: Table, rule: str, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
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

    result = editable(result, table)
    before, after = result.trees[0], _pruned_by(result, table, rule)
    paths = _cut_paths(before, after)
    if not paths:
        raise DataError(f"{RULES[rule]} cuts nothing in this tree: every branch is worth keeping by it")
    return _with_edits(result, table, (*result.edits, *(Edit("prune", path) for path in paths)), monitor)


def _pruned_by(result: RunResult, table: Table, rule: str) -> Tree:
    from engine.tree import pruning_rules
    from engine.tree.cost_complexity import loss_of

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
    return pruning_rules.reduced_error_prune(tree, *rows, loss=loss_of(result.estimator))


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


def make_again(result: RunResult, table: Table, edits: tuple[Edit, ...]) -> RunResult:
    """Return a new training's result with an earlier one's changes by hand, those that still hold.

    Parameters
    ----------
    result : RunResult
        Of a single tree as it was grown.
    edits : tuple of Edit
        In order.
    """
    from engine.tree.edit import replay

    assert result.grown_tree is not None
    rows = rows_for(edits, result, table)
    tree, lost = replay(edits, result.grown_tree, rows, result.estimator)
    held = tuple(edit for edit in edits if not any(edit is gone for gone in lost))
    return with_tree(result, table, held, tree) if held else result


def missing_sentence(result: RunResult, path: Path) -> str:
    """Say where rows go now that miss the column which the node at `path` asks about."""
    from engine.tree.inspect import edge_label

    tree = result.tree(0)
    node = tree.node_at(path)
    side = edge_label(tree, node, int(tree.missing_child[node]), result.feature_specs)
    name, n_missing = result.feature_specs[int(tree.feature[node])].name, int(tree.n_missing[node])
    rows = f"{counted(n_missing, 'training row')} without {name}"
    return f"At this node {rows} {'takes' if n_missing == 1 else 'take'} “{side}” now"


def alpha_of(result: RunResult) -> float | None:
    """Return the price of a leaf that the result's tree was pruned to by hand; None where it was not."""
    return next((edit.alpha for edit in result.edits if edit.kind == "cost_complexity"), None)


def editable(result: RunResult | None, table: Table) -> RunResult:
    """Return the result of a single tree that can be changed by hand; raises DataError for others."""
    if result is None:
        raise DataError("this model is not trained yet; train it first")
    if result.grown_tree is None:
        raise DataError("trees inside ensembles cannot be changed by hand; train a single tree")
    if difference := what_differs(result, table):
        raise DataError(f"{difference}, so it cannot be scored anew; undo that, or train the model again")
    return result


def _and_then(result: RunResult, table: Table, edit: Edit, monitor: FitMonitor) -> RunResult:
    """Return the result with one more edit, which must hold."""
    tree = edit.apply(result.tree(0), training_rows(result, table), result.estimator)
    return with_tree(result, table, (*result.edits, edit), tree, monitor)


def _with_edits(
    result: RunResult, table: Table, edits: tuple[Edit, ...], monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with other edits; those that hold no longer change nothing."""
    from engine.tree.edit import replay

    assert result.grown_tree is not None
    tree = result.grown_tree
    if edits:
        tree, _lost = replay(edits, tree, rows_for(edits, result, table), result.estimator)
    return with_tree(result, table, edits, tree, monitor)


def rows_for(edits: tuple[Edit, ...], result: RunResult, table: Table) -> TrainingData | None:
    """Return the rows that edits are replayed with; None where none of them needs any."""
    needs_rows = any(edit.needs_training_rows for edit in edits)
    return training_rows(result, table) if needs_rows else None


def training_rows(result: RunResult, table: Table) -> TrainingData:
    """Return the rows that a single tree was grown on, as its engine saw them."""
    from engine.tree.regrow import training_data

    inputs = inputs_of_result(result, table)
    rows = inputs.learnable().take(inputs.rows_of("train"))
    return training_data(result.estimator, rows.X, rows.labels, rows.weights)


def with_tree(
    result: RunResult, table: Table, edits: tuple[Edit, ...], tree: Tree, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with an edited tree in place of its own, scored anew; `edits` are how it was made."""
    estimator = copy.copy(result.estimator)  # trees are values: the old estimator keeps the old one
    estimator.tree_ = tree
    inputs = inputs_of_result(result, table)
    return replace(
        result,
        estimator=estimator,
        edits=edits,
        importances=_importances(tree, len(result.features)),
        scores=score_parts(estimator, inputs, inputs.learnable(), monitor),
        cv=None,  # of another tree
        n_test_looks=result.n_test_looks + 1,
    )


def _importances(tree: Tree, n_features: int) -> np.ndarray[Any, Any]:
    from engine.inspection import impurity_importances

    return np.asarray(impurity_importances([tree], n_features), np.float64)
