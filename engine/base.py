"""The named steps every estimator's `fit` and `predict` begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, validate_data

from engine import dtypes
from engine.errors import DataError
from engine.features import FeatureSpec, check_finite, encode, is_frame, learn_features

MAX_DISTINCT_SHARE = 0.5  # float labels with fractions are classes up to this share of distinct values (D17)


@dataclass(frozen=True)
class TrainingData:
    """What a learner trains on: rows of positive weight only (D10).

    Attributes
    ----------
    X : float32 or float64 (n_rows, n_features)
        Encoded table, C-contiguous, read-only.
    y : float64 (n_rows,)
        Target, or class index.
    sample_weight : float64 (n_rows,)
        Sample weight times class weight, all positive.
    rows : int64 (n_rows,)
        Which rows of the caller's table these are.
    n_samples : int
        Rows of the caller's table.
    features : tuple of FeatureSpec
    classes : ndarray or None
        Labels in class order; None in regression.
    is_weighted : bool
        False when all weights are 1, so counts can stand for sums.
    """

    X: NDArray[Any]
    y: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    rows: NDArray[np.int64]
    n_samples: int
    features: tuple[FeatureSpec, ...]
    classes: NDArray[Any] | None
    is_weighted: bool

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)


def begin_fit(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, is_classifier: bool, class_weight: Any = None
) -> TrainingData:
    """Validate a training table, learn its columns and classes, and drop rows of weight 0.

    Sets `n_features_in_`, `feature_names_in_` (frames), `features_` and, for classifiers, `classes_`
    on `estimator`.

    Parameters
    ----------
    X : DataFrame or array-like (n_samples, n_features)
    y : array-like (n_samples,)
    sample_weight : array-like (n_samples,) or None
    class_weight : dict, "balanced" or None

    Raises
    ------
    DataError
        X, y or the weights do not fit; names column, rows and cure.
    """
    X, y = _as_table(estimator, X, y)
    estimator.features_ = learn_features(X, getattr(estimator, "categorical_features", "from_dtype"))
    encoded = encode(X, estimator.features_)
    weights = _check_weights(sample_weight, encoded)
    if is_classifier:
        estimator.classes_, target = _classes_and_codes(y)
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, np.asarray(y))
    else:
        target = _numeric_target(y)
    kept = np.flatnonzero(weights > 0)
    if len(kept) == 0:
        raise DataError(
            "all rows have weight 0 (the sum of sample_weight is not positive); give some rows weight"
        )
    if len(kept) < len(weights):
        encoded, target, weights = dtypes.as_input(encoded[kept]), target[kept], weights[kept]
    return TrainingData(
        X=encoded,
        y=dtypes.as_input(target, dtypes.Y_DTYPE),
        sample_weight=dtypes.as_input(weights, dtypes.Y_DTYPE),
        rows=kept,
        n_samples=len(X),
        features=estimator.features_,
        classes=estimator.classes_ if is_classifier else None,
        is_weighted=bool(np.any(weights != 1.0)),
    )


def begin_validation(
    estimator: Any, X_val: Any, y_val: Any, sample_weight_val: Any, training: TrainingData
) -> TrainingData:
    """Encode a validation part as the training part was encoded.

    Raises
    ------
    DataError
        It does not fit the training table, or holds a class that training never saw.
    """
    encoded = check_X(estimator, X_val)
    if y_val is None:
        raise DataError("X_val is given without y_val; pass both")
    weights = _check_weights(sample_weight_val, encoded)
    if training.classes is None:
        target = _numeric_target(y_val)
    else:
        target = _codes_of(np.asarray(y_val), training.classes)
    if len(target) != len(encoded):
        raise DataError(f"X_val has {len(encoded)} rows but y_val has {len(target)}")
    kept = np.flatnonzero(weights > 0)
    return TrainingData(
        X=encoded if len(kept) == len(weights) else dtypes.as_input(encoded[kept]),
        y=dtypes.as_input(target[kept], dtypes.Y_DTYPE),
        sample_weight=dtypes.as_input(weights[kept], dtypes.Y_DTYPE),
        rows=kept,
        n_samples=len(encoded),
        features=training.features,
        classes=training.classes,
        is_weighted=bool(np.any(weights[kept] != 1.0)),
    )


def check_X(estimator: Any, X: Any) -> NDArray[Any]:
    """Return `X` encoded for prediction by a fitted `estimator`.

    Raises
    ------
    NotFittedError
        The estimator was not fitted.
    DataError
        X does not have the columns of the training table.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator, "features_")
    if is_frame(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    else:
        X = validate_data(
            estimator, X, reset=False, dtype=dtypes.X_DTYPES, ensure_all_finite=False, order=None
        )
        check_finite(X, estimator.features_)
    return encode(X, estimator.features_)


def draw_seed(random_state: Any) -> int:
    """Return the one 64-bit seed of a fit, kept as `seed_` (D9).

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        None draws a seed from the operating system; an int is the seed; a generator is drawn from.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))


def member_seed(seed: int, member: int) -> np.uint64:
    """Return 64 bits for tree or round `member`, the same whatever was drawn before it (D9)."""
    return np.uint64(np.random.SeedSequence(seed, spawn_key=(member,)).generate_state(1, np.uint64)[0])


def _as_table(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None")
    if is_frame(X):
        validate_data(estimator, X, skip_check_array=True)
        if X.shape[1] == 0:
            raise DataError("0 feature(s) (the table has no column); at least one is required")
        if X.shape[0] == 0:
            raise DataError("0 sample(s) (the table has no row); at least one is required")
    else:
        X = validate_data(estimator, X, dtype=dtypes.X_DTYPES, ensure_all_finite=False, order=None)
    if not hasattr(y, "cat"):
        y = column_or_1d(y, warn=True)
    if len(X) != len(y):
        raise DataError(f"X has {len(X)} rows but y has {len(y)} (inconsistent numbers of samples)")
    return X, y


def _check_weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(weights)


def _numeric_target(y: Any) -> NDArray[np.float64]:
    try:
        target = np.asarray(column_or_1d(y), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the target is not numeric ({error}); use a classifier for labels") from None
    bad = np.flatnonzero(~np.isfinite(target))
    if len(bad):
        # "infinity" and "NaN" are the words scikit-learn's own checks look for
        raise DataError(f"the target is NaN or infinity in {len(bad)} rows, first {bad[0]}; leave them out")
    return target


def _classes_and_codes(y: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the class labels in order and each row's class index (D17)."""
    if hasattr(y, "cat"):
        codes = np.asarray(y.cat.codes)
        if np.any(codes < 0):
            raise DataError(
                f"the target is missing (NaN) in {np.count_nonzero(codes < 0)} rows; leave them out"
            )
        return np.asarray(y.cat.categories), codes.astype(np.float64)
    y = np.asarray(y)
    if y.dtype.kind == "f":
        _check_float_labels(y)
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):  # noqa: PLR0124
        raise DataError("the target is missing (NaN) in some rows; leave them out")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise DataError("the target mixes text and numbers; give all labels one type") from None
    return classes, codes.astype(np.float64)


def _check_float_labels(y: NDArray[Any]) -> None:
    if not np.isfinite(y).all():
        raise DataError("the target holds NaN or infinity; leave those rows out")
    distinct = np.unique(y)
    has_fractions = bool(np.any(distinct != np.floor(distinct)))
    if has_fractions and len(distinct) > MAX_DISTINCT_SHARE * len(y):
        raise DataError(
            f"Unknown label type: continuous. The target has {len(distinct)} distinct numbers with fractions "
            f"in {len(y)} rows; use a regressor, or turn it into classes"
        )


def _codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = sorted({str(label) for label in y.tolist() if label not in code_of})
    if unknown:
        raise DataError(f"the validation part holds the class {unknown[0]!r}, which training never saw")
    return np.array([code_of[label] for label in y.tolist()], dtype=np.float64)
