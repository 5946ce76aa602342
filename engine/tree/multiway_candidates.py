"""What else a node of an ID3 or C4.5 tree could have asked: a branch for every level, and thresholds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.tree.by_hand import rows_at
from engine.tree.candidates import Candidate, NodeRows, Part, children_of_split, children_of_unknown
from engine.tree.grow import SplitFound
from engine.tree.kernels.layout import TIE_SHARE
from engine.tree.multiway import MultiwayGrower, Split, information_gain
from engine.tree.regrow import asked_above
from engine.tree.structure import Path, Tree


def multiway_candidates(tree: Tree, path: Path, data: NodeRows, validation: Part) -> list[Candidate]:
    """Return what `engine.tree.candidates.candidates` does, for ID3 and C4.5.

    Parameters
    ----------
    validation : (X, y, w) or None
        The validation rows that reach the node.

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    X = data.presorted.X
    rows = rows_at(tree, path, X)
    if not len(rows):
        return []
    training = TrainingData(
        X=X, y=data.y, sample_weight=data.w, rows=np.arange(len(X)), n_samples=len(X),
        features=tuple(data.features), classes=np.arange(data.rules.n_sums), is_weighted=True,
    )  # fmt: skip
    grower = MultiwayGrower(training, data.rules, data.algorithm)
    splits, impurity = grower.splits_of(rows, asked_above(tree, path))
    is_eligible = grower.is_eligible(splits, impurity)
    merits = [grower.merit(split) for split in splits]
    best = max((m for m, is_one in zip(merits, is_eligible, strict=True) if is_one), default=np.inf)
    found = []
    for split, merit, is_one in zip(splits, merits, is_eligible, strict=True):
        told = SplitFound(
            split.kind, split.threshold, grower.levels_of(split), split.missing_child, max(split.gain, 0.0)
        )
        is_tied = is_one and merit >= best - TIE_SHARE * impurity
        on_validation = _validation_gain(grower, split, told, data, rows, validation)
        ratio = split.gain_ratio if data.algorithm == "c4.5" else np.nan
        found.append(Candidate(split.feature, told, told.gain, on_validation, is_tied, ratio, is_one))
    merit_of = dict(zip((split.feature for split in splits), merits, strict=True))
    return sorted(
        found,
        key=lambda c: (
            not c.is_eligible,
            not c.is_tied,
            0.0 if c.is_tied else -merit_of[c.feature],
            c.feature,
        ),
    )


def _validation_gain(
    grower: MultiwayGrower, split: Split, told: SplitFound, data: NodeRows, rows: NDArray[np.int64],
    validation: Part,
) -> float:  # fmt: skip
    if validation is None or not len(validation[1]):
        return np.nan
    X, y, w = validation
    seen = data.presorted.X[rows, split.feature].astype(np.float64)
    settled = told._replace(missing_child=max(told.missing_child, grower.branch_of_missing(split)))
    unknown = children_of_unknown(settled, seen, data.w[rows], missing_is_level=data.rules.missing_is_level)
    child = children_of_split(told, X[:, split.feature].astype(np.float64), *unknown)
    return information_gain(child, y.astype(np.int64), w) if len(np.unique(child)) > 1 else np.nan
