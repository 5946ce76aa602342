"""What boosting refuses before its rounds: settings without effect, and rounds that cannot be trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.base import TrainingData
from engine.boosting.any_learner import is_of_trees
from engine.boosting.parameters import SECOND_ORDER
from engine.boosting.rounds import Earlier
from engine.boosting.start import is_model
from engine.errors import DataError, ParameterError

SECOND_ORDER_ONLY = ("reg_lambda", "reg_alpha", "gamma", "min_child_weight")


def check_order(boosted: Any) -> None:
    """Refuse what has no effect in the order of derivatives that is asked for; raises ParameterError."""
    if boosted.order == 2:
        if boosted.loss not in SECOND_ORDER:
            raise ParameterError(
                f"order is 2 but loss {boosted.loss!r} has no second derivatives to boost by; set order=1"
            )
        if boosted.leaf_update != "per_leaf":
            raise ParameterError(
                f"leaf_update is {boosted.leaf_update!r} but with order=2 leaves take Newton steps; set "
                "order=1 or leaf_update='per_leaf'"
            )
        return
    for name in SECOND_ORDER_ONLY:
        if getattr(boosted, name) != 0:
            raise ParameterError(
                f"{name} is {getattr(boosted, name)!r} with order=1, where it has no effect; set order=2 or "
                f"{name}=0"
            )


def fitted_of(boosted: Any) -> dict[str, Any] | None:
    """Return what is fitted already and is to be trained on."""
    if not boosted.warm_start or not hasattr(boosted, "estimators_"):
        return None
    return {name: of for name, of in vars(boosted).items() if name.endswith("_") and name[0] != "_"}


def check_same(boosted: Any, earlier: dict[str, Any] | None, training: TrainingData) -> None:
    """Check that rounds can be trained on; else `boosted` is left as it was fitted.

    Raises
    ------
    ParameterError
        There are more rounds than asked for, or they are of trees and more are to be of another learner.
    DataError
        The table has other columns or classes.
    """
    if earlier is None:
        return
    same_classes = training.classes is None or np.array_equal(earlier["classes_"], training.classes)
    is_longer = boosted.n_estimators >= earlier["n_estimators_"]
    rounds = earlier["estimators_"]
    same_kind = not rounds or is_of_trees(rounds) == (boosted.estimator is None)
    if same_classes and training.features == earlier["features_"] and is_longer and same_kind:
        return
    for name, of in earlier.items():
        setattr(boosted, name, of)
    if not is_longer:
        raise ParameterError(
            f"n_estimators is {boosted.n_estimators!r} with warm_start=True, but the model has "
            f"{boosted.n_estimators_} rounds; enter more, or use truncate"
        )
    if not same_kind:
        raise ParameterError(
            f"estimator is {boosted.estimator!r} with warm_start=True, but the model's rounds are "
            f"{'' if is_of_trees(rounds) else 'not '}of trees; set warm_start=False to train anew"
        )
    raise DataError(
        "warm_start is True but the columns or classes are not those that the model was trained on; set "
        "warm_start=False to train anew"
    )


def as_earlier(boosted: Any, fitted: dict[str, Any] | None) -> Earlier | None:
    """Return what the rounds need of `fitted_of`; None where they begin anew."""
    if fitted is None:
        return None
    has_begun = len(fitted["estimators_"]) > 0 or fitted["init_"] != ()
    if (boosted.init == "first_tree" or is_model(boosted.init)) and not has_begun:  # it was stopped before
        return None
    steps = fitted["steps_"].tolist()
    return Earlier(fitted["baseline_prediction_"], fitted["init_"], fitted["estimators_"], steps)
