"""Are the parts of a model that was read from a file whole? Compiled code of scikit-learn does not look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.svm import SVC, SVR, LinearSVC

from engine.classical.bayes import MixedBayes
from engine.classical.columns import PreparedColumns
from engine.classical.multiclass import AllVsAll, OneVsAll, pairs
from engine.classical.neighbors import VotersOfClasses, VotersOfNumbers
from engine.classical.powers import MAX_DEGREE, MAX_TERMS, TERMS, PolynomialColumns, n_terms
from engine.export.model_check import require
from engine.features import FeatureSpec

FLOAT = np.dtype(np.float64)
KERNELS = ("rbf", "linear")


class Expected(NamedTuple):
    """What the parts of a model have to fit.

    Attributes
    ----------
    width : int
        Columns that it reads.
    classes : ndarray or None
        That it knows; None of numbers.
    n_levels : list of int
        Of the table's columns; 0 of a number.
    """

    width: int
    classes: NDArray[Any] | None
    n_levels: list[int]

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)


def check_fitted_parts(pipeline: Any, features: Sequence[FeatureSpec], n_classes: int) -> None:
    """Check the steps of a pipeline for so many classes, or for numbers (0).

    Raises
    ------
    DataError
        A step does not fit the columns or classes, or its own parts do not fit together.
    """
    n_levels = [len(spec.levels or ()) for spec in features]
    width = len(features)
    for _, step in pipeline.steps[:-1]:
        width = _check_columns(step, n_levels)
    model, classes = pipeline.steps[-1][1], None
    if n_classes:
        classes = _array(model, "classes_", np.int64, (None,))
        is_ordered = len(classes) > 0 and np.all(np.diff(classes) > 0)
        require(is_ordered and classes[0] >= 0 and classes[-1] < n_classes, "it knows other classes")
    _check_model(model, Expected(width, classes, n_levels))


def _check_model(model: Any, expected: Expected) -> None:
    require(type(model) in _CHECKS, "its model is missing")
    _CHECKS[type(model)](model, expected)


def _array(part: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return an attribute that is an array of a dtype and shape, None being any length, of finite numbers."""
    array = getattr(part, name, None)
    is_array = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == len(shape)
    require(is_array, f"its {name} is missing or no number")
    assert array is not None
    fits = all(wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True))
    require(fits, f"its {name} has another shape")
    require(array.dtype != FLOAT or np.isfinite(array).all(), f"its {name} holds what is no number")
    return np.asarray(array)


def _number(part: Any, name: str) -> float:
    value: Any = getattr(part, name, None)
    is_number = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    require(is_number and np.isfinite(value), f"its {name} is no number")
    return float(value)


def _check_columns(step: Any, n_levels: list[int]) -> int:
    """Return how many columns a checked step makes."""
    known = getattr(step, "n_levels", None)
    is_polynomial = type(step) is PolynomialColumns
    require(is_polynomial or type(step) is PreparedColumns, "its columns differ")
    require(isinstance(known, list) and known == n_levels, "its columns differ")
    for name in ("unit_", "low_", "centre_"):
        _array(step, name, FLOAT, (len(n_levels),))
    _check_spread(step, "spread_", len(n_levels))
    require(np.all(step.unit_ > 0), "its unit_ is no number above 0")
    gaps, n_numbers = _array(step, "has_gaps_", bool, (len(n_levels),)), n_levels.count(0)
    n_of_numbers = _check_powers(step, n_numbers) if is_polynomial else n_numbers
    return n_of_numbers + sum(n_levels) + int(gaps.sum())


def _check_spread(step: Any, name: str, length: int) -> None:
    """Check what scaled columns are divided by: infinity for a column of one value."""
    spread = getattr(step, name, None)
    is_spread = isinstance(spread, np.ndarray) and spread.dtype == FLOAT and spread.shape == (length,)
    require(is_spread and np.all(np.asarray(spread) > 0), f"its {name} is missing or no number")


