"""Going through the splits of a single tree in best-first order, one more or one fewer at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor
from workbench.editing import editable, rows_for, with_tree

if TYPE_CHECKING:
    from engine.tree.edit import Edit
    from workbench.datasets import Table
    from workbench.runs import RunResult


def step_splits(
    result: RunResult | None, table: Table, n_more: int, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result with `n_more` splits, in best-first order; negative takes the last ones back.

    Splits that were cut come back up to the grown tree with all changes by hand but cuts. Steps in a row are
    one edit, and one look at the test score.

    Raises
    ------
    DataError
        There are not so many to take back, or to come back; or as for `prune`.
    """
    from engine.tree.best_first import count_splits
    from engine.tree.edit import Edit, replay

    result = editable(result, table)
    assert result.grown_tree is not None
    before = _before_steps(result)
    n_wanted = count_splits(result.tree(0)) + n_more
    if n_wanted < 0:
        raise DataError("the tree asks nothing any more, so there is no split to take back")
    edits = (*before, Edit("splits", n_splits=n_wanted))
    rows = rows_for(before, result, table)
    tree, lost = replay(edits, result.grown_tree, rows, result.estimator)
    if any(edit is edits[-1] for edit in lost):
        raise DataError("every split is there already; to grow more, train again with looser limits")
    if count_splits(replay(before, result.grown_tree, rows, result.estimator)[0]) == n_wanted:
        edits = before  # back where the steps began
    changed = with_tree(result, table, edits, tree, monitor)
    is_again = len(before) < len(result.edits)
    return replace(changed, n_test_looks=result.n_test_looks) if is_again else changed


def n_splits_uncut(result: RunResult, table: Table) -> int:
    """Return how many splits the tree has when all that was cut from it is back: where `step_splits` ends."""
    from engine.tree.best_first import count_splits, count_with_cut
    from engine.tree.edit import replay_beside_uncut

    assert result.grown_tree is not None
    before = _before_steps(result)
    if not any(edit.is_cut for edit in result.edits):
        return count_splits(result.tree(0))
    rows = rows_for(before, result, table)
    tree, uncut, _lost = replay_beside_uncut(before, result.grown_tree, rows, result.estimator)
    return count_with_cut(tree, uncut)


def _before_steps(result: RunResult) -> tuple[Edit, ...]:
    """Return the edits without the steps through the splits that are the last."""
    is_last = bool(result.edits) and result.edits[-1].kind == "splits"
    return result.edits[:-1] if is_last else result.edits
