"""Which machines tell several classes apart, and what their values say of the classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.classical.multiclass import pairs, votes_of_pairs

Floats = NDArray[np.float64]


class Machines(NamedTuple):
    """What each machine has to tell of each class.

    Attributes
    ----------
    scheme : str
        "direct", "one_vs_all" or "all_vs_all".
    signs : float64 (n_classes, n_machines)
        1: its value should be above 0 in rows of the class; -1: below; 0: these rows are none of its own.
    """

    scheme: str
    signs: Floats

    @classmethod
    def of(cls, scheme: str, n_classes: int) -> Machines:
        """Return the machines of a scheme; two classes have one machine by every scheme."""
        if n_classes == 2:
            scheme = "all_vs_all"
        if scheme != "all_vs_all":
            return cls(scheme, 2 * np.eye(n_classes) - 1)
        signs = np.zeros((n_classes, n_classes * (n_classes - 1) // 2))
        for machine, (first, second) in enumerate(pairs(n_classes)):
            signs[first, machine], signs[second, machine] = -1, 1
        return cls(scheme, signs)

    @property
    def is_direct(self) -> bool:
        """The machines are compared with one another, a machine a class."""
        return self.scheme == "direct"

    def values_of_shares(self, shares: Floats) -> Floats:
        """Return values by which the class with the largest share is named: float64 (n_machines,)."""
        return np.asarray(shares if self.is_direct else shares @ self.signs)

    def decisions(self, values: Floats) -> Floats:
        """Return the classes' decision values: float64 (n_rows, n_classes).

        Parameters
        ----------
        values : float64 (n_rows, n_machines)
        """
        if self.scheme != "all_vs_all":
            return values
        if len(self.signs) == 2:
            return np.column_stack([-values, values])
        return votes_of_pairs(values, len(self.signs))