def _check_powers(step: Any, n_numbers: int) -> int:
    """Return how many powers and products a checked step makes of so many numbers."""
    degree, terms = step.degree, step.terms
    require(type(degree) is int and 1 <= degree <= MAX_DEGREE, "its degree is wrong")
    require(isinstance(terms, str) and terms in TERMS, "its terms are unknown")
    n_made = n_terms(n_numbers, degree, terms)
    require(n_made <= MAX_TERMS, "it has too many terms")
    _array(step, "middle_", FLOAT, (n_numbers,))
    _check_spread(step, "half_", n_numbers)
    _array(step, "mean_", FLOAT, (n_made,))
    _check_spread(step, "deviation_", n_made)
    return n_made


def _check_voters(model: Any, expected: Expected) -> None:
    rows = _array(model, "rows_", FLOAT, (None, expected.width))
    counts = _array(model, "counts_", FLOAT, (len(rows),))
    _array(model, "answers_", FLOAT, (len(rows), max(expected.n_classes, 1)))
    require(len(rows) > 0 and np.all(counts > 0), "a row of it has no weight")
    wanted = model.n_neighbors
    require(type(wanted) is int and 1 <= wanted <= np.ceil(counts.sum()), "its number of neighbours is wrong")
    is_known = model.weights in ("uniform", "distance") and model.metric in ("euclidean", "manhattan")
    require(is_known, "it measures distances in an unknown way")


def _check_machine(model: Any, expected: Expected) -> None:
    """Check what libsvm is handed, which reads as far as the counts say."""
    n_classes = expected.n_classes or 2  # one of numbers is kept like one of two classes
    support = _array(model, "support_", np.int32, (None,))
    counts = _array(model, "_n_support", np.int32, (n_classes,))
    n_vectors = len(support)
    _array(model, "support_vectors_", FLOAT, (n_vectors, expected.width))
    require(not np.any(support < 0) and not np.any(counts < 0), "a count of its support vectors is negative")
    is_whole = expected.classes is None or int(counts.astype(np.int64).sum()) == n_vectors
    require(is_whole, "its numbers of support vectors differ")
    for name in ("dual_coef_", "_dual_coef_"):
        _array(model, name, FLOAT, (n_classes - 1, n_vectors))
    for name in ("intercept_", "_intercept_"):
        _array(model, name, FLOAT, (len(pairs(n_classes)),))
    for name in ("_probA", "_probB"):
        _array(model, name, FLOAT, (0,))
    require(model.kernel in KERNELS and model._sparse is False, "its kernel is unknown")
    require(_number(model, "_gamma") >= 0, "its kernel has no width")
    if expected.classes is not None:
        is_plain = model.decision_function_shape == "ovr" and model.break_ties is False
        require(is_plain, "its decision values have another shape")


def _check_coefficients(model: Any, expected: Expected) -> None:
    n_rows = 1 if expected.n_classes == 2 else expected.n_classes
    _array(model, "coef_", FLOAT, (n_rows, expected.width))
    _array(model, "intercept_", FLOAT, (n_rows,))


def _check_ridge(model: Any, expected: Expected) -> None:
    _array(model, "coef_", FLOAT, (expected.width,))
    _number(model, "intercept_")


def _check_split(model: Any, expected: Expected) -> None:
    """Check models of two classes each, of which more are made."""
    n_models = expected.n_classes if type(model) is OneVsAll else len(pairs(expected.n_classes))
    parts = model.estimators_
    require(isinstance(parts, list) and len(parts) == n_models, "a model for some classes is missing")
    for part in parts:
        require(type(part) in (SVC, LogisticRegression), "a model for some classes is missing")
        classes = _array(part, "classes_", bool, (2,))
        require(classes.tolist() == [False, True], "a model for some classes knows others")
        _check_model(part, expected._replace(classes=classes))


