"""Hyperparameters of the classical models as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.parameters import Parameter
from engine.tree.parameters import CLASS_WEIGHT

_NEIGHBORS = (
    Parameter(
        "n_neighbors", 5, "int", simpler="larger", minimum=1, label="Neighbours (k)", group="Size",
        help="How many of the nearest training rows answer; a row of weight w counts as w rows.",
        aliases={"sklearn": "n_neighbors"},
    ),
    Parameter(
        "weights", "uniform", "choice", choices=("uniform", "distance"), label="Votes", group="Size",
        help="Uniform: all neighbours alike. Distance: by 1 / distance, so nearer ones count more.",
        aliases={"sklearn": "weights"},
    ),
    Parameter(
        "metric", "euclidean", "choice", choices=("euclidean", "manhattan"), label="Distance", group="Size",
        help="Between scaled columns: the root of the sum of squares, or the sum of the differences.",
        aliases={"sklearn": "metric"},
    ),
)  # fmt: skip

NEIGHBORS_CLASSIFIER = (*_NEIGHBORS, CLASS_WEIGHT)
NEIGHBORS_REGRESSOR = _NEIGHBORS
