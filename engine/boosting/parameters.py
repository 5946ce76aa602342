"""Hyperparameters of boosting as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from typing import Any

from engine.parameters import Parameter
from engine.tree.parameters import DIRECTIONS, MAX_FEATURES, N_JOBS

SECOND_ORDER = ("squared_error", "poisson", "log_loss", "exponential")
"""Losses whose second derivatives tell something."""

LOSS_WORDS = {
    "squared_error": "half the squared error",
    "absolute_error": "absolute error",
    "huber": "Huber loss",
    "quantile": "quantile loss",
    "poisson": "half the Poisson deviance",
    "log_loss": "log loss",
    "exponential": "exponential loss",
}
"""What the mean of each loss is called on a curve."""

_BY_CURVATURE = {"order": (2,), "loss": SECOND_ORDER}

EARLY_STOPPING = (
    Parameter(
        "early_stopping", False, "bool", label="Stop early", group="Stopping",
        help="Keep only the rounds up to the smallest loss on the validation rows.",
        aliases={"sklearn": "early_stopping"},
    ),
    Parameter(
        "validation_fraction", 0.1, "float", minimum=0, open_minimum=True, maximum=1, open_maximum=True,
        label="Validation share", group="Stopping",
        help="Share of the rows set aside for it where no validation rows are given.",
        aliases={"sklearn": "validation_fraction"}, applies_when={"early_stopping": (True,)}, in_form=False,
    ),
    Parameter(
        "n_iter_no_change", 10, "int", minimum=1, label="Patience", unit="rounds", group="Stopping",
        help="Stop after this many rounds without a smaller validation loss.",
        aliases={"lightgbm": "early_stopping_round", "xgboost": "early_stopping_rounds",
                 "catboost": "early_stopping_rounds", "sklearn": "n_iter_no_change"},
        applies_when={"early_stopping": (True,)},
    ),
    Parameter(
        "tol", 0.0, "float", minimum=0, label="Smallest improvement", group="Stopping",
        help="The validation loss must fall by more than this to count as smaller.",
        aliases={"lightgbm": "early_stopping_min_delta", "sklearn": "tol"},
        applies_when={"early_stopping": (True,)},
    ),
)  # fmt: skip

_COMMON = (
    Parameter(
        "n_estimators", 100, "int", simpler="smaller", minimum=1, label="Rounds", group="Size",
        help="How many trees are added, one after another (one for each class if there are more than two).",
        aliases={"lightgbm": "n_estimators", "xgboost": "n_estimators", "catboost": "iterations",
                 "sklearn": "n_estimators"},
    ),
    Parameter(
        "learning_rate", 0.1, "float", simpler="smaller", minimum=0, open_minimum=True, maximum=1000,
        label="Learning rate", group="Size",
        help="Share of each new tree that is added: smaller needs more rounds and often predicts better.",
        aliases={"lightgbm": "learning_rate", "xgboost": "eta", "catboost": "learning_rate",
                 "sklearn": "learning_rate"},
    ),
    Parameter(
        "growth", "leaf", "choice", choices=("leaf", "depth", "oblivious"), label="Growth",
        group="Size",
        help="leaf: split where it helps most, up to the leaf limit; depth: level by level; oblivious: the "
        "same with one question for a whole level, as in CatBoost.",
        aliases={"xgboost": "grow_policy", "catboost": "grow_policy"},
    ),
    Parameter(
        "max_leaf_nodes", 31, "int", simpler="smaller", minimum=2, allows_none=True, none_text="no limit",
        label="Leaves per tree", group="Size", help="At most this many leaves in each tree.",
        aliases={"lightgbm": "num_leaves", "xgboost": "max_leaves", "catboost": "max_leaves",
                 "sklearn": "max_leaf_nodes"},
    ),
    Parameter(
        "max_depth", None, "int", simpler="smaller",
        minimum=1, allows_none=True, none_text="no limit", label="Depth per tree",
        group="Size", help="At most this many questions on the way to a leaf.",
        aliases={"lightgbm": "max_depth", "xgboost": "max_depth", "catboost": "depth",
                 "sklearn": "max_depth"},
    ),
    Parameter(
        "min_samples_leaf", 20, "int", simpler="larger", minimum=1, label="Rows per leaf", group="Size",
        help="A leaf holds at least this many rows (rows are counted, not their weights).",
        aliases={"lightgbm": "min_child_samples", "catboost": "min_data_in_leaf",
                 "sklearn": "min_samples_leaf"},
    ),
    Parameter(
        "max_bins", 255, "int", simpler="smaller", minimum=2, maximum=65535, label="Bins per column",
        help="Distinct values kept of a number; beyond it values of about equally many rows share a bin.",
        aliases={"lightgbm": "max_bin", "xgboost": "max_bin", "catboost": "border_count",
                 "sklearn": "max_bins"},
    ),
    Parameter(
        "order", 1, "choice", choices=(1, 2), label="Order",
        help="1: gradient boosting, trees fitted to the gradient; 2: Newton boosting, as in XGBoost.",
        applies_when={"loss": SECOND_ORDER},
    ),
    Parameter(
        "leaf_update", "per_leaf", "choice", choices=("per_leaf", "per_tree"), label="Step",
        help="per_leaf: each leaf takes the step that helps it most; per_tree: one step for a whole round.",
        applies_when={"order": (1,)},
    ),
    Parameter(
        "reg_lambda", 0.0, "float", simpler="larger", minimum=0, label="Leaf shrinkage",
        help="Pulls leaf values towards 0; added to the sum of second derivatives.",
        aliases={"lightgbm": "reg_lambda", "xgboost": "reg_lambda", "catboost": "l2_leaf_reg",
                 "sklearn": "l2_regularization"},
        applies_when=_BY_CURVATURE,
    ),
    Parameter(
        "reg_alpha", 0.0, "float", simpler="larger", minimum=0, label="Leaf cut-off",
        help="Leaves whose sum of gradients is smaller answer 0, the others that much less (L1).",
        aliases={"lightgbm": "reg_alpha", "xgboost": "reg_alpha"}, applies_when=_BY_CURVATURE,
    ),
    Parameter(
        "gamma", 0.0, "float", simpler="larger", minimum=0, label="Least gain",
        help="A split's gain must exceed this, on XGBoost's scale: twice the loss that it saves.",
        aliases={"lightgbm": "min_split_gain", "xgboost": "gamma"}, applies_when=_BY_CURVATURE,
    ),
    Parameter(
        "min_child_weight", 0.0, "float", simpler="larger", minimum=0, label="Curvature per leaf",
        help="Sum of second derivatives in a leaf at least; with squared error that is its weight.",
        aliases={"lightgbm": "min_child_weight", "xgboost": "min_child_weight"}, applies_when=_BY_CURVATURE,
    ),
    Parameter(
        "subsample", 1.0, "float", minimum=0, open_minimum=True, maximum=1, label="Row share",
        group="Sampling", help="Share of the rows each round is grown on, drawn anew without repetition.",
        aliases={"lightgbm": "bagging_fraction", "xgboost": "subsample", "catboost": "subsample",
                 "sklearn": "subsample"},
    ),
    Parameter(
        "colsample_bytree", 1.0, "float", simpler="smaller", minimum=0, open_minimum=True, maximum=1,
        label="Column share per tree", group="Sampling",
        help="Share of the columns each tree may ask about, drawn anew without repetition.",
        aliases={"lightgbm": "feature_fraction", "xgboost": "colsample_bytree"},
    ),
    MAX_FEATURES,
    Parameter(
        "categorical", "partition", "choice", choices=("partition", "ordered"), label="Categories",
        help="partition: each split finds the best two groups of levels; ordered: levels count by the mean "
        "target of rows before, as in CatBoost, which guards against learning rare levels by heart.",
        aliases={"catboost": "simple_ctr"}, needs_categories=True,
    ),
    DIRECTIONS,
    *EARLY_STOPPING,
    Parameter(
        "init", "constant", "choice", choices=("constant", "zero", "first_tree"), label="Start",
        help="What the rounds begin with: the constant of least loss, zero, or a tree that counts in full.",
        aliases={"sklearn": "init"},
    ),
    Parameter(
        "warm_start", False, "bool", label="Train on", help="Add rounds to those that the model has.",
        aliases={"sklearn": "warm_start"}, in_form=False,
    ),
    N_JOBS,
)  # fmt: skip

_SCORING: dict[str, Any] = {
    "label": "Stop by", "group": "Stopping", "aliases": {"lightgbm": "metric", "xgboost": "eval_metric",
    "catboost": "eval_metric", "sklearn": "scoring"}, "applies_when": {"early_stopping": (True,)},
    "help": "What has to get better on the validation rows: the loss, or a score.",
}  # fmt: skip

BOOSTING_CLASSIFIER = (
    Parameter(
        "loss", "log_loss", "choice", choices=("log_loss", "exponential"), label="Loss", group="Size",
        help="What a wrong prediction costs: log_loss, or exponential (two classes; as AdaBoost, hard on "
        "rows that are far wrong).",
        aliases={"lightgbm": "objective", "xgboost": "objective", "catboost": "loss_function",
                 "sklearn": "loss"},
        max_classes=2,
    ),
    *_COMMON,
    Parameter("scoring", "loss", "choice", choices=("loss", "accuracy", "auc", "log_loss"), **_SCORING),
)  # fmt: skip

BOOSTING_REGRESSOR = (
    Parameter(
        "loss", "squared_error", "choice",
        choices=("squared_error", "absolute_error", "huber", "quantile", "poisson"), label="Loss",
        group="Size",
        help="What an error costs: its square, its size (robust), huber (squares, but sizes beyond a limit), "
        "quantile (predicts that quantile), poisson (counts of events).",
        aliases={"lightgbm": "objective", "xgboost": "objective", "catboost": "loss_function",
                 "sklearn": "loss"},
    ),
    Parameter(
        "alpha", 0.9, "float", minimum=0, maximum=1, open_minimum=True, open_maximum=True, label="Quantile",
        group="Size",
        help="quantile: the share of rows below the prediction; huber: the share of errors that are squared.",
        aliases={"lightgbm": "alpha", "xgboost": "quantile_alpha", "sklearn": "alpha"},
        applies_when={"loss": ("huber", "quantile")},
    ),
    *_COMMON,
    Parameter("scoring", "loss", "choice", choices=("loss", "r2", "rmse", "mae"), **_SCORING),
)  # fmt: skip
