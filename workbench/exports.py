"""Model files: a trained model of the document as `.tree.json`, and back (D21)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.catalog import CATALOG
from workbench.files import told_when_unreadable
from workbench.fitting import curve_of
from workbench.project.atomic import write_atomically
from workbench.runs import ModelSpec, RunResult

MODEL_SUFFIX = ".tree.json"
UNNAMED_TARGET = "prediction"  # for files that do not say what their target was called


def export_model(result: RunResult, path: str | Path) -> None:
    """Write the model, whole or not at all, with the names of its target and event class.

    Task, class labels, columns and levels are part of the model itself.

    Raises
    ------
    DataError
        The file cannot be written, or the model has labels that a file cannot hold.
    """
    from engine.export.json import to_json

    metadata = {"target": result.target, "event_class": result.event_class}
    content = to_json(result.estimator, metadata).encode()
    write_atomically(Path(path).absolute(), lambda file: file.write(content))


def load_model(path: str | Path) -> RunResult:
    """Read a model file; the result has no scores and no rows.

    Files that other programs or earlier versions wrote without metadata have an unnamed target.

    Raises
    ------
    DataError
        The file is missing, unreadable, damaged or no model file; names it.
    """
    from engine.export.json import read_json

    path = Path(path)
    try:
        with told_when_unreadable(path):
            text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is no model file: it is not text; choose another") from None
    try:
        estimator, metadata = read_json(text)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    return _bare_result(estimator, metadata)


def _bare_result(estimator: Any, metadata: dict[str, Any]) -> RunResult:
    name = type(estimator).__name__
    key, task = next(
        (key, task)
        for key, entry in CATALOG.items()
        for task in ("classes", "numbers")
        if entry.estimator_name(task) == name
    )
    known = {parameter.name for parameter in CATALOG[key].parameters(task)}
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    classes = tuple(str(label) for label in estimator.classes_) if task == "classes" else ()
    has_curve = CATALOG[key].has_curve
    target, event = metadata.get("target"), metadata.get("event_class")
    if len(classes) == 2 and event not in classes:
        event = classes[1]
    return RunResult(
        estimator=estimator,
        spec=ModelSpec(key, parameters),
        features=tuple(feature.name for feature in estimator.features_),
        target=target if isinstance(target, str) and target else UNNAMED_TARGET,
        classes=classes,
        parts=np.empty(0, np.uint8),
        scores={},
        importances=np.asarray(estimator.feature_importances_, np.float64),
        seconds=0.0,
        n_rounds=len(getattr(estimator, "estimators_", (None,))),
        stopped=bool(estimator.stopped_),
        table_fingerprint="",
        curve=curve_of(estimator, task) if has_curve else None,
        event_class=event if len(classes) == 2 else None,
        grown_tree=getattr(estimator, "tree_", None),
    )
