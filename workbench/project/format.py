"""What a project file holds, as values and as JSON. Files are data: no pickle, no code (D21).

A ``.treewright`` file is a zip of

- ``project.json``: schema version, table, roles, split, models with their settings and scores, views;
- ``rows.parquet``: the cells as texts, only if the rows were saved with it;
- ``lines.npz``: where the rows stood in their file, if they did not follow line by line;
- ``models/<id>.tree.json``: a trained model, with ``models/<id>.<part>...`` for what numbers and trees
  do not tell (`workbench.project.models`); ``models/<id>.npz``: the parts of its rows, its curve,
  and a single tree as it was grown before any change by hand;
- ``studies/bootstrap.npz``, ``studies/many_fits.npz``, ``studies/instability.npz``: resamples' values, fits
  along a column or over two, what resamples ask at a tree's nodes; see `workbench.project.studies`;
- ``tuning/<id>.npz``: folds and scores of a search for good settings; see `workbench.project.tuning`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.columns import Reading
from workbench.datasets import ReadOptions
from workbench.numerals import NumberStyle
from workbench.scoring import ClassScores, Estimate, ScoreSet
from workbench.studies import Studies

if TYPE_CHECKING:
    from workbench.crossvalidation import CrossValidation
    from workbench.runs import RunRecord
    from workbench.state import DataState

FORMAT = "treewright-project"
VERSION = 1


@dataclass(frozen=True, eq=False)
class ProjectDescription:
    """A project as read from a file.

    Attributes
    ----------
    data : DataState
    runs : tuple of RunRecord
    current_run_id : str or None
    view_state : dict
    path : Path
    notes : tuple of str
        What a person should know: the data file changed since, and how.
    studies : Studies
    """

    data: DataState
    runs: tuple[RunRecord, ...]
    current_run_id: str | None
    view_state: dict[str, Any]
    path: Path
    notes: tuple[str, ...] = field(default=())
    studies: Studies = field(default_factory=Studies)


def plain(value: Any) -> Any:
    """Return `value` as JSON holds it; numbers that JSON lacks become texts that `number` reads."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"a project file cannot hold {type(value).__name__}")


def number(value: Any) -> float:
    """Return a number written by `plain`."""
    if isinstance(value, str) and value not in ("nan", "inf", "-inf"):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def options_to_json(options: ReadOptions) -> dict[str, Any]:
    """Return how a table is read."""
    written: dict[str, Any] = plain(asdict(options))
    return written


def options_from_json(content: Mapping[str, Any]) -> ReadOptions:
    """Return what `options_to_json` wrote; names of later versions are passed over."""
    known = {item.name for item in fields(ReadOptions)}
    values = {name: value for name, value in content.items() if name in known}
    values["missing_tokens"] = tuple(values["missing_tokens"])
    values["column_tokens"] = {name: tuple(tokens) for name, tokens in values["column_tokens"].items()}
    return ReadOptions(**values)


def reading_to_json(reading: Reading) -> dict[str, Any]:
    """Return how the cells of a column are understood."""
    return {
        "missing_tokens": list(reading.missing_tokens),
        "style": plain(asdict(reading.style)),
        "day_first": reading.day_first,
        "is_text": reading.is_text,
        "first_line": reading.lines.first,
        "noun": reading.lines.noun,
    }


def reading_from_json(content: Mapping[str, Any], starts: Any) -> Reading:
    """Return what `reading_to_json` wrote; `starts` are the lines of the rows, or None."""
    from workbench.cells import Lines

    return Reading(
        missing_tokens=tuple(content["missing_tokens"]),
        style=NumberStyle(**content["style"]),
        day_first=content["day_first"],
        lines=Lines(content["first_line"], starts, content["noun"]),
        is_text=bool(content["is_text"]),
    )


def scores_to_json(scores: ScoreSet) -> dict[str, Any]:
    """Return the figures of a ScoreSet; truth and prediction of single rows stay out."""
    return {
        "n_rows": scores.n_rows,
        "metrics": plain(scores.metrics),
        "confusion": plain(scores.confusion),
        "per_class": plain(scores.per_class),
        "baseline": plain(scores.baseline),
        "base_rates": plain(scores.base_rates),
    }


def scores_from_json(part: str, content: Mapping[str, Any], classes: tuple[str, ...]) -> ScoreSet:
    """Return a ScoreSet with its figures, and no rows."""
    confusion, rates = content["confusion"], content["base_rates"]
    return ScoreSet(
        part=part,
        n_rows=int(content["n_rows"]),
        classes=classes,
        y_true=np.empty(0, np.int32 if classes else np.float64),
        proba=np.empty((0, len(classes))) if classes else None,
        prediction=np.empty(0, np.int32 if classes else np.float64),
        metrics={name: _estimate(found) for name, found in content["metrics"].items()},
        confusion=None if confusion is None else np.array(confusion, np.int64),
        per_class=tuple(
            ClassScores(str(label), int(n), number(p), number(r), number(f))
            for label, n, p, r, f in content["per_class"]
        ),
        baseline=number(content["baseline"]),
        base_rates=None if rates is None else np.array([number(rate) for rate in rates]),
    )


def cv_to_json(cv: CrossValidation) -> dict[str, Any]:
    """Return a cross-validation, its fold scores too."""
    written: dict[str, Any] = plain({item.name: getattr(cv, item.name) for item in fields(cv)})
    return written


def cv_from_json(content: Mapping[str, Any]) -> CrossValidation:
    """Return what `cv_to_json` wrote."""
    from workbench.crossvalidation import CrossValidation

    return CrossValidation(
        n_folds=int(content["n_folds"]),
        n_repeats=int(content["n_repeats"]),
        n_rows=int(content["n_rows"]),
        rows_text=str(content["rows_text"]),
        fold_scores={
            name: np.array([number(value) for value in values])
            for name, values in content["fold_scores"].items()
        },
        metrics={name: _estimate(found) for name, found in content["metrics"].items()},
        stopped=bool(content["stopped"]),
    )


def _estimate(content: Any) -> Estimate:
    value, low, high = content
    return Estimate(number(value), number(low), number(high))
