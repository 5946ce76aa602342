"""Splitting rows into training, validation and test parts (contracts D13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.folds import with_rows_alone

TRAIN, VALIDATION, TEST, NONE = 0, 1, 2, 255
MIN_CLASS_ROWS = 3  # a smaller class cannot be in all three parts: it goes to training
N_QUANTILES = 10  # strata of a numeric target


def split_rows(
    y: Any,
    is_classification: bool,
    groups: Any = None,
    fractions: Sequence[float] = (0.6, 0.2, 0.2),
    seed: int = 0,
    class_names: Sequence[str] = (),
) -> tuple[NDArray[np.uint8], list[str]]:
    """Split rows at random, each class (or tenth of a numeric target) in the same shares.

    Parameters
    ----------
    y : array-like (n,)
        Class codes 0, 1, ... or numbers; NaN, and a code below 0, is a row without target.
    is_classification : bool
    groups : array-like of int (n,), optional
        Group code of every row: a group is never divided. A code below 0 is a row on its own.
    fractions : three floats
        Shares of training, validation and test; their sum is 1, training is above 0.
    seed : int
        Not negative. The same seed and table give the same parts on every machine.
    class_names : sequence of str
        For messages, in code order.

    Returns
    -------
    uint8 (n,)
        0 training, 1 validation, 2 test, 255 no part.
    list of str
        What a person should know: rows without target, classes kept out of validation and test.

    Raises
    ------
    ParameterError
        The fractions are not shares of one whole.
    DataError
        `y` and `groups` differ in length.
    """
    y = np.asarray(y, dtype=np.float64)
    shares = _check_fractions(fractions)
    has_target = np.isfinite(y) & ((y >= 0) | (not is_classification))
    rows = np.flatnonzero(has_target)
    parts = np.full(len(y), NONE, np.uint8)
    messages = []
    if len(rows) < len(y):
        messages.append(f"{_rows(len(y) - len(rows))} without target, in no part")
    rng = np.random.default_rng(seed)
    strata = y[rows].astype(np.int64) if is_classification else _quantiles(y[rows], rng)
    if groups is None:
        parts[rows] = _split_strata(strata, shares, rng, MIN_CLASS_ROWS if is_classification else 1)
        if is_classification:
            messages += _small_classes(strata, class_names)
    else:
        codes = np.asarray(groups)
        if codes.shape != y.shape:
            raise DataError(f"there are {len(y)} targets but {len(codes)} group codes; pass one a row")
        parts[rows] = _split_groups(strata, codes[rows], shares, rng)
        messages += _missing_parts(parts, shares)
    return parts, messages


def _check_fractions(fractions: Sequence[float]) -> NDArray[np.float64]:
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.shape != (3,) or np.any(~(shares >= 0)) or shares[0] == 0 or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(
            f"fractions is {tuple(fractions)!r}; enter three shares from 0 to 1 that add up to 1, the first "
            "above 0"
        )
    return shares


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _quantiles(y: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Number the tenth of the target that every row lies in; equal values are dealt out at random."""
    rank = np.empty(len(y), np.int64)
    rank[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y))
    return rank * N_QUANTILES // max(len(y), 1)


def _split_strata(
    strata: NDArray[np.int64], shares: NDArray[np.float64], rng: np.random.Generator, min_rows: int
) -> NDArray[np.uint8]:
    parts = np.zeros(len(strata), np.uint8)
    owed = np.zeros(2)  # what rounding withheld from validation and test so far
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        if len(rows) < min_rows:
            continue
        wanted = shares[1:] * len(rows) + owed
        counts = np.floor(wanted + 0.5).astype(np.int64)
        if min_rows > 1:  # a class that can be in every part is in every part
            counts = np.maximum(counts, shares[1:] > 0)
        most = len(rows) - (min_rows > 1)
        n_validation = min(int(counts[0]), most)
        n_test = min(int(counts[1]), most - n_validation)
        owed = wanted - (n_validation, n_test)
        parts[rows[:n_validation]] = VALIDATION
        parts[rows[n_validation : n_validation + n_test]] = TEST
    return parts


def _small_classes(strata: NDArray[np.int64], class_names: Sequence[str]) -> list[str]:
    codes, counts = np.unique(strata, return_counts=True)
    messages = []
    for code, n in zip(codes.tolist(), counts.tolist(), strict=True):
        if n < MIN_CLASS_ROWS:
            name = class_names[code] if code < len(class_names) else code
            messages.append(f"class {name!r} has only {_rows(n)}: used for training alone")
    return messages


def _split_groups(
    strata: NDArray[np.int64],
    groups: NDArray[Any],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Deal whole groups out, largest first, each to the part that lacks its rows most."""
    _, group_of = np.unique(with_rows_alone(groups.astype(np.int64), groups < 0), return_inverse=True)
    _, stratum_of = np.unique(strata, return_inverse=True)
    n_groups, n_strata = group_of.max(initial=-1) + 1, stratum_of.max(initial=-1) + 1
    counts = np.zeros((n_groups, n_strata))
    np.add.at(counts, (group_of, stratum_of), 1)
    lacking = shares[:, np.newaxis] * counts.sum(axis=0)
    part_of = np.zeros(n_groups, np.uint8)
    order = rng.permutation(n_groups)
    for group in order[np.argsort(-counts[order].sum(axis=1), kind="stable")]:
        # the squared lack falls by 2 x lack x count - count^2: the second term is the same for all parts
        relief = lacking @ counts[group]
        relief[shares == 0] = -np.inf
        part_of[group] = np.argmax(relief)
        lacking[part_of[group]] -= counts[group]
    return part_of[group_of]


def _missing_parts(parts: NDArray[np.uint8], shares: NDArray[np.float64]) -> list[str]:
    names = {VALIDATION: "validation", TEST: "test"}
    return [
        f"no row is left for {name}: there are too few groups"
        for part, name in names.items()
        if shares[part] > 0 and not np.any(parts == part)
    ]
