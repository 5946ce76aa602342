"""Hyperparameters of the perceptron as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.classical.parameters import multiclass_parameter
from engine.parameters import Parameter
from engine.tree.parameters import CLASS_WEIGHT, N_JOBS, RANDOM_STATE

PERCEPTRON_CLASSIFIER = (
    multiclass_parameter("direct", direct="all classes at once"),
    Parameter(
        "averaged", True, "bool", label="Average the weights", group="Size",
        help="Answers by the mean of the weights after every row: steadier than those after the last.",
        aliases={"sklearn": "average"},
    ),
    Parameter(
        "max_epochs", 50, "int", simpler="smaller",
        minimum=1, label="Epochs", group="Stopping", unit="epochs",
        help="How often the training rows are gone through, at most; it ends where none is wrong.",
        aliases={"sklearn": "max_iter"},
    ),
    CLASS_WEIGHT, N_JOBS, RANDOM_STATE,
)  # fmt: skip
