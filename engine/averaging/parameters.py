"""Hyperparameters of averages as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.forest.parameters import VOTING
from engine.parameters import Parameter
from engine.tree.parameters import N_JOBS, RANDOM_STATE, with_defaults

ESTIMATORS = Parameter(
    "estimators", None, "models", allows_none=True, none_text="nearest neighbours and SVM",
    label="Models", group="Size", help="The models whose answers are put together.",
    aliases={"sklearn": "estimators"},
)  # fmt: skip
WEIGHTS = Parameter(
    "weights", None, "numbers", minimum=0, allows_none=True, none_text="all the same", label="Weights",
    group="Size", help="How much each model counts, in the order of the models.",
    aliases={"sklearn": "weights"},
)  # fmt: skip
PREFIT = Parameter(
    "prefit", False, "bool", label="Trained already", group="More", in_form=False,
    help="The models are fitted and taken as they are.",
)  # fmt: skip
AVERAGING_REGRESSOR = (ESTIMATORS, WEIGHTS, PREFIT, N_JOBS, RANDOM_STATE)
AVERAGING_CLASSIFIER = (
    *AVERAGING_REGRESSOR,
    *with_defaults(
        (VOTING,),
        voting={
            "help": "soft: mean of the models' probabilities. hard: each has one vote, for its first choice."
        },
    ),
)
