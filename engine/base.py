"""The named steps every estimator's `fit` and `predict` begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight, validate_data

from engine import dtypes
from engine.errors import DataError, ParameterError
from engine.features import FeatureSpec, encode, is_frame, learn_features
from engine.missing import is_missing

MAX_DISTINCT_SHARE = 0.5  # float labels with fractions are classes up to this share of distinct values (D17)
LARGEST_TARGET = 1e150  # beyond, a sum of squares is infinite
LARGEST_PRODUCT = 1e153  # of the sum of weights and a target: beyond, its square is infinite
LARGEST_WEIGHT = 1e100  # beyond, and below its inverse, squares of summed weights are infinite or 0


class Learner(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: scikit-learn's parameters, and that missing values are welcome.

    Attributes
    ----------
    combination : "sum", "votes", "median" or "rows"
        What an ensemble's answer is made of: the sum of its trees' values (or their mean), the sum of its
        learners' weights by class, or the weighted median of what they say. "rows": nothing is known of it
        but what `encoded_answer` says of rows, as of all models that are not made of trees.
    """

    combination = "sum"

    @property
    def has_probabilities(self) -> bool:
        """A classifier that tells them; False of one that only names a class, with decision values."""
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class ProbabilityClassifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier that predicts the class it tells the largest probability of."""

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, columns as `classes_`: float64 (n_samples, n_classes)."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, the first on a tie: (n_samples,)."""
        return self._labels(self.predict_proba(X))

    def _labels(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return labels


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

    Sets `n_features_in_`, `feature_names_in_` (frames), `features_`, an empty `notes_` and, for classifiers,
    `classes_` on `estimator`.

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
    ParameterError
        `class_weight` or `categorical_features` does not fit the table.
    """
    X, y = _as_table(estimator, X, y)
    estimator.notes_ = ()  # of `engine.notes`
    estimator.features_ = learn_features(X, getattr(estimator, "categorical_features", "from_dtype"))
    encoded = encode(X, estimator.features_)
    weights = _check_weights(sample_weight, encoded)
    if is_classifier:
        estimator.classes_, target = _classes_and_codes(y)
        weights = _times_class_weights(weights, class_weight, estimator.classes_, target.astype(np.intp))
    else:
        target = _numeric_target(y)
        _check_product(target, weights)
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
) -> TrainingData | None:
    """Encode a validation part as the training part was encoded; None where none is given.

    Raises
    ------
    ParameterError
        One of `X_val` and `y_val` is given without the other, weights are given without them, or
        they differ in length.
    DataError
        It does not fit the training table, or holds a class that training never saw.
    """
    _check_validation_is_whole(X_val, y_val, sample_weight_val)
    if X_val is None:
        return None
    encoded = check_X(estimator, X_val)
    weights = _check_weights(sample_weight_val, encoded)
    if training.classes is None:
        target = _numeric_target(y_val)
    else:
        target = _codes_of(np.asarray(_plain(y_val)), training.classes)
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


def _check_validation_is_whole(X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
    given = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
    n_rows = {name: _n_rows(value) for name, value in given.items() if value is not None}
    for name, n_given in n_rows.items():
        lacking = [other for other in ("X_val", "y_val") if other not in n_rows]
        if lacking:
            raise ParameterError(
                f"{name} is given without {lacking[0]}; pass X_val and y_val together, or none of them"
            )
        if n_given != n_rows["X_val"]:
            raise ParameterError(
                f"X_val has {n_rows['X_val']} rows but {name} has {n_given}; give one for every row"
            )


def _n_rows(value: Any) -> int:
    shape = np.shape(value)
    return int(shape[0]) if shape else 1


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
    return encode(X, estimator.features_)


def draw_seed(random_state: Any) -> int:
    """Return the one 64-bit seed of a fit, kept as `seed_` (D9).

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        None draws a seed from the operating system; an int is the seed; a generator is drawn from.

    Raises
    ------
    ParameterError
        It is anything else.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if (
        isinstance(random_state, (int, np.integer))
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ParameterError(
        f"random_state is {random_state!r}; enter a whole number from 0, None (drawn anew) or a generator"
    )


def member_seed(seed: int, member: int) -> np.uint64:
    """Return 64 bits for tree or round `member`, the same whatever was drawn before it (D9)."""
    return np.uint64(np.random.SeedSequence(seed, spawn_key=(member,)).generate_state(1, np.uint64)[0])


def _as_table(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None")
    if is_frame(X):
        _check_names(X)
        validate_data(estimator, X, skip_check_array=True)
        if X.shape[1] == 0:
            raise DataError("0 feature(s) (the table has no column); at least one is required")
        if X.shape[0] == 0:
            raise DataError("0 sample(s) (the table has no row); at least one is required")
    else:
        X = validate_data(estimator, X, dtype=dtypes.X_DTYPES, ensure_all_finite=False, order=None)
    y = _plain(y)
    if not hasattr(y, "categories"):
        y = column_or_1d(y, warn=True)
    if len(X) != len(y):
        raise DataError(f"X has {len(X)} rows but y has {len(y)} (inconsistent numbers of samples)")
    return X, y


def _check_names(X: Any) -> None:
    names = [str(name) for name in X.columns]
    repeated = (
        sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    )
    if repeated:
        raise DataError(f"the table has more than one column {repeated[0]!r}; give every column its own name")


def _plain(y: Any) -> Any:
    """Return a pandas target as a Categorical or, of the type its values have, as an array (D17).

    Nullable whole numbers and booleans would else become floats, and labels must come back as given.
    """
    y = getattr(y, "array", y) if hasattr(y, "cat") else y
    numpy_dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if numpy_dtype is None or np.any(np.asarray(y.isna())):
        return y
    return y.to_numpy(dtype=numpy_dtype)


def _check_weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    try:
        checked = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except ValueError as error:
        raise DataError(f"{error} Give sample_weight one finite number from 0 for every row") from None
    weights = np.asarray(checked)
    largest = float(weights.max(initial=0.0))
    if largest > 0 and not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise DataError(
            f"the largest sample_weight is {largest:g}; scale the weights, for example to a mean of 1"
        )
    return weights


def _times_class_weights(
    weights: NDArray[np.float64], class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return sample weight times class weight; "balanced" counts rows of positive weight only (D10)."""
    if class_weight is None:
        return weights
    if not isinstance(class_weight, Mapping):
        counted = np.bincount(codes[weights > 0], minlength=len(classes))
        return np.asarray(weights * balanced_factors(counted)[codes])
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ParameterError(f"class_weight names the class {unknown[0]!r}, but the classes are {labels}")
    factors = np.array([class_weight.get(label, 1.0) for label in labels], np.float64)
    bad = np.flatnonzero(~(np.isfinite(factors) & (factors >= 0)))
    if len(bad):
        raise ParameterError(
            f"class_weight of {labels[bad[0]]!r} is {factors[bad[0]]}; enter a finite number from 0"
        )
    return np.asarray(weights * factors[codes])


def balanced_factors(n_rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weights under which classes of so many rows weigh the same: float64 (n_classes,)."""
    n_present = max(np.count_nonzero(n_rows), 1)
    return np.asarray(n_rows.sum() / (n_present * np.maximum(n_rows, 1)), np.float64)


def _numeric_target(y: Any) -> NDArray[np.float64]:
    try:
        target = np.asarray(column_or_1d(y), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the target is not numeric ({error}); use a classifier for labels") from None
    bad = np.flatnonzero(~np.isfinite(target))
    if len(bad):
        # "infinity" and "NaN" are the words scikit-learn's own checks look for
        raise DataError(f"the target is NaN or infinity in {len(bad)} rows, first {bad[0]}; leave them out")
    too_large = np.flatnonzero(np.abs(target) > LARGEST_TARGET)
    if len(too_large):
        raise DataError(
            f"the target is {target[too_large[0]]:g} in row {too_large[0]}; scale it: its square is infinite"
        )
    return target


def _check_product(target: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
    largest, weight = float(np.abs(target).max(initial=0.0)), float(weights.sum())
    if not largest * max(weight, 1.0) <= LARGEST_PRODUCT:
        raise DataError(
            f"the target goes up to {largest:g} and the weights sum to {weight:g}, too large a product "
            "to square; scale one of them"
        )


def _classes_and_codes(y: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the class labels in order and each row's class index (D17)."""
    if hasattr(y, "categories"):
        codes = np.asarray(y.codes)
        if np.any(codes < 0):
            raise DataError(
                f"the target is missing (NaN) in {np.count_nonzero(codes < 0)} rows; leave them out"
            )
        return np.asarray(y.categories), codes.astype(np.float64)
    y = np.asarray(y)
    if y.dtype.kind == "f":
        _check_float_labels(y)
    if y.dtype.kind == "O" and any(is_missing(label) for label in y):
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
