"""Does a stack's meta-model learn from rows that the base models had seen? (Wolpert 1992)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from engine.errors import DataError
from engine.folds import group_numbers


@dataclass(frozen=True)
class LeakageReport:
    """What a look at every row's fold against the rows that its base models were fitted on found.

    Attributes
    ----------
    n_rows : int
        Rows that have out-of-fold answers.
    n_fits : int
        Fits of base models that were looked at.
    n_seen_rows : int
        Rows that a base model had been fitted on before it was asked about them. 0 is right.
    n_unasked_rows : int
        Rows that no base model was asked about.
    n_shared_groups : int or None
        Groups of which some rows were fitted on while others were asked about; None without groups.
    """

    n_rows: int
    n_fits: int
    n_seen_rows: int
    n_unasked_rows: int
    n_shared_groups: int | None

    @property
    def is_clean(self) -> bool:
        """No row was seen, none is without an answer, and no group is on both sides."""
        return self.n_seen_rows == 0 and self.n_unasked_rows == 0 and not self.n_shared_groups


def check_leakage(stack: Any, groups: Any = None) -> LeakageReport:
    """Compare each row's fold with the rows that the fold's base models were fitted on.

    The rows are those that were written down when the base models were fitted, not worked out anew.

    Parameters
    ----------
    stack : fitted StackingClassifier or StackingRegressor
    groups : array-like (n_samples,), optional
        Also count the groups that stand on both sides of a fold.

    Raises
    ------
    DataError
        The stack was stopped before its base models were asked, or read from a file without its rows, or
        `groups` has another length.
    """
    check_is_fitted(stack, "estimators_")
    fits = getattr(stack, "fold_rows_", ())
    if not fits:
        raise DataError("this stack has no out-of-fold answers: its training was stopped; train it again")
    folds = np.asarray(stack.oof_fold_)
    known = None if groups is None else group_numbers(groups, len(folds))
    in_use = folds[:, 0] >= 0
    seen, asked = np.zeros(len(folds), bool), np.zeros(folds.shape, bool)
    shared: set[Any] = set()
    for fit in fits:
        asked[fit.asked, fit.repeat] |= folds[fit.asked, fit.repeat] == fit.fold
        seen[np.intersect1d(fit.asked, fit.rows)] = True
        if known is not None:
            shared.update(np.intersect1d(known[fit.asked], known[fit.rows]).tolist())
    return LeakageReport(
        n_rows=int(in_use.sum()),
        n_fits=len(fits),
        n_seen_rows=int(seen.sum()),
        n_unasked_rows=int((~asked.all(axis=1) & in_use).sum()),
        n_shared_groups=None if groups is None else len(shared),
    )
