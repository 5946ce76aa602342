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


def _penalty(help_text: str) -> Parameter:
    return Parameter(
        "C", 1.0, "float", simpler="smaller",
        minimum=0, open_minimum=True, label="Cost (C)", group="Size", help=help_text,
        aliases={"sklearn": "C"},
    )  # fmt: skip


def multiclass_parameter(first: str, *, direct: str) -> Parameter:
    """Return the choice of a scheme for more than two classes, `first` its default.

    Parameters
    ----------
    direct : str
        What the model's own way is, in words.
    """
    choices = ("direct", "one_vs_all", "all_vs_all")
    return Parameter(
        "multiclass", first, "choice", choices=choices, label="Multiclass", group="Size",
        help=f"With three classes or more: {direct}, each against the rest, or each pair by itself.",
        aliases={"sklearn": "multi_class"}, min_classes=3,
    )  # fmt: skip


_MACHINE = (
    Parameter(
        "kernel", "rbf", "choice", choices=("rbf", "linear"), label="Kernel", group="Size",
        help="rbf: likeness that fades with distance, for curved borders. Linear: straight ones.",
        aliases={"sklearn": "kernel"},
    ),
    _penalty("What a row on the wrong side costs: larger follows the training rows more closely."),
    Parameter(
        "gamma", None, "float", simpler="smaller", minimum=0, open_minimum=True, allows_none=True,
        none_text="automatic", label="Kernel width (gamma)", group="Size",
        help="Larger: only close rows are alike, and the border bends more. "
        "Automatic: 1 over the number of columns times their variance.",
        aliases={"sklearn": "gamma"}, applies_when={"kernel": ("rbf",)},
    ),
)  # fmt: skip
_ANSWERS = Parameter(
    "answers", "calibrated", "choice", choices=("calibrated", "decision"), label="Answers", group="Size",
    help="Calibrated: probabilities, from five folds. Decision: the class alone, five times quicker.",
    aliases={"sklearn": "probability"},
)  # fmt: skip
_EPSILON = Parameter(
    "epsilon", 0.1, "float", simpler="larger", minimum=0, label="Free error (epsilon)", group="Size",
    help="Errors up to so many standard deviations of the target cost nothing.",
    aliases={"sklearn": "epsilon"},
)  # fmt: skip

_TOLERANCE = Parameter(
    "tol", 1e-3, "float", minimum=0, open_minimum=True, label="Tolerance", group="Stopping",
    help="The solver ends where its conditions hold within this.",
    aliases={"sklearn": "tol"},
)  # fmt: skip

SVM_CLASSIFIER = (
    *_MACHINE,
    multiclass_parameter("all_vs_all", direct="one machine for all (linear kernel only)"),
    _ANSWERS,
    _TOLERANCE,
    CLASS_WEIGHT,
)
SVM_REGRESSOR = (*_MACHINE, _EPSILON, _TOLERANCE)

LOGISTIC_CLASSIFIER = (
    _penalty("Smaller: coefficients nearer to 0, and a smoother model."),
    multiclass_parameter("direct", direct="multinomial"),
    Parameter(
        "max_iter", 1000, "int", minimum=1, label="Steps", group="Stopping",
        help="Of the solver, at most; it ends where nothing improves.", aliases={"sklearn": "max_iter"},
    ),
    CLASS_WEIGHT,
)  # fmt: skip
RIDGE_REGRESSOR = (
    Parameter(
        "alpha", 1.0, "float", simpler="larger", minimum=0, label="Penalty (alpha)", group="Size",
        help="Larger: coefficients nearer to 0, and a smoother model. 0 is plain least squares.",
        aliases={"sklearn": "alpha"},
    ),
)  # fmt: skip
POLYNOMIAL_REGRESSOR = (
    Parameter(
        "degree", 2, "int", simpler="smaller", minimum=1, maximum=20, label="Degree", group="Size",
        help="Largest sum of exponents: 1 is straight, 2 bends once, and large ones follow every row.",
        aliases={"sklearn": "degree"},
    ),
    Parameter(
        "terms", "all", "choice", choices=("all", "powers"), label="Terms", group="Size",
        help="All: powers and products of columns. Powers: of single columns, no products.",
    ),
    Parameter(
        "alpha", 0.0, "float", simpler="larger", minimum=0, label="Penalty (alpha)", group="Size",
        help="Larger: coefficients nearer to 0, and a smoother model. 0 is plain least squares.",
        aliases={"sklearn": "alpha"},
    ),
)  # fmt: skip
NAIVE_BAYES_CLASSIFIER = (
    Parameter(
        "var_smoothing", 1e-9, "float", simpler="larger", minimum=0, label="Least variance", group="Size",
        help="Added to the variances of the numbers, as a share of the largest one.",
        aliases={"sklearn": "var_smoothing"},
    ),
    Parameter(
        "alpha", 1.0, "float", simpler="larger",
        minimum=0, open_minimum=True, label="Smoothing (alpha)", group="Size",
        help="Added to the count of every level, so that a rare one does not decide alone.",
        aliases={"sklearn": "alpha"}, needs_categories=True,
    ),
    CLASS_WEIGHT,
)  # fmt: skip
