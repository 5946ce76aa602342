"""What the columns are: numbers or categories; encoding a table for the kernels (contracts D7, D8).

An *encoded table* is a C-contiguous read-only float32 or float64 array (n_samples, n_features):
numbers as they are, categories as the code of their level, NaN for missing in both, and
`dtypes.UNSEEN_LEVEL` for a level that training never saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.errors import DataError, ParameterError


@dataclass(frozen=True)
class FeatureSpec:
    """One column as the engine sees it.

    Attributes
    ----------
    name : str
        The column's name; "x0", "x1", ... for arrays.
    levels : tuple or None
        A categorical feature's levels in code order; None for a number.
    ordered_levels : tuple or None
        For a number that stands for the codes of an ordered category: its levels, so that a
        threshold can be shown as "<= level".
    """

    name: str
    levels: tuple[Any, ...] | None = None
    ordered_levels: tuple[Any, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        return self.levels is not None


def is_frame(X: Any) -> bool:
    """Tell whether `X` is a data frame (columns with names and dtypes of their own)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def take_rows(X: Any, rows: Any) -> Any:
    """Return rows of a frame, a series or an array by their numbers."""
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def learn_features(X: Any, categorical_features: Any = "from_dtype") -> tuple[FeatureSpec, ...]:
    """Describe the columns of a training table.

    Parameters
    ----------
    X : DataFrame or ndarray (n_samples, n_features)
    categorical_features : "from_dtype", None, or sequence of column indices, names or booleans
        "from_dtype": columns of a frame with an unordered category dtype. A listed column of numbers
        becomes a category whose levels are its distinct values.

    Raises
    ------
    DataError
        A frame's column holds text or dates, or `categorical_features` names no column.
    ParameterError
        `categorical_features` is no sequence.
    """
    if is_frame(X):
        listed = _listed(categorical_features, [str(name) for name in X.columns], list(X.columns))
        return tuple(
            _learn_frame_column(X.iloc[:, i], str(X.columns[i]), listed[i]) for i in range(X.shape[1])
        )
    X = np.asarray(X)
    names = [f"x{i}" for i in range(X.shape[1])]
    listed = _listed(categorical_features, names, names)
    return tuple(
        FeatureSpec(name, levels=_distinct(X[:, i]) if listed[i] else None) for i, name in enumerate(names)
    )


def encode(X: Any, features: Sequence[FeatureSpec]) -> NDArray[Any]:
    """Return `X` as an encoded table with the columns of `features`, in their order.

    Parameters
    ----------
    X : DataFrame or ndarray (n_samples, n_features)
        Columns in the order of `features`; `engine.base.check_X` has compared the names.
        float32 and float64 arrays without categories are not copied when C-contiguous.

    Raises
    ------
    DataError
        A column holds infinite values, text or dates; or the model was fitted on a frame
        with categories and `X` is an array.
    """
    if is_frame(X):
        return _encode_frame(X, features)
    named_levels = [f.name for f in features if f.is_categorical and not _is_numeric_levels(f)]
    if named_levels:
        raise DataError(
            f"column {named_levels[0]!r} was a category when the model was trained; pass a DataFrame "
            "with the same columns, not an array"
        )
    X = np.asarray(X)
    if X.dtype not in dtypes.X_DTYPES:
        X = X.astype(np.float64)
    check_finite(X, features)
    if any(f.is_categorical for f in features):
        X = X.astype(np.float64)  # a copy: codes replace values below
        for i, spec in enumerate(features):
            if spec.levels is not None:
                X[:, i] = _codes_of_numbers(X[:, i], spec.levels)
    return dtypes.as_input(X)


def check_finite(X: NDArray[Any], features: Sequence[FeatureSpec]) -> None:
    """Raise DataError naming column and rows if `X` holds infinite values; NaN is allowed."""
    for start in range(0, len(X), 65536):  # by blocks: no mask of the whole table
        block = np.isinf(X[start : start + 65536])
        if block.any():
            column = int(np.flatnonzero(block.any(axis=0))[0])
            _raise_infinite(X[:, column], features[column].name)


def _raise_infinite(values: NDArray[Any], name: str) -> None:
    rows = np.flatnonzero(np.isinf(values))
    shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
    noun = "value" if len(rows) == 1 else "values"
    # "infinity" is the word scikit-learn's own checks look for
    raise DataError(
        f"column {name!r} holds {len(rows)} infinite {noun} (infinity) in row {shown}; replace them or "
        "treat them as missing"
    )


