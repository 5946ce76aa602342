"""Hyperparameters of forests as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.parameters import UNSET, Parameter
from engine.tree.parameters import MEMBER_CLASSIFIER, MEMBER_REGRESSOR, N_JOBS, with_defaults

_ENSEMBLE = (
    Parameter(
        "n_estimators", 100, "int", minimum=1, label="Trees", group="Size",
        help="How many trees vote. More are never worse, only slower.",
        aliases={"lightgbm": "n_estimators", "xgboost": "num_parallel_tree", "sklearn": "n_estimators"},
    ),
    Parameter(
        "bootstrap", True, "bool", label="Resample rows", group="Sampling",
        help="Each tree sees rows drawn with replacement; off, every tree sees all rows.",
        aliases={"sklearn": "bootstrap"},
    ),
    Parameter(
        "max_samples", None, "number_or_choice", minimum=0, open_minimum=True, allows_none=True,
        none_text="as many as there are", label="Rows drawn", group="Sampling",
        help="Rows drawn for each tree: a whole number, or a share such as 0.5.",
        aliases={"lightgbm": "bagging_fraction", "xgboost": "subsample", "sklearn": "max_samples"},
        applies_when={"bootstrap": (True,)},
    ),
    Parameter(
        "oob_score", False, "bool", form_default=True, label="Out-of-bag score", group="Sampling",
        help="Score each row by the trees that did not see it.",
        aliases={"sklearn": "oob_score"}, applies_when={"bootstrap": (True,)},
    ),
    N_JOBS,
)  # fmt: skip

# full trees are a forest's usual form: averaging takes care of their variance
_OF_A_FOREST = {"max_depth": {"form_default": UNSET}, "min_samples_leaf": {"form_default": UNSET}}

FOREST_CLASSIFIER = (
    *_ENSEMBLE,
    *with_defaults(MEMBER_CLASSIFIER, max_features={"default": "sqrt"}, **_OF_A_FOREST),
)
FOREST_REGRESSOR = (
    *_ENSEMBLE,
    *with_defaults(MEMBER_REGRESSOR, max_features={"default": 1.0}, **_OF_A_FOREST),
)
