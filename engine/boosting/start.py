"""What boosting begins with: a constant, zero, a first tree, or the answer of another model (`init`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.boosting.losses import Exponential, Loss, class_loss
from engine.boosting.numeric_losses import Poisson
from engine.errors import ParameterError
from engine.other_learners import StopOnly, can_stop, seeded
from engine.predict import tree_values

START = 0  # among the members that a seed is for: rounds count from 1
SMALLEST = 1e-12  # probability or count that another model's answer of 0 stands for

Floats = NDArray[np.float64]


def is_model(init: Any) -> bool:
    """Tell whether `init` is an estimator instead of a name."""
    return callable(getattr(init, "fit", None)) and callable(getattr(init, "predict", None))


def begin_with(
    init: Any, constant: Floats, data: TrainingData, seed: int, is_to_stop: Callable[[], bool]
) -> tuple[Floats, Any]:
    """Return the baseline, float64 (n_raw,), and the model if there is one; a first tree is grown later.

    Stopped while the model trains, all begins with the constant: half a model is no start.
    """
    if is_model(init):
        model = fit_init(init, data, seed, is_to_stop)
        if not is_to_stop():
            return np.zeros_like(constant), model
    return np.zeros_like(constant) if init == "zero" else constant, ()


def fit_init(init: Any, data: TrainingData, seed: int, is_to_stop: Callable[[], bool]) -> Any:
    """Return a fitted copy of an estimator: it sees the encoded table, and class indices as labels.

    Seeds that it leaves open, also in estimators inside it, are drawn from `seed`. One that takes a monitor
    asks `is_to_stop` on its way.

    Raises
    ------
    ParameterError
        It cannot tell probabilities, or refuses the table.
    """
    if data.classes is not None and not callable(getattr(init, "predict_proba", None)):
        raise ParameterError(f"init is {init!r}, which has no predict_proba; choose a model of probabilities")
    extra: dict[str, Any] = {"sample_weight": data.sample_weight} if data.is_weighted else {}
    if can_stop(init):
        extra["monitor"] = StopOnly(is_to_stop)
    target = data.y if data.classes is None else data.y.astype(np.int64)
    try:
        return seeded(init, seed, START, only_open=True).fit(np.array(data.X), np.array(target), **extra)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"init is {init!r}, which cannot be trained on this table: {error}") from error


def start_raw(estimator: Any, encoded: NDArray[Any], n_jobs: int | None = None) -> Floats:
    """Return a fitted model's raw predictions before its rounds: float64 (n_rows, n_raw)."""
    init, baseline = getattr(estimator, "init_", ()), estimator.baseline_prediction_
    if isinstance(init, tuple):
        return trees_raw(baseline, init, encoded, n_jobs)
    n_classes = len(estimator.classes_) if hasattr(estimator, "classes_") else 0
    loss = class_loss(estimator.loss, n_classes) if n_classes else None
    return model_raw(init, encoded, loss or (Poisson() if estimator.loss == "poisson" else None), n_classes)


def trees_raw(
    baseline: Floats, trees: tuple[Any, ...], encoded: NDArray[Any], n_jobs: int | None = None
) -> Floats:
    """Return a constant plus one tree for each raw prediction, if there are any."""
    raw = np.tile(baseline, (len(encoded), 1))
    for k, tree in enumerate(trees):
        raw[:, k] += tree_values([tree], encoded, n_jobs)[:, 0]
    return raw


def model_raw(model: Any, encoded: NDArray[Any], loss: Loss | None, n_classes: int) -> Floats:
    """Return another model's answers as raw predictions of a loss."""
    table = np.array(encoded)
    if len(table) == 0:
        return np.empty((0, loss.n_raw if loss is not None else 1))
    if n_classes == 0:
        answers = np.asarray(model.predict(table), np.float64).reshape(-1, 1)
        return np.asarray(np.log(np.maximum(answers, SMALLEST))) if isinstance(loss, Poisson) else answers
    told = np.full((len(table), n_classes), SMALLEST)
    told[:, np.asarray(model.classes_, np.int64)] = model.predict_proba(table)
    logs = np.log(np.clip(told, SMALLEST, 1.0))
    if n_classes != 2:
        return np.asarray(logs)
    odds: Floats = logs[:, 1:] - logs[:, :1]
    return odds / 2.0 if isinstance(loss, Exponential) else odds
