"""What counts as a missing label."""

from __future__ import annotations

from typing import Any


def is_missing(label: Any) -> bool:
    """Tell whether a label is none: None, NaN or pandas' NA."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True
