"""Cells that no model can be trained on, named by column and row before a training begins.

The engine finds them too, but it sees only the rows of one part and cannot tell which rows of the table
they are; and those of the other parts it would find after the training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.columns import KIND_WORDS
from workbench.figures.words import counted
from workbench.runs import NO_PART, PARTS

if TYPE_CHECKING:
    from workbench.datasets import Table


def rows_in_the_way(table: Table, roles: Mapping[str, str], parts: NDArray[np.uint8]) -> list[str]:
    """Return what is wrong with features and weights, in words, with the first row (from 1) of each.

    Parameters
    ----------
    parts : uint8 (n_rows,)
        0 training, 1 validation, 2 test, 255 none: rows of no part may hold anything.
    """
    is_used = parts != NO_PART
    weight = next((name for name, role in roles.items() if role == "weight"), None)
    features = [name for name, role in roles.items() if role == "feature"]
    problems = [*_infinite(table, features, is_used)]
    return problems if weight is None else [*problems, *_weight(table, weight, parts)]


def _infinite(table: Table, features: list[str], is_used: NDArray[np.bool_]) -> Iterator[str]:
    for name in features:
        column = table.column(name)
        if column.has_codes or not np.any(found := np.isinf(column.values) & is_used):
            continue
        n_found, row = int(np.count_nonzero(found)), int(np.argmax(found)) + 1
        which = f"in row {row:,}" if n_found == 1 else f"the first in row {row:,}"
        yield (
            f"Column {name!r} holds {counted(n_found, 'infinite number')}, {which}; "
            "count such texts as missing, or ignore the column."
        )


def _weight(table: Table, name: str, parts: NDArray[np.uint8]) -> Iterator[str]:
    column = table.column(name)
    if column.kind != "number":
        kind = KIND_WORDS[column.kind]
        yield f"The weight {name!r} is of the kind {kind}; choose a column of numbers from 0."
        return
    is_negative = (column.values < 0) & (parts != NO_PART)
    if np.any(is_negative):
        row = int(np.argmax(is_negative))
        yield (
            f"The weight {name!r} is {column.values[row]:g} in row {row + 1:,}, and weights are numbers from "
            "0; count that text as missing to leave its rows out, or choose another column."
        )
    elif not np.any(column.values[parts == PARTS.index("train")] > 0):
        yield f"The weight {name!r} is 0 in every row of training; choose another column."
