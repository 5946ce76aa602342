"""What fitted models of any kind say of rows: shares with a column for every class, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.base import Learner
from engine.errors import DataError
from engine.features import FeatureSpec
from engine.other_learners import OneClass, Rows

Floats = NDArray[np.float64]


def said_of_classes(
    model: Any, rows: Rows, features: Sequence[FeatureSpec], places: NDArray[np.intp], n_classes: int,
    *, is_hard: bool = False,
) -> Floats:  # fmt: skip
    """Return what a fitted classifier says of rows: float64 (n_rows, n_classes), each row adds up to 1.

    Parameters
    ----------
    features : sequence of FeatureSpec
        How `rows` are encoded.
    places : intp (n_classes of the model,)
        Column of each of its own classes; the others, which it never saw, hold 0.
    is_hard : bool
        One vote for the class that it predicts. Else its probabilities; of one that has none, decision
        values through the logistic function (softmax for more than two classes); else its vote.

    Raises
    ------
    DataError
        It says something else than a finite share for each class, or must be asked with a frame.
    """
    shares = np.zeros((len(rows.encoded), n_classes))
    if len(shares):
        own = _encoded(model, rows, features)
        if own is None:
            own = _shares_said(model, _given(model, rows), is_hard)
        shares[:, places] = _votes_of(own) if is_hard else own
    return shares


def said_of_numbers(model: Any, rows: Rows, features: Sequence[FeatureSpec]) -> Floats:
    """Return what a fitted regressor says of rows: float64 (n_rows,).

    Raises
    ------
    DataError
        It does not say one finite number a row, or must be asked with a frame.
    """
    n_rows = len(rows.encoded)
    if n_rows == 0:
        return np.empty(0)
    own = _encoded(model, rows, features)
    said = np.asarray(model.predict(_given(model, rows)), np.float64) if own is None else own
    if said.shape not in ((n_rows,), (n_rows, 1)) or not np.isfinite(said).all():
        raise DataError(
            f"a {type(model).__name__} answers {n_rows} rows with an array of shape {said.shape}, or with "
            "numbers that are not finite; choose another model"
        )
    return said.reshape(n_rows)


def _encoded(model: Any, rows: Rows, features: Sequence[FeatureSpec]) -> Floats | None:
    """Return what a model of this package says of the encoded rows; None where it cannot read them."""
    if not isinstance(model, Learner) or tuple(model.features_) != tuple(features):
        return None
    from engine.surface import encoded_answer

    return encoded_answer(model, rows.encoded)


def _given(model: Any, rows: Rows) -> Any:
    if isinstance(model, OneClass):
        return rows.encoded
    if rows.given is None:
        raise DataError(
            f"a {type(model).__name__} was trained on a frame and reads nothing else, so it cannot be drawn; "
            "choose a model of this program"
        )
    return rows.given


def _votes_of(shares: Floats) -> Floats:
    return np.asarray(np.eye(shares.shape[1])[np.argmax(shares, axis=1)])


def _shares_said(model: Any, X: Any, is_hard: bool) -> Floats:
    classes = np.asarray(model.classes_)
    said: Any = None
    if not is_hard and hasattr(model, "predict_proba"):
        said = np.asarray(model.predict_proba(X), np.float64)
    elif not is_hard and hasattr(model, "decision_function"):
        said = _as_shares(np.asarray(model.decision_function(X), np.float64), len(classes))
    if said is None:
        said = (np.asarray(model.predict(X))[:, np.newaxis] == classes).astype(np.float64)
    if said.shape != (len(X), len(classes)) or not np.isfinite(said).all():
        raise DataError(
            f"a {type(model).__name__} answers {len(X)} rows of {len(classes)} classes with an array of "
            f"shape {said.shape}, or with numbers that are not finite; choose another model"
        )
    return np.asarray(said)


def _as_shares(decisions: Floats, n_classes: int) -> Floats | None:
    """Return decision values as shares; None for values of pairs of classes, which say nothing of one."""
    if decisions.ndim == 1:
        decisions = np.column_stack([np.zeros(len(decisions)), decisions])
    if decisions.shape[1] != n_classes:
        return None
    raised = np.exp(decisions - decisions.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