def _check_calibrated(model: Any, expected: Expected) -> None:
    parts = model.calibrated_classifiers_
    require(isinstance(parts, list) and len(parts) == 1, "its probabilities are missing")
    part, n_curves = parts[0], 1 if expected.n_classes == 2 else expected.n_classes
    known = [] if expected.classes is None else expected.classes.tolist()
    require(type(part.estimator) in (SVC, LinearSVC, OneVsAll), "its machine is missing")
    for classes in (_array(part, "classes", np.int64, (None,)), part.estimator.classes_):
        require(classes.tolist() == known, "its probabilities are of other classes")
    _check_model(part.estimator, expected)
    is_whole = isinstance(part.calibrators, list) and len(part.calibrators) == n_curves
    require(is_whole, "a curve of its probabilities is missing")
    for curve in part.calibrators:
        for name in ("a_", "b_"):
            _number(curve, name)


def _check_bayes(model: Any, expected: Expected) -> None:
    n_levels, n_classes = expected.n_levels, expected.n_classes
    require(isinstance(model.n_levels, list) and model.n_levels == n_levels, "its columns differ")
    gaps = _array(model, "has_gaps_", bool, (len(n_levels),))
    is_number = np.array([n == 0 for n in n_levels], bool)
    for name, wanted in (("numbers_", is_number), ("categories_", ~is_number | gaps)):
        found = _array(model, name, np.int64, (None,))
        require(np.array_equal(found, np.flatnonzero(wanted)), f"its {name} differ")
    n_numbers = int(is_number.sum())
    _check_columns(model.scales_, [0] * n_numbers)
    require(type(model.normal_) is (GaussianNB if n_numbers else type(None)), "its numbers are missing")
    if n_numbers:
        _array(model.normal_, "theta_", FLOAT, (n_classes, n_numbers))
        _array(model.normal_, "class_prior_", FLOAT, (n_classes,))
        variances = _array(model.normal_, "var_", FLOAT, (n_classes, n_numbers))
        require(np.all(variances >= 0), "a variance of it is negative")
    _check_shares(model, [(n_levels[k] or 1) + 1 for k in model.categories_.tolist()], n_classes)


def _check_shares(model: Any, n_codes: list[int], n_classes: int) -> None:
    """Check what naive Bayes knows of the categories."""
    shares = model.shares_
    require(type(shares) is (CategoricalNB if n_codes else type(None)), "its categories are missing")
    if not n_codes:
        return
    _array(shares, "class_log_prior_", FLOAT, (n_classes,))
    tables = shares.feature_log_prob_
    require(isinstance(tables, list) and len(tables) == len(n_codes), "its categories are missing")
    for table, n in zip(tables, n_codes, strict=True):
        is_whole = isinstance(table, np.ndarray) and table.dtype == FLOAT and table.shape == (n_classes, n)
        require(is_whole and np.isfinite(table).all(), "its categories have other levels")


def _check_shares_of_classes(model: Any, expected: Expected) -> None:
    _array(model, "class_prior_", FLOAT, (expected.n_classes,))
    require(model._strategy == "prior" and model.n_outputs_ == 1, "it answers something else")


def _check_mean(model: Any, _expected: Expected) -> None:
    _array(model, "constant_", FLOAT, (1, 1))
    require(model.n_outputs_ == 1, "it answers something else")


_CHECKS: dict[type, Callable[[Any, Expected], None]] = {
    VotersOfClasses: _check_voters,
    VotersOfNumbers: _check_voters,
    SVC: _check_machine,
    SVR: _check_machine,
    LinearSVC: _check_coefficients,
    LogisticRegression: _check_coefficients,
    Ridge: _check_ridge,
    LinearRegression: _check_ridge,
    OneVsAll: _check_split,
    AllVsAll: _check_split,
    CalibratedClassifierCV: _check_calibrated,
    MixedBayes: _check_bayes,
    DummyClassifier: _check_shares_of_classes,
    DummyRegressor: _check_mean,
}
