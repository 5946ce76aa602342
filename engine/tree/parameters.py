"""Hyperparameters of single trees as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from dataclasses import replace

from engine.parameters import Parameter

_ROWS_OR_SHARE = (
    "A whole number counts rows, whatever their weights; below 1 it is a share of the training rows."
)

SIZE = (
    Parameter(
        "max_depth", None, "int", simpler="smaller",
        minimum=1, allows_none=True, none_text="no limit", form_default=5,
        label="Depth", group="Size", help="At most this many questions on the way to a leaf.",
        aliases={"lightgbm": "max_depth", "xgboost": "max_depth", "catboost": "depth",
                 "sklearn": "max_depth"},
    ),
    Parameter(
        "max_leaf_nodes", None, "int", simpler="smaller",
        minimum=2, allows_none=True, none_text="no limit", label="Leaves",
        group="Size", help="At most this many leaves; the split that helps most is made first.",
        aliases={"lightgbm": "num_leaves", "xgboost": "max_leaves", "sklearn": "max_leaf_nodes"},
    ),
)  # fmt: skip

STOPPING = (
    Parameter(
        "min_samples_leaf", 1, "number_or_choice", simpler="larger",
        minimum=0, open_minimum=True, form_default=5,
        label="Rows per leaf", group="Stopping",
        help="A leaf holds at least this many rows. " + _ROWS_OR_SHARE,
        aliases={"lightgbm": "min_child_samples", "catboost": "min_data_in_leaf",
                 "sklearn": "min_samples_leaf"},
    ),
    Parameter(
        "min_samples_split", 2, "number_or_choice", simpler="larger",
        minimum=0, open_minimum=True, label="Rows to split",
        group="Stopping", help="A node with fewer rows is not split. " + _ROWS_OR_SHARE,
        aliases={"sklearn": "min_samples_split"},
    ),
    Parameter(
        "min_impurity_decrease", 0.0, "float", simpler="larger",
        minimum=0, label="Least gain", group="Stopping",
        help="A split must lower the impurity, weighted by its share of the rows, by at least this.",
        aliases={"lightgbm": "min_split_gain", "xgboost": "gamma", "sklearn": "min_impurity_decrease"},
    ),
    Parameter(
        "min_weight_fraction_leaf", 0.0, "float", simpler="larger",
        minimum=0, maximum=0.5, label="Weight per leaf",
        group="Stopping", help="A leaf holds at least this share of the total weight.",
        aliases={"sklearn": "min_weight_fraction_leaf"},
    ),
)  # fmt: skip

CLASS_CRITERION = Parameter(
    "criterion", "gini", "choice", choices=("gini", "entropy", "misclassification"), label="Criterion",
    group="Size",
    help="How mixed a node is: gini, entropy in bits (information gain), or the share of wrong rows.",
    aliases={"sklearn": "criterion"},
)  # fmt: skip
NUMBER_CRITERION = Parameter(
    "criterion", "squared_error", "choice", choices=("squared_error", "absolute_error", "poisson"),
    label="Criterion", group="Size",
    help="How far rows are: squared or as counts (Poisson) from their mean, absolute from their median.",
    aliases={"sklearn": "criterion", "lightgbm": "objective"},
)  # fmt: skip
CLASS_WEIGHT = Parameter(
    "class_weight", None, "choice", choices=("balanced",), allows_none=True, none_text="rows as they are",
    label="Class weights", group="Sampling", help="balanced: all classes weigh the same, however rare.",
    aliases={"lightgbm": "class_weight", "catboost": "auto_class_weights", "sklearn": "class_weight"},
)  # fmt: skip
MAX_FEATURES = Parameter(
    "max_features", None, "number_or_choice", simpler="smaller",
    minimum=0, open_minimum=True, choices=("sqrt", "log2"),
    allows_none=True, none_text="all columns", label="Columns per node", group="Sampling",
    help="Columns drawn at each node: a whole number, a share (1.0 is all), sqrt or log2 of all.",
    aliases={"lightgbm": "feature_fraction_bynode", "xgboost": "colsample_bynode", "catboost": "rsm",
             "sklearn": "max_features"},
)  # fmt: skip
SPLITTER = Parameter(
    "splitter", "best", "choice", choices=("best", "random"), label="Splits", group="Sampling",
    help="best tries every split of a column; random draws one for each column (extra trees).",
    aliases={"lightgbm": "extra_trees", "sklearn": "splitter"},
)  # fmt: skip
DIRECTIONS = Parameter(
    "monotonic_cst", None, "directions", allows_none=True, none_text="no column", label="Directions",
    group="More", max_classes=2,
    help="Columns with which the prediction may only rise, or only fall; of two classes, the second's share.",
    aliases={"lightgbm": "monotone_constraints", "xgboost": "monotone_constraints",
             "catboost": "monotone_constraints", "sklearn": "monotonic_cst"},
)  # fmt: skip
RANDOM_STATE = Parameter(
    "random_state", None, "int", minimum=0, has_any_size=True, allows_none=True, none_text="drawn anew",
    form_default=0, label="Seed", group="Sampling", help="The same seed gives the same model.",
    aliases={"lightgbm": "random_state", "xgboost": "random_state", "catboost": "random_seed",
             "sklearn": "random_state"},
)  # fmt: skip

N_JOBS = Parameter(
    "n_jobs", None, "int", minimum=-64, maximum=1024, allows_none=True, none_text="all cores",
    label="Threads", help="Threads used; the model has the same bits for any number.",
    aliases={"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count", "sklearn": "n_jobs"},
)  # fmt: skip

_OF_SINGLE_TREES = (
    Parameter(
        "missing", "learned", "choice", choices=("learned", "level"), label="Missing values", group="Size",
        help="learned: to the side where they help most. level: a level of their own; at a threshold they go "
        "with the larger side, unless the split asks whether the value is missing.",
        aliases={"lightgbm": "use_missing", "catboost": "nan_mode"},
    ),
    Parameter(
        "max_nodes", None, "int", simpler="smaller",
        minimum=1, allows_none=True, none_text="no limit", label="Nodes",
        group="Size", help="At most this many nodes and leaves; the split that helps most is made first.",
        aliases={},
    ),
    Parameter(
        "min_relative_decrease", 0.0, "float", simpler="larger",
        minimum=0, maximum=100, unit="%", label="Least relative gain",
        group="Stopping",
        help="A split must lower the impurity, weighted by its share of rows, by this part of the root's.",
        aliases={"rpart": "cp"},
    ),
    Parameter(
        "ccp_alpha", 0.0, "float", simpler="larger", minimum=0, label="Price of a leaf", group="Stopping",
        help="Alpha: branches whose leaves each lower the impurity by less are pruned (cost-complexity).",
        aliases={"sklearn": "ccp_alpha"},
    ),
    SPLITTER,
    DIRECTIONS,
)  # fmt: skip

# what the trees of a forest take too
MEMBER_CLASSIFIER = (CLASS_CRITERION, *SIZE, *STOPPING, MAX_FEATURES, CLASS_WEIGHT, RANDOM_STATE)
MEMBER_REGRESSOR = (NUMBER_CRITERION, *SIZE, *STOPPING, MAX_FEATURES, RANDOM_STATE)
TREE_REGRESSOR = (*MEMBER_REGRESSOR, *_OF_SINGLE_TREES)

CART_ONLY = ("max_leaf_nodes", "max_nodes", "max_features", "monotonic_cst")  # ID3 and C4.5 have none
_CART_CHOICES = ("criterion", "splitter")
_ALGORITHM = Parameter(
    "algorithm", "cart", "choice", choices=("cart", "id3", "c4.5"), label="Algorithm", group="Size",
    help="cart asks two-way questions; id3 and c4.5 give each level of a category its own branch.",
    aliases={},
)  # fmt: skip
_CONFIDENCE = Parameter(
    "confidence", 0.25, "float", simpler="smaller",
    minimum=0, maximum=1, open_minimum=True, open_maximum=True, allows_none=True,
    none_text="no pruning", label="Confidence", group="Stopping",
    help="C4.5 cuts branches that a leaf is expected to beat; a smaller confidence cuts more.",
    aliases={"weka": "confidenceFactor"}, applies_when={"algorithm": ("c4.5",)},
)  # fmt: skip
TREE_CLASSIFIER = (
    _ALGORITHM,
    *(
        replace(p, applies_when={"algorithm": ("cart",)}) if p.name in (*_CART_CHOICES, *CART_ONLY) else p
        for p in (*MEMBER_CLASSIFIER, *_OF_SINGLE_TREES)
    ),
    _CONFIDENCE,
)


def with_defaults(table: tuple[Parameter, ...], **changes: dict[str, object]) -> tuple[Parameter, ...]:
    """Return `table` with fields of the named parameters replaced; for ensembles of trees."""
    return tuple(replace(p, **changes.get(p.name, {})) for p in table)  # type: ignore[arg-type]
