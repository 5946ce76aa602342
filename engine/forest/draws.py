"""What each member of an ensemble draws: rows and columns, from its seed and number alone (D9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ParameterError
from engine.tree.growth_rules import count_features

OF_COLUMNS = 1  # second number of the key of a member's columns; its rows have the key of the member alone


def draw_rows(
    estimator: Any, n_rows: int, member: int, shares: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Return the rows that member `member` draws, repeats included: int64 (n_drawn,).

    Parameters
    ----------
    estimator : estimator with `bootstrap`, `max_samples` and `seed_`
    n_rows : int
    member : int
    shares : float64 (n_rows,), optional
        How likely each row is drawn, for learners that take no weights; all alike by default.
    """
    if not estimator.bootstrap:
        return np.arange(n_rows)
    rng = np.random.default_rng(np.random.SeedSequence(estimator.seed_, spawn_key=(member,)))
    size = n_to_draw(estimator.max_samples, n_rows)
    return rng.integers(n_rows, size=size) if shares is None else rng.choice(n_rows, size, p=shares)


def n_to_draw(max_samples: Any, n_rows: int) -> int:
    """Return how many rows a member draws, at least one."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, (int, np.integer)):
        if max_samples > n_rows:
            raise ParameterError(
                f"max_samples is {max_samples} but the table has {n_rows} rows; enter at most {n_rows}"
            )
        return int(max_samples)
    return max(1, round(float(max_samples) * n_rows))


def draw_columns(seed: int, wanted: Any, n_features: int, member: int) -> NDArray[np.intp]:
    """Return the columns that member `member` may ask about, ascending: intp (n_drawn,).

    Parameters
    ----------
    seed : int
        The fit's.
    wanted : int, float or None
        A number of columns, or their share; None and 1.0 are all.
    """
    n_wanted = count_features(wanted, n_features)
    if n_wanted == n_features:
        return np.arange(n_features)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(member, OF_COLUMNS)))
    return np.sort(rng.permutation(n_features)[:n_wanted])
