"""A search for good settings in a project file: its settings as JSON, its folds and scores as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.catalog import entry_of
from workbench.project.format import number, plain
from workbench.runs import ModelSpec, SplitSettings

if TYPE_CHECKING:
    from workbench.tuning import Tuning

OPTIONAL_TEXTS = ("weight", "group")


def member_name(run_id: str) -> str:
    """Return the name of the arrays' member."""
    return f"tuning/{run_id}.npz"


def tuning_to_json(tuning: Tuning) -> dict[str, Any]:
    """Return all but the arrays."""
    search = tuning.search
    return {
        "names": list(search.names),
        "values": plain(search.values),
        "errors": {str(setting): why for setting, why in search.errors.items()},
        "simpler": dict(search.simpler),
        "stopped": search.stopped,
        "kind": tuning.spec.kind,
        "parameters": plain(tuning.spec.parameters),
        "task": tuning.task,
        "metric": tuning.metric,
        "features": list(tuning.features),
        "target": tuning.target,
        "n_rows": tuning.n_rows,
        "weight": tuning.weight,
        "group": tuning.group,
        "table_fingerprint": tuning.table_fingerprint,
        "split": plain(vars(tuning.split)),
        "seconds": tuning.seconds,
    }


def tuning_arrays(tuning: Tuning) -> dict[str, NDArray[Any]]:
    """Return the fold of every training row, and the scores of every setting on every fold."""
    return {"folds": tuning.search.folds, "fold_scores": tuning.search.fold_scores}


def tuning_from_json(
    content: Mapping[str, Any] | None, arrays: Callable[[], Mapping[str, NDArray[Any]]]
) -> Tuning | None:
    """Return what `tuning_to_json` and `tuning_arrays` wrote; None where there was none.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    from engine.tuning.search import Search
    from workbench.tuning import Tuning, scoring_of

    if content is None:
        return None
    task, kind, names = str(content["task"]), str(content["kind"]), tuple(map(str, content["names"]))
    scoring_of(task, str(content["metric"]))
    values = tuple(tuple(map(_as_value, tried)) for tried in content["values"])
    for name, tried in zip(names, values, strict=True):
        parameter = entry_of(kind).parameter(task, name)
        for value in tried:
            is_plain = value is None or isinstance(value, (bool, int, float, str))
            if not is_plain and not (isinstance(value, tuple) and parameter.is_legal(value)):
                raise DataError(f"a search holds {value!r} as a value of {name}; the file is damaged")
    found = arrays()
    scores, folds = found["fold_scores"].astype(np.float64), found["folds"].astype(np.int64)
    n_settings = int(np.prod([len(tried) for tried in values]))
    errors = {int(setting): str(why) for setting, why in content["errors"].items()}
    if scores.ndim != 2 or len(scores) != n_settings or scores.shape[1] < 2 or not 1 <= len(names) <= 2:
        raise DataError("a search has other scores than settings; the file is damaged")
    if any(not 0 <= setting < n_settings for setting in errors):
        raise DataError("a search tells of a setting that it does not have; the file is damaged")
    simpler = {str(name): str(way) for name, way in content["simpler"].items()}
    search = Search(names, values, scores, folds, errors, simpler, bool(content["stopped"]))
    weight, group = (None if content[key] is None else str(content[key]) for key in OPTIONAL_TEXTS)
    return Tuning(
        search, ModelSpec(kind, dict(content["parameters"])), task, str(content["metric"]),
        tuple(map(str, content["features"])), str(content["target"]), int(content["n_rows"]), weight, group,
        str(content["table_fingerprint"]), SplitSettings(**content["split"]), number(content["seconds"]),
    )  # fmt: skip


def _as_value(value: Any) -> Any:
    """Return a value as it was: files bring layers as lists."""
    return tuple(value) if isinstance(value, list) else value
