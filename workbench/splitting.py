"""Dealing a table's rows into training, validation and test (D13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.runs import NO_PART, SplitSettings

if TYPE_CHECKING:
    from workbench.datasets import Table

MAX_CLASSES_NAMED = 3  # more small classes are counted


def deal_rows(
    table: Table, target: str, classes: Sequence[str], roles: dict[str, str], split: SplitSettings
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Return the part of every row, uint8 (n_rows,), and what there is to say about it.

    `classes` are the target's labels in code order, empty for a number target.

    Rows without a target, and rows whose weight is missing, are in no part and counted.
    """
    from engine.split import split_rows

    is_classification = bool(classes)
    y, is_usable, notes = _usable_rows(table, target, is_classification, roles)
    parts = np.full(table.n_rows, NO_PART, np.uint8)
    rows = np.flatnonzero(is_usable)
    if len(rows) == 0:
        weight = _weight_of(roles)
        lacking = f"a value of {target!r}" + (f" and a weight {weight!r}" if weight is not None else "")
        return parts, (*notes, f"no row has {lacking}; choose another column")
    group = next((name for name, role in roles.items() if role == "group"), None)
    groups = None if group is None else _by_appearance(table.column(group).label_codes()[0])[rows]
    dealt, messages = split_rows(
        y[rows],
        is_classification,
        groups,
        fractions=(split.train, split.validation, split.test),
        seed=split.seed,
        class_names=classes,
    )
    parts[rows] = dealt
    parts.flags.writeable = False
    return parts, (*notes, *_few(messages))


def _few(messages: Sequence[str]) -> Sequence[str]:
    """Sum up what is said of many classes: a target of 10,000 small ones has as many messages."""
    of_classes = [message for message in messages if message.startswith("class ")]
    if len(of_classes) <= MAX_CLASSES_NAMED:
        return messages
    others = [message for message in messages if not message.startswith("class ")]
    return [*others, f"{len(of_classes):,} classes have too few rows for every part: used for training alone"]


def _by_appearance(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number groups in the order of their first rows, -1 where there is none, as an exported script does."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    first[distinct < 0] = -1  # rows without a group come first, and count as none
    rank = np.argsort(np.argsort(first))
    return rank[inverse] - int(distinct[0] < 0)


def _weight_of(roles: dict[str, str]) -> str | None:
    return next((name for name, role in roles.items() if role == "weight"), None)


def _usable_rows(
    table: Table, target: str, is_classification: bool, roles: dict[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], tuple[str, ...]]:
    """Return the target as numbers or class codes, which rows can be used, and why others cannot."""
    column = table.column(target)
    if is_classification:
        y = column.label_codes()[0].astype(np.float64)
        is_usable = y >= 0
    else:
        y = column.values
        is_usable = np.isfinite(y)
    notes = []
    if n_left_out := int(np.count_nonzero(~is_usable)):
        notes.append(f"{n_left_out:,} rows without {target!r} are left out")
    if (weight := _weight_of(roles)) is not None:
        has_weight = np.isfinite(table.column(weight).values)
        if n_left_out := int(np.count_nonzero(is_usable & ~has_weight)):
            notes.append(f"{n_left_out:,} rows without the weight {weight!r} are left out")
        is_usable = is_usable & has_weight
    return y, is_usable, tuple(notes)
