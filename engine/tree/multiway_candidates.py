"""What else a node of an ID3 or C4.5 tree could have asked: a branch for every level, and thresholds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.monitor import StopFlag
from engine.tree.candidates import Candidate, NodeRows, Part, children_of_split, children_of_unknown
from engine.tree.kernels.layout import TIE_SHARE
from engine.tree.multiway import MultiwayGrower, Split, entropy, information_gain
from engine.tree.node_search import NodeSearch, SplitFound
from engine.tree.regrow import asked_above
from engine.tree.structure import THRESHOLD, Path, Tree


def multiway_candidates(
    tree: Tree, path: Path, data: NodeRows, rows: NDArray[np.int64], of_numbers: NodeSearch, validation: Part,
    flag: StopFlag,
) -> list[Candidate] | None:  # fmt: skip
    """Return what `engine.tree.candidates.candidates` does, for ID3 and C4.5.

    Parameters
    ----------
    rows : int64 (n_rows,)
        The training rows that reach the node, at least one.
    of_numbers : NodeSearch
        Its root is the node, and has been looked at: it finds the thresholds.
    validation : (X, y, w) or None
        The validation rows that reach the node.
    flag : StopFlag
        Asked between columns; then None is returned.
    """
    X, used = data.presorted.X, asked_above(tree, path)
    training = TrainingData(
        X=X, y=data.y, sample_weight=data.w, rows=np.arange(len(X)), n_samples=len(X),
        features=tuple(data.features), classes=np.arange(data.rules.n_sums), is_weighted=True,
    )  # fmt: skip
    grower = MultiwayGrower(training, data.rules, data.algorithm)
    impurity, splits = of_numbers.root_impurity, []
    for feature in range(len(data.features)):
        if flag.ask():
            return None
        is_level = bool(data.presorted.is_level[feature])
        if is_level and feature in used:
            continue
        found = grower.level_split_of(rows, feature) if is_level else _split_of_number(of_numbers, feature)
        if found is not None:
            splits.append(found)
    is_eligible = grower.is_eligible(splits, impurity)
    merits = [grower.merit(split) for split in splits]
    best = max((m for m, is_one in zip(merits, is_eligible, strict=True) if is_one), default=np.inf)
    told_of = []
    for split, merit, is_one in zip(splits, merits, is_eligible, strict=True):
        told = SplitFound(
            split.kind, split.threshold, grower.levels_of(split), split.missing_child, max(split.gain, 0.0)
        )
        is_tied = is_one and merit >= best - TIE_SHARE * impurity
        on_validation = _validation_gain(grower, split, told, data, rows, validation)
        ratio = split.gain_ratio if data.algorithm == "c4.5" else np.nan
        told_of.append(Candidate(split.feature, told, told.gain, on_validation, is_tied, ratio, is_one))
    merit_of = dict(zip((split.feature for split in splits), merits, strict=True))
    return sorted(
        told_of,
        key=lambda c: (
            not c.is_eligible,
            not c.is_tied,
            0.0 if c.is_tied else -merit_of[c.feature],
            c.feature,
        ),
    )


def _split_of_number(search: NodeSearch, feature: int) -> Split | None:
    """Return a number column's best split of the node that is searched."""
    found = search.best_split_of(feature)
    if found is None:
        return None
    first = search.weight_of_first(feature) / search.root_weight
    information = entropy(np.array([first, 1 - first]))
    return Split(feature, found.kind, found.gain, information, found.threshold, found.missing_child)


def _validation_gain(
    grower: MultiwayGrower, split: Split, told: SplitFound, data: NodeRows, rows: NDArray[np.int64],
    validation: Part,
) -> float:  # fmt: skip
    if validation is None or not len(validation[1]):
        return np.nan
    X, y, w = validation
    x, unknown = X[:, split.feature].astype(np.float64), (-1, -1)
    if split.kind != THRESHOLD or np.isnan(x).any():  # else every row knows its side
        seen = data.presorted.X[rows, split.feature].astype(np.float64)
        settled = told._replace(missing_child=max(told.missing_child, grower.branch_of_missing(split)))
        is_level = data.rules.missing_is_level
        unknown = children_of_unknown(settled, seen, data.w[rows], missing_is_level=is_level)
    child = children_of_split(told, x, *unknown)
    return information_gain(child, y.astype(np.int64), w) if child.min() < child.max() else np.nan
