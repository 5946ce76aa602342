"""How firmly rows stand behind a tree, in a project file: settings and words as JSON, resamples as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.instability import MAX_RESAMPLES, InstabilityFound, InstabilitySettings
from workbench.project.format import plain

FIRMNESS_MEMBER = "studies/instability.npz"
DAMAGED = "the instability of a tree does not hold together; the file is damaged"
ARRAYS = {
    "nodes": np.int64, "own": np.int64, "columns": np.int16, "thresholds": np.float64, "is_same": np.bool_,
    "bands": np.float64,
}  # fmt: skip


def settings_to_json(settings: InstabilitySettings) -> dict[str, Any]:
    """Return which resamples are looked at."""
    written: dict[str, Any] = plain(vars(settings))
    return written


def settings_from_json(content: Mapping[str, Any]) -> InstabilitySettings:
    """Return what `settings_to_json` wrote.

    Raises
    ------
    DataError
        There are no such settings; the file is damaged.
    """
    names = ("n_resamples", "seed", "first", "second")
    found = InstabilitySettings(**{name: int(content[name]) for name in names})
    is_sound = 2 <= found.n_resamples <= MAX_RESAMPLES and found.seed >= 0
    if not is_sound or not all(1 <= number <= found.n_resamples for number in (found.first, found.second)):
        raise DataError(DAMAGED)
    return found


def found_to_json(found: InstabilityFound) -> dict[str, Any]:
    """Return all but the arrays."""
    made = found.instability
    errors = {str(number): why for number, why in made.errors.items()}
    return {
        "settings": settings_to_json(found.settings),
        "name": found.name,
        "tree_mark": found.tree_mark,
        "columns": [spec.name for spec in made.features],
        "n_wanted": made.n_wanted,
        "errors": errors,
        "stopped": made.stopped,
    }


def firmness_arrays(found: InstabilityFound) -> dict[str, NDArray[Any]]:
    """Return what each resample asks at each node."""
    return {name: getattr(found.instability, name) for name in ARRAYS}


def found_from_json(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> InstabilityFound:
    """Return what `found_to_json` and `firmness_arrays` wrote; of the columns the names alone.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    from engine.features import FeatureSpec
    from engine.resampling.instability import NO_COLUMN, Instability

    values: dict[str, Any] = {name: arrays[name].astype(kind) for name, kind in ARRAYS.items()}
    features = tuple(FeatureSpec(str(name)) for name in content["columns"])
    n_nodes, n_over = len(values["nodes"]), len(values["columns"])
    of_resamples = dict.fromkeys(("columns", "thresholds", "is_same"), (n_over, n_nodes))
    shapes: dict[str, tuple[int, ...]] = {**of_resamples, "bands": (n_nodes, 2)}
    shapes |= dict.fromkeys(("nodes", "own"), (n_nodes,))
    errors = {int(number): str(why) for number, why in content["errors"].items()}
    is_sound = (
        all(values[name].shape == shape for name, shape in shapes.items())
        and bool(np.all(np.diff(values["nodes"]) > 0))
        and _are_within(values["own"], 0, len(features))
        and _are_within(values["columns"], NO_COLUMN, len(features))
        and n_over <= int(content["n_wanted"])
        and all(0 <= number < n_over for number in errors)
    )
    if not is_sound:
        raise DataError(DAMAGED)
    made = Instability(
        features=features, n_wanted=int(content["n_wanted"]), errors=errors,
        stopped=bool(content["stopped"]), **values,
    )  # fmt: skip
    settings = settings_from_json(content["settings"])
    return InstabilityFound(settings, str(content["name"]), str(content["tree_mark"]), made)


def _are_within(values: NDArray[Any], first: int, stop: int) -> bool:
    return bool(np.all((values >= first) & (values < stop)))
