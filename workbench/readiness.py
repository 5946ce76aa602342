"""Whether a document can be trained, and in words what keeps it from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.rows_in_the_way import rows_in_the_way

if TYPE_CHECKING:
    from workbench.document import Document


def check_ready(document: Document) -> list[str]:
    """Return what keeps the document from being trained, in words; empty when nothing does."""
    table, target = document.table, document.target
    if table is None:
        return ["No table is open; open a file or a sample first."]
    if target is None:
        return ["No column is the target yet; choose the one to predict."]
    problems = []
    if not document.features:
        problems.append("No column has the role feature; give at least one column that role.")
    column = table.column(target)
    if column.n_distinct < 2:
        found = "no value" if column.n_distinct == 0 else "the same value everywhere"
        problems.append(f"The target {target!r} has {found}; choose a target with at least two values.")
    elif document.is_classification and column.n_distinct >= table.n_rows - column.n_missing:
        problems.append(
            f"The target {target!r} has {column.n_distinct:,} classes in as many rows, so no class can be "
            "learned; choose another target, or predict it as a number."
        )
    parts = document.parts
    if not problems and (parts is None or not np.any(parts == 0)):
        problems.append("No row is left for training; change the parts, or the column of weights or groups.")
    elif not problems and parts is not None:
        problems += rows_in_the_way(table, document.roles, parts)
    return problems
