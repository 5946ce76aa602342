"""What else the nodes of a single tree could have asked. Runs in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from workbench.editing import training_rows
from workbench.fitting import rows_of_parts

if TYPE_CHECKING:
    from engine.tree.candidates import Candidate, GainCurve, NodeRows
    from engine.tree.presort import Ask
    from engine.tree.structure import Path, Tree
    from workbench.datasets import Table
    from workbench.runs import RunResult


@dataclass(frozen=True, eq=False)
class NodeStudy:
    """The candidates of one node.

    Attributes
    ----------
    tree : Tree
    path : Path
    found : list of Candidate
        The largest gain first.
    curves : dict of int to GainCurve
        Of every number column, by feature.
    rows : NodeRows
        What was looked at, kept for the next node.
    """

    tree: Tree
    path: Path
    found: list[Candidate]
    curves: dict[int, GainCurve]
    rows: NodeRows


def node_rows(result: RunResult, table: Table, ask: Ask) -> NodeRows | None:
    """Return training and validation rows of a single tree as its candidates are looked for in.

    None when `ask` stopped the sorting.
    """
    from engine.tree.candidates import NodeRows
    from engine.tree.growth_rules import CRITERIA, make_rules
    from engine.tree.presort import presort
    from engine.tree.regrow import criterion_of

    data = training_rows(result, table)
    presorted = presort(data.X, data.features, ask)
    if presorted is None:
        return None
    rules = make_rules(result.estimator, data, float(data.sample_weight.sum()))
    rules = rules._replace(criterion=CRITERIA[criterion_of(result.estimator)])
    X_val, y_val, w_val = rows_of_parts(result, table).get("validation", (None, None, None))
    return NodeRows(
        presorted, data.y, data.sample_weight, data.features, rules, X_val, y_val, w_val,
        algorithm=getattr(result.estimator, "algorithm", "cart"),
    )  # fmt: skip


def study_node(
    result: RunResult, table: Table, path: Path, rows: NodeRows | None = None,
    monitor: FitMonitor = NULL_MONITOR,
) -> NodeStudy | None:  # fmt: skip
    """Return the candidates of a node; `rows` are those of an earlier study of the same result.

    None when the monitor stopped it.
    """
    from engine.tree.candidates import candidates, gain_curve

    def ask(_n_done: int, _fraction: float) -> bool:
        return monitor.on_iteration(IterationEvent("looking"))

    rows = node_rows(result, table, ask) if rows is None else rows
    if rows is None:
        return None
    tree, curves = result.trees[0], {}
    found = candidates(tree, path, rows, ask)
    if found is None:
        return None
    for feature in (c.feature for c in found if not rows.presorted.is_level[c.feature]):
        curve = gain_curve(tree, path, feature, rows, ask)
        if curve is None or ask(0, 0.0):
            return None
        curves[feature] = curve
    return NodeStudy(tree, path, found, curves, rows)
