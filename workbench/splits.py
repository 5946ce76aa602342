"""What else the nodes of a single tree could have asked. Runs in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.fitting import inputs_of_result

if TYPE_CHECKING:
    from engine.tree.candidates import Candidate, GainCurve, NodeRows
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


def node_rows(result: RunResult, table: Table) -> NodeRows:
    """Return training and validation rows of a single tree as its candidates are looked for in."""
    from sklearn.base import clone

    from engine.base import begin_fit
    from engine.features import encode
    from engine.tree.candidates import NodeRows
    from engine.tree.grow import make_rules, presort

    inputs = inputs_of_result(result, table)
    everything = inputs.learnable()
    training, validation = (everything.take(inputs.rows_of(part)) for part in ("train", "validation"))
    estimator: Any = clone(result.estimator)
    data = begin_fit(
        estimator, training.X, training.labels, training.weights, is_classifier=bool(result.classes),
        class_weight=estimator.class_weight,
    )  # fmt: skip
    presorted = presort(data.X, data.features, lambda _n_done, _fraction: False)
    assert presorted is not None  # nothing stops it
    rules = make_rules(estimator, data, float(data.sample_weight.sum()))
    weights = np.ones(len(validation.y)) if validation.weights is None else validation.weights
    outside = (encode(validation.X, data.features), np.asarray(validation.y, np.float64), weights)
    return NodeRows(presorted, data.y, data.sample_weight, data.features, rules, *outside)


def study_node(result: RunResult, table: Table, path: Path, rows: NodeRows | None = None) -> NodeStudy:
    """Return the candidates of a node; `rows` are those of an earlier study of the same result."""
    from engine.tree.candidates import candidates, gain_curve

    rows = node_rows(result, table) if rows is None else rows
    tree = result.trees[0]
    found = candidates(tree, path, rows)
    numbers = [c.feature for c in found if not rows.presorted.is_level[c.feature]]
    curves = {feature: gain_curve(tree, path, feature, rows) for feature in numbers}
    return NodeStudy(tree, path, found, curves, rows)
