"""Hyperparameters of stacking as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.averaging.parameters import ESTIMATORS
from engine.parameters import Parameter
from engine.tree.parameters import N_JOBS, RANDOM_STATE, with_defaults

_FINAL = Parameter(
    "final_estimator", None, "model", allows_none=True, none_text="logistic regression",
    label="Meta-model", group="Size", help="Learns from what the base models say of rows they did not see.",
    aliases={"sklearn": "final_estimator"},
)  # fmt: skip
_CV = Parameter(
    "cv", 5, "int", minimum=2, label="Folds", group="Sampling",
    help="Each base model is fitted so many times, each time without one fold, and asked about that fold.",
    aliases={"sklearn": "cv"},
)  # fmt: skip
_FOLDS = Parameter(
    "folds", "stratified", "choice", choices=("stratified", "plain", "grouped"), label="Rows dealt",
    group="Sampling",
    help="stratified: each class evenly over the folds. grouped: rows of one group stay together; needs a "
    "group column.",
)  # fmt: skip
_REPEATS = Parameter(
    "n_repeats", 1, "int", minimum=1, label="Repeats", group="Sampling",
    help="Deal the rows into folds so many times; out-of-fold answers are averaged.",
)  # fmt: skip
_PASSTHROUGH = Parameter(
    "passthrough", False, "bool", label="Table's columns too", group="Size",
    help="The meta-model sees the table's own columns beside the base models' answers.",
    aliases={"sklearn": "passthrough"},
)  # fmt: skip
_GRIDS = Parameter(
    "grids", None, "grids", allows_none=True, none_text="as set", label="Tuned inside", group="More",
    in_form=False,
    help="Settings of base models to choose from, by cross-validation inside the rows of each fit.",
)  # fmt: skip
_SHARED = (_CV, _FOLDS, _REPEATS, _PASSTHROUGH, _GRIDS, N_JOBS, RANDOM_STATE)
STACKING_CLASSIFIER = (
    *with_defaults(
        (ESTIMATORS,),
        estimators={
            "label": "Base models",
            "help": "Asked about rows that they did not see.",
            "may_be_tuned": True,
        },
    ),
    _FINAL,
    *_SHARED,
)
STACKING_REGRESSOR = with_defaults(
    STACKING_CLASSIFIER,
    final_estimator={"none_text": "ridge regression"},
    folds={
        "default": "plain", "choices": ("plain", "grouped"),
        "help": "plain: at random. grouped: rows of one group stay together; needs a group column.",
    },
)  # fmt: skip