def _listed(wanted: Any, names: list[str], labels: list[Any]) -> list[bool]:
    n_features = len(names)
    if wanted is None or (isinstance(wanted, str) and wanted == "from_dtype"):
        return [False] * n_features
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise ParameterError(
            f"categorical_features is {wanted!r}; enter 'from_dtype', None, or a list of columns by name or "
            "number"
        )
    items = list(wanted)
    if len(items) == n_features and all(isinstance(item, (bool, np.bool_)) for item in items):
        return [bool(item) for item in items]
    listed = [False] * n_features
    for item in items:
        if item in labels:
            listed[labels.index(item)] = True
        elif isinstance(item, (int, np.integer)) and 0 <= item < n_features:
            listed[int(item)] = True
        else:
            raise DataError(f"categorical_features names {item!r}, but the table has no such column")
    return listed


def _distinct(values: Any) -> tuple[Any, ...]:
    distinct = np.unique(np.asarray(values, dtype=np.float64))
    distinct = distinct[~np.isnan(distinct)] + 0.0  # -0.0 and 0.0 are one level
    return tuple(distinct.tolist())


def _is_numeric_levels(spec: FeatureSpec) -> bool:
    return all(isinstance(level, float) for level in spec.levels or ())


def _codes_of_numbers(values: NDArray[Any], levels: tuple[Any, ...]) -> NDArray[np.float64]:
    known = np.array(levels, dtype=np.float64)
    if len(known) == 0:
        return np.where(np.isnan(values), np.nan, dtypes.UNSEEN_LEVEL)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    codes = np.where(known[at] == values, at.astype(np.float64), dtypes.UNSEEN_LEVEL)
    codes[np.isnan(values)] = np.nan
    return codes


def _dtype_kind(column: Any, name: str) -> str:
    """Return "category", "ordered" or "number" for a frame's column, or raise DataError."""
    dtype = column.dtype
    if hasattr(dtype, "categories"):
        return "ordered" if dtype.ordered else "category"
    if getattr(dtype, "kind", "O") in "biuf":
        return "number"
    if getattr(dtype, "kind", "O") in "mM":
        raise DataError(f"column {name!r} holds dates; turn it into numbers such as days or parts first")
    if hasattr(column, "to_numpy") and str(dtype) == "object":
        _to_float(column, name)  # raises unless every value is a number
        return "number"
    raise DataError(f"column {name!r} holds text; give it the dtype 'category' or drop it")


def _learn_frame_column(column: Any, name: str, is_listed: bool) -> FeatureSpec:
    kind = _dtype_kind(column, name)
    if kind == "category":
        return FeatureSpec(name, levels=tuple(column.cat.categories.tolist()))
    if kind == "ordered":
        return FeatureSpec(name, ordered_levels=tuple(column.cat.categories.tolist()))
    return FeatureSpec(name, levels=_distinct(_to_float(column, name)) if is_listed else None)


def _to_float(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise DataError(f"column {name!r} holds text; give it the dtype 'category' or drop it") from None


def _to_finite(column: Any, name: str) -> NDArray[np.float64]:
    values = _to_float(column, name)
    if np.isinf(values).any():
        _raise_infinite(values, name)
    return values


def _encode_frame(X: Any, features: Sequence[FeatureSpec]) -> NDArray[Any]:
    encoded = np.empty((len(X), len(features)), np.float64)
    for i, spec in enumerate(features):
        encoded[:, i] = _encode_frame_column(X.iloc[:, i], spec)
    return dtypes.as_input(encoded)


def _encode_frame_column(column: Any, spec: FeatureSpec) -> NDArray[np.float64]:
    kind = _dtype_kind(column, spec.name)
    known = spec.levels if spec.levels is not None else spec.ordered_levels
    if known is None:
        if kind != "number":
            raise DataError(
                f"column {spec.name!r} was a number when the model was trained, now it is a category"
            )
        return _to_finite(column, spec.name)
    if kind == "number":
        if spec.levels is not None and _is_numeric_levels(spec):
            return _codes_of_numbers(_to_finite(column, spec.name), spec.levels)
        raise DataError(f"column {spec.name!r} was a category when the model was trained, now it is a number")
    code_of = {level: code for code, level in enumerate(known)}
    unseen = dtypes.UNSEEN_LEVEL if spec.levels is not None else np.nan  # an ordered level has no place
    table = [float(code_of.get(level, unseen)) for level in column.cat.categories.tolist()]
    table.append(np.nan)  # pandas codes missing as -1: the last entry
    codes: NDArray[np.float64] = np.array(table)[column.cat.codes.to_numpy()]
    return codes
