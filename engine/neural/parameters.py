"""Hyperparameters of deep ensembles as plain data: checks, forms and project files read them (D22)."""

from __future__ import annotations

from engine.parameters import Parameter
from engine.tree.parameters import MEMBER_CLASSIFIER, N_JOBS, RANDOM_STATE

LOSS_WORDS = {
    "log_loss": "log loss",
    "gaussian": "negative log-likelihood",
    "squared_error": "half the squared error",
}

_SIZE = (
    Parameter(
        "n_estimators", 5, "int", simpler="smaller", minimum=1, label="Networks", group="Size",
        help="How many networks are trained, each from a start of its own, and averaged.",
        aliases={"sklearn": "n_estimators"},
    ),
    Parameter(
        "hidden_layer_sizes", (64, 64), "sizes", simpler="smaller", minimum=1, label="Hidden layers",
        group="Size",
        help="Units of each hidden layer, from the inputs up; none at all is a linear model.",
        aliases={"sklearn": "hidden_layer_sizes"},
    ),
    Parameter(
        "activation", "relu", "choice", choices=("relu", "tanh"), label="Units", group="Size",
        help="relu: max(0, z), bends in straight pieces. tanh: smooth curves.",
        aliases={"sklearn": "activation"},
    ),
)  # fmt: skip
_LOSS = Parameter(
    "loss", "gaussian", "choice", choices=("gaussian", "squared_error"), label="Loss", group="Size",
    help="gaussian: networks learn a mean and a variance. squared_error: a mean alone, one variance for all.",
    aliases={"sklearn": "loss"},
)  # fmt: skip
_VARIANCE = (
    Parameter(
        "variance_warm_up", 10, "int", minimum=0, label="Epochs before variance", group="More",
        help="Epochs in which the mean alone is learned: else rows that are hard at first look like noise.",
        applies_when={"loss": ("gaussian",)},
    ),
    Parameter(
        "variance_floor", 1e-4, "float", simpler="larger",
        minimum=0, open_minimum=True, maximum=1, label="Smallest variance",
        group="More", help="No network claims less than this share of the target's variance.",
        applies_when={"loss": ("gaussian",)},
    ),
)  # fmt: skip
_TRAINING = (
    Parameter(
        "learning_rate", 0.001, "float", minimum=0, open_minimum=True, maximum=10, label="Learning rate",
        group="Size", help="Size of Adam's steps.",
        aliases={"sklearn": "learning_rate_init"},
    ),
    Parameter(
        "schedule", "constant", "choice", choices=("constant", "cosine"), label="Rate over time",
        group="Size",
        help="constant: the same rate all along. cosine: it falls to 0 at the last epoch.",
    ),
    Parameter(
        "max_epochs", 100, "int", simpler="smaller", minimum=1, label="Epochs", group="Size", unit="epochs",
        help="How often each network goes through the training rows, at most.",
        aliases={"sklearn": "max_iter"},
    ),
    Parameter(
        "batch_size", None, "int", minimum=1, allows_none=True, none_text="automatic",
        label="Rows per step", group="Sampling",
        help="Rows that the gradient of a step is taken over. Automatic: a 20th of them, from 16 to 200.",
        aliases={"sklearn": "batch_size"},
    ),
    Parameter(
        "bootstrap", False, "bool", label="Resample rows", group="Sampling",
        help="Each network sees rows drawn with replacement; off, they differ by start and order alone.",
        aliases={"sklearn": "bootstrap"},
    ),
    Parameter(
        "weight_decay", 0.0, "float", simpler="larger",
        minimum=0, maximum=1, label="Weight decay", group="More",
        help="Share of the learning rate by which weights shrink at each step, apart from the gradient.",
    ),
    Parameter(
        "dropout", 0.0, "float", simpler="larger",
        minimum=0, maximum=1, open_maximum=True, label="Dropout", group="More",
        help="Share of the hidden units that is left out of each row of a step.",
    ),
)  # fmt: skip
_STOPPING = (
    Parameter(
        "early_stopping", False, "bool", form_default=True, label="Stop early", group="Stopping",
        help="Each network ends when the validation loss no longer falls, and goes back to its best epoch.",
        aliases={"sklearn": "early_stopping"},
    ),
    Parameter(
        "validation_fraction", 0.1, "float", minimum=0, maximum=1, open_minimum=True, open_maximum=True,
        label="Rows set aside", group="Stopping", in_form=False,
        help="Share of the training rows that is set aside where no validation part is given.",
        aliases={"sklearn": "validation_fraction"}, applies_when={"early_stopping": (True,)},
    ),
    Parameter(
        "n_iter_no_change", 10, "int", simpler="smaller",
        minimum=1, label="Patience", group="Stopping", unit="epochs",
        help="Epochs without a better validation loss before the end.",
        aliases={"sklearn": "n_iter_no_change"}, applies_when={"early_stopping": (True,)},
    ),
    Parameter(
        "tol", 0.0, "float", simpler="larger", minimum=0, label="Least gain", group="Stopping",
        help="A validation loss is better when it is lower by more than this.",
        aliases={"sklearn": "tol"}, applies_when={"early_stopping": (True,)},
    ),
)  # fmt: skip
_CALIBRATE = Parameter(
    "calibrate", False, "bool", label="Scale on validation", group="More",
    help="One temperature for all probabilities, chosen by log loss on the validation part.",
)  # fmt: skip
_CALIBRATE_VARIANCE = Parameter(
    "calibrate", False, "bool", label="Scale on validation", group="More",
    help="One factor for all variances, chosen by likelihood on the validation part.",
)  # fmt: skip
_CLASS_WEIGHT = tuple(parameter for parameter in MEMBER_CLASSIFIER if parameter.name == "class_weight")

DEEP_ENSEMBLE_CLASSIFIER = (
    *_SIZE, *_TRAINING, *_STOPPING, _CALIBRATE, *_CLASS_WEIGHT, N_JOBS, RANDOM_STATE
)  # fmt: skip
DEEP_ENSEMBLE_REGRESSOR = (
    *_SIZE, _LOSS, *_TRAINING, *_STOPPING, *_VARIANCE, _CALIBRATE_VARIANCE, N_JOBS, RANDOM_STATE
)  # fmt: skip
