"""How a network's numbers lie in memory, and what it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


class Layout(NamedTuple):
    """Sizes of all layers, and where each one's weights begin in the array of parameters.

    Attributes
    ----------
    sizes : int64 (n_layers + 1,)
        Inputs, hidden layers, outputs.
    starts : int64 (n_layers,)
    n_parameters : int
    """

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_parameters: int

    @classmethod
    def of(cls, sizes: Sequence[int] | NDArray[np.int64]) -> Layout:
        """Lay out layers of these sizes."""
        sizes = np.asarray(sizes, np.int64)
        ends = np.cumsum((sizes[:-1] + 1) * sizes[1:])
        return cls(sizes, np.concatenate(([0], ends[:-1])).astype(np.int64), int(ends[-1]))

    @property
    def n_units(self) -> int:
        """Units of all layers, inputs included."""
        return int(self.sizes.sum())

    def split(self, parameters: Floats) -> list[tuple[Floats, Floats]]:
        """Return each layer's weights (n_below, n_here) and biases (n_here,), as views."""
        layers = []
        for start, below, here in zip(self.starts, self.sizes[:-1], self.sizes[1:], strict=True):
            middle = start + below * here
            layers.append((parameters[start:middle].reshape(below, here), parameters[middle : middle + here]))
        return layers


def start_parameters(
    layout: Layout, output_biases: Floats, n_learned_at_once: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw a member's start: weights uniform, biases 0, those of the outputs as given.

    Bounds are sqrt(6 / (n_below + n_here)) (Glorot and Bengio 2010). The wider ones for rectifiers (He et
    al. 2015) learn training rows sooner and others less well: log loss 0.486 instead of 0.484 on 50,000
    rows after 20 epochs.

    Parameters
    ----------
    n_learned_at_once : int
        Outputs from this one on, the variance, start with weights of 0: the same for every row.
    """
    parameters = np.zeros(layout.n_parameters, np.float32)
    layers = layout.split(parameters)
    for number, (weights, _) in enumerate(layers):
        n_below, n_here = weights.shape
        n_here = n_learned_at_once if number == len(layers) - 1 else n_here
        bound = np.sqrt(6.0 / (n_below + n_here))
        weights[:, :n_here] = rng.uniform(-bound, bound, (n_below, n_here))
    layers[-1][1][:] = output_biases
    return parameters


def constant_parameters(layout: Layout, output_biases: Floats) -> NDArray[np.float32]:
    """Return a network that answers the same everywhere."""
    parameters = np.zeros(layout.n_parameters, np.float32)
    layout.split(parameters)[-1][1][:] = output_biases
    return parameters
