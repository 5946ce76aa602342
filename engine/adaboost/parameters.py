"""Hyperparameters of AdaBoost as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.boosting.parameters import EARLY_STOPPING
from engine.parameters import UNSET, Parameter
from engine.tree.parameters import MEMBER_CLASSIFIER, MEMBER_REGRESSOR, with_defaults

_ROUNDS = (
    Parameter(
        "n_estimators", 50, "int", simpler="smaller", minimum=1, label="Rounds", group="Size",
        help="How many trees are added, one after another; fewer where a round fits all rows.",
        aliases={"lightgbm": "n_estimators", "xgboost": "n_estimators", "catboost": "iterations",
                 "sklearn": "n_estimators"},
    ),
    Parameter(
        "learning_rate", 1.0, "float", simpler="smaller", minimum=0, open_minimum=True, maximum=1000,
        label="Learning rate", group="Size",
        help="Below 1 rows gain weight more slowly: more rounds are needed, and noise is followed less.",
        aliases={"lightgbm": "learning_rate", "xgboost": "eta", "catboost": "learning_rate",
                 "sklearn": "learning_rate"},
    ),
)  # fmt: skip

_LOSS = Parameter(
    "loss", "linear", "choice", choices=("linear", "square", "exponential"), label="Row loss", group="Size",
    help="How a row's error, as a share of the largest, counts: as it is, squared, or 1 - exp(-error).",
    aliases={"sklearn": "loss"},
)  # fmt: skip

_BOOTSTRAP = Parameter(
    "bootstrap", True, "bool", label="Resample rows", group="Sampling",
    help="Each tree is grown on rows drawn by their weights; off, on all rows, weighted.",
    aliases={},
)  # fmt: skip

_STOPPING = (
    *with_defaults(
        EARLY_STOPPING,
        early_stopping={
            "help": "Keep only the rounds up to the smallest error on the validation rows.", "aliases": {},
        },
        n_iter_no_change={"help": "Stop after this many rounds without a smaller validation error."},
        tol={"help": "The validation error must fall by more than this to count as smaller."},
    ),
    Parameter(
        "warm_start", False, "bool", label="Add rounds", group="More", in_form=False,
        help="Fitting again keeps the rounds there are and adds those that are missing.",
        aliases={"sklearn": "warm_start"},
    ),
)  # fmt: skip

_OF_A_MEMBER = {"min_samples_leaf": {"form_default": UNSET}}

ADABOOST_CLASSIFIER = (
    *_ROUNDS,
    *with_defaults(MEMBER_CLASSIFIER, max_depth={"default": 1, "form_default": UNSET}, **_OF_A_MEMBER),
    *_STOPPING,
)
ADABOOST_REGRESSOR = (
    *_ROUNDS,
    _LOSS,
    _BOOTSTRAP,
    *with_defaults(MEMBER_REGRESSOR, max_depth={"default": 3, "form_default": UNSET}, **_OF_A_MEMBER),
    *_STOPPING,
)
