"""Hyperparameters of forests as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.parameters import UNSET, Parameter
from engine.tree.parameters import (
    MEMBER_CLASSIFIER,
    MEMBER_REGRESSOR,
    N_JOBS,
    RANDOM_STATE,
    with_defaults,
)

VOTING = Parameter(
    "voting", "soft", "choice", choices=("soft", "hard"), label="Voting", group="More",
    help="soft: mean of the members' probabilities. hard: each member has one vote, for its first choice.",
    aliases={"sklearn": "voting"},
)  # fmt: skip
BOOTSTRAP = Parameter(
    "bootstrap", True, "bool", label="Resample rows", group="Sampling",
    help="Each tree sees rows drawn with replacement; off, every tree sees all rows.",
    aliases={"sklearn": "bootstrap"},
)  # fmt: skip
MAX_SAMPLES = Parameter(
    "max_samples", None, "number_or_choice", minimum=0, open_minimum=True, allows_none=True,
    none_text="as many as there are", label="Rows drawn", group="Sampling",
    help="Rows drawn for each tree: a whole number, or a share such as 0.5.",
    aliases={"lightgbm": "bagging_fraction", "xgboost": "subsample", "sklearn": "max_samples"},
    applies_when={"bootstrap": (True,)},
)  # fmt: skip
OOB_SCORE = Parameter(
    "oob_score", False, "bool", form_default=True, label="Out-of-bag score", group="Sampling",
    help="Score each row by the trees that did not see it.",
    aliases={"sklearn": "oob_score"}, applies_when={"bootstrap": (True,)},
)  # fmt: skip
WARM_START = Parameter(
    "warm_start", False, "bool", label="Keep the trees", group="More", in_form=False,
    help="A fit keeps the trees that are there and adds those that are missing.",
    aliases={"sklearn": "warm_start"},
)  # fmt: skip
N_ESTIMATORS = Parameter(
    "n_estimators", 100, "int", simpler="smaller", minimum=1, label="Trees", group="Size",
    help="How many trees vote. More are never worse, only slower.",
    aliases={"lightgbm": "n_estimators", "xgboost": "num_parallel_tree", "sklearn": "n_estimators"},
)  # fmt: skip
_COLUMNS_PER_TREE = Parameter(
    "colsample_bytree", 1.0, "float", simpler="smaller",
    minimum=0, maximum=1, open_minimum=True, label="Columns per tree",
    group="Sampling", help="Share of the columns that each tree may ask about, drawn once a tree.",
    aliases={"lightgbm": "feature_fraction", "xgboost": "colsample_bytree", "catboost": "rsm"},
)  # fmt: skip

_MAX_BINS = Parameter(
    "max_bins", None, "int", simpler="smaller",
    minimum=2, maximum=255, allows_none=True, none_text="every threshold",
    label="Bins per column", group="More",
    help="Distinct values kept of a number; with more, values share a bin, splits lie between bins: faster.",
    aliases={"lightgbm": "max_bin", "xgboost": "max_bin", "catboost": "border_count", "sklearn": "max_bins"},
)  # fmt: skip

_ENSEMBLE = (
    N_ESTIMATORS, BOOTSTRAP, MAX_SAMPLES, OOB_SCORE, _COLUMNS_PER_TREE, WARM_START, N_JOBS
)  # fmt: skip

_OF_A_FOREST: dict[str, dict[str, object]] = {
    # full trees are a forest's usual form: averaging takes care of their variance
    "max_depth": {"form_default": UNSET},
    "min_samples_leaf": {"form_default": UNSET},
    "class_weight": {
        "choices": ("balanced", "balanced_subsample"),
        "help": "balanced: all classes weigh the same, however rare; balanced_subsample: among the rows that "
        "each tree drew.",
    },
}
# extra trees draw no rows by default: a threshold drawn for each column makes trees differ enough
_WITHOUT_MEDIANS: dict[str, object] = {
    "choices": ("squared_error", "poisson"),
    "help": "How far rows are from their mean: squared, or as counts (Poisson).",
}

_CLASSIFIER = (
    *_ENSEMBLE,
    VOTING,
    *with_defaults(MEMBER_CLASSIFIER, max_features={"default": "sqrt"}, **_OF_A_FOREST),
)
_REGRESSOR = (
    *_ENSEMBLE,
    *with_defaults(MEMBER_REGRESSOR, max_features={"default": 1.0}, **_OF_A_FOREST),
)
FOREST_CLASSIFIER = (*_CLASSIFIER, _MAX_BINS)
FOREST_REGRESSOR = (*_REGRESSOR, _MAX_BINS)
EXTRA_TREES_CLASSIFIER = with_defaults(_CLASSIFIER, bootstrap={"default": False})
EXTRA_TREES_REGRESSOR = with_defaults(_REGRESSOR, bootstrap={"default": False}, criterion=_WITHOUT_MEDIANS)

_COLUMNS_PER_MEMBER = Parameter(
    "max_features", 1.0, "number_or_choice", simpler="smaller",
    minimum=0, open_minimum=True, label="Columns per tree",
    group="Sampling", help="Columns drawn once a tree: a whole number, or a share (1.0 is all).",
    aliases={"lightgbm": "feature_fraction", "xgboost": "colsample_bytree", "catboost": "rsm",
             "sklearn": "max_features"},
)  # fmt: skip
BAGGING_REGRESSOR = with_defaults(
    (
        N_ESTIMATORS, BOOTSTRAP, MAX_SAMPLES, _COLUMNS_PER_MEMBER, OOB_SCORE, WARM_START, N_JOBS, RANDOM_STATE
    ),
    n_estimators={"default": 10, "form_default": 100},
)  # fmt: skip
# the form's trees are full ones, whose leaves are all of one class: both ways of voting are the same
BAGGING_CLASSIFIER = (*BAGGING_REGRESSOR, *with_defaults((VOTING,), voting={"in_form": False}))
