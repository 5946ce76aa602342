"""Project file to description. Whatever is wrong with a file becomes a DataError that names it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.catalog import CATALOG
from workbench.columns import KINDS, Column
from workbench.datasets import ROLES, Table, default_roles
from workbench.exports import MODEL_SUFFIXES, load_model
from workbench.files import ARCHIVE_DAMAGE, told_when_unreadable, unreadable
from workbench.log import LOG, describe
from workbench.project import format as form
from workbench.project.format import ProjectDescription
from workbench.project.models import files_under, read_model
from workbench.project.stacks import give_back
from workbench.project.studies import studies_from_json
from workbench.project.tuning import member_name, tuning_from_json
from workbench.runs import Curve, ModelSpec, RunRecord, RunResult, SplitSettings
from workbench.state import DataState

MAX_EXPANSION = 1000  # a member that unpacks to more than this many times its size is a trap
MIN_SUSPECT_BYTES = 100_000_000
CURE = "open a copy of it, or another file"


class DataFileMissing(DataError):  # noqa: N818 - says what is the case
    """The project is fine, but its data file is not where it was; ask for it and load again."""


def load_project(path: str | Path, data_path: str | Path | None = None) -> ProjectDescription:
    """Read a project file; a model file becomes a project of that model and no table.

    Parameters
    ----------
    data_path : path, optional
        Where the data file is now, if it is not where it was relative to the project.

    Raises
    ------
    DataFileMissing
        The rows are not in the project and their file was not found.
    DataError
        The file is damaged, truncated, of a later version, or no project; names it.
    """
    path = Path(path).absolute()
    if path.name.endswith(MODEL_SUFFIXES):
        result = load_model(path)
        name = path.name[: -len(next(suffix for suffix in MODEL_SUFFIXES if path.name.endswith(suffix)))]
        record = RunRecord("run1", name, result.spec, "stopped" if result.stopped else "done", result)
        return ProjectDescription(DataState(), (record,), record.run_id, {}, path)
    with told_when_unreadable(path):
        packed = path.read_bytes()
    try:
        members = _unpack(packed, path.name)
        return _description(members, path, None if data_path is None else Path(data_path))
    except DataError as error:
        if path.name in str(error):
            raise
        raise type(error)(f"{path.name}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        LOG.info("a project was refused\n%s", describe(error))
        what = _what_is_wrong(error)
        raise DataError(f"{path.name} does not hold what a project file holds ({what}); {CURE}") from None


def _what_is_wrong(error: Exception) -> str:
    """Return what an error says of a file to somebody who does not read Python."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) if isinstance(error, ValueError) else "an entry is of another kind than it should be"


def _unpack(packed: bytes, name: str) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            return _read_members(archive)
    except DataError:
        raise
    except ARCHIVE_DAMAGE as error:
        raise DataError(f"{name} is no project file, or it is damaged ({error}); {CURE}") from None


def _read_members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    members = {}
    for info in archive.infolist():
        parts = PurePosixPath(info.filename).parts
        if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in info.filename:
            raise DataError(f"the file holds {info.filename!r}, a place outside of it; do not trust it")
        if info.file_size > max(MIN_SUSPECT_BYTES, MAX_EXPANSION * info.compress_size):
            raise DataError(f"{info.filename!r} would unpack to {info.file_size:,} bytes; do not trust it")
        members[info.filename] = archive.read(info)
    return members


def _description(members: Mapping[str, bytes], path: Path, data_path: Path | None) -> ProjectDescription:
    content = json.loads(members["project.json"])
    if content["format"] != form.FORMAT:
        raise DataError(f"the format is {content['format']!r}, not {form.FORMAT!r}; choose a project file")
    if content["version"] != form.VERSION:
        raise DataError(
            f"it was saved by a later version (schema {content['version']}, known: {form.VERSION}); "
            "update the program"
        )
    table: Table | None = None
    notes: tuple[str, ...] = ()
    if content["table"] is not None:
        table, notes = _table(content["table"], members, path, data_path)
    data = DataState(
        table=table,
        roles=None if table is None else _roles(content["roles"], table),
        as_classes=content["as_classes"],
        event_class=content["event_class"],
        split=SplitSettings(**content["split"]),
    )
    runs = tuple(_run(entry, members, table) for entry in content["runs"])
    current = content["current_run"]
    if len({record.run_id for record in runs}) < len(runs):
        raise DataError("two models have the same id; the file is damaged")
    return ProjectDescription(
        data=data,
        runs=runs,
        current_run_id=current if any(record.run_id == current for record in runs) else None,
        view_state=dict(content["view_state"]),
        path=path,
        notes=notes,
        studies=studies_from_json(
            content.get("studies"),
            lambda member: _arrays(members[member]),
        ),
    )


def _roles(content: Mapping[str, str], table: Table) -> dict[str, str]:
    if not all(role in ROLES for role in content.values()):
        raise DataError("the file gives a column an unknown role; it is damaged")
    return {name: content.get(name, role) for name, role in default_roles(table).items()}


# ---- the table ---------------------------------------------------------------------------------


def _table(
    content: Mapping[str, Any], members: Mapping[str, bytes], path: Path, data_path: Path | None
) -> tuple[Table, tuple[str, ...]]:
    kinds = {entry["name"]: entry["kind"] for entry in content["columns"]}
    if not all(kind in KINDS for kind in kinds.values()):
        raise DataError("the file gives a column an unknown kind; it is damaged")
    if content["sample"] is not None:
        from workbench.samples import load_sample

        table = load_sample(content["sample"])
        for name, tokens in form.options_from_json(content["options"]).column_tokens.items():
            table = table.with_column_tokens(name, tokens)
    elif content["has_rows"]:
        table = _embedded_table(content, members, path)
        return table, _changed_beside(table)
    else:
        from workbench.readers import read_table

        file = _find_file(content, path, data_path)
        table = read_table(file, form.options_from_json(content["options"]))
    notes = _changes(content, table)
    return _with_kinds(table, kinds), notes


def _find_file(content: Mapping[str, Any], path: Path, data_path: Path | None) -> Path:
    if data_path is not None:
        return data_path
    if content["file"] is None:
        raise DataError("the table came from no file and its rows were not saved with the project")
    relative = PurePosixPath(content["file"])
    for place in (path.parent / relative, path.parent / relative.name):
        if place.is_file():
            return place
    raise DataFileMissing(
        f"the data file {relative.name} is not beside the project any more (it was {relative}); "
        "choose where it is now"
    )


def _with_kinds(table: Table, kinds: Mapping[str, str]) -> Table:
    for column in table.columns:
        wanted = kinds.get(column.name, column.kind)
        if column.kind != wanted and wanted in column.kind_choices:
            table = table.replace_column(column.with_kind(wanted))
    return table


def _changes(content: Mapping[str, Any], table: Table) -> tuple[str, ...]:
    """Say how a data file differs from when the project was saved."""
    if table.fingerprint == content["fingerprint"]:
        return ()
    old = [entry["name"] for entry in content["columns"]]
    found = []
    if content["n_rows"] != table.n_rows:
        found.append(f"{content['n_rows']:,} rows then, {table.n_rows:,} now")
    if gone := [name for name in old if name not in table.names]:
        found.append(f"gone: {', '.join(gone)}")
    if new := [name for name in table.names if name not in old]:
        found.append(f"new: {', '.join(new)}")
    how = "; ".join(found) or "same columns and number of rows, other cells"
    return (f"The data file {table.name} changed since the project was saved ({how}).",)


def _changed_beside(table: Table) -> tuple[str, ...]:
    """Say that the rows in the project are not those of their file any more."""
    file = table.path
    if file is None or not file.is_file() or file.stat().st_mtime_ns == table.modified_ns:
        return ()
    try:
        with file.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() == table.fingerprint:
                return ()
    except OSError as error:
        return (f"{unreadable(file, error)}. Shown are the rows saved with the project.",)
    return (
        f"The data file {file.name} changed since the project was saved; shown are the rows saved with it.",
    )


def _embedded_table(content: Mapping[str, Any], members: Mapping[str, bytes], path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    from workbench.cells import TextCells

    try:
        rows = parquet.read_table(io.BytesIO(members["rows.parquet"]))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"its rows are damaged ({error}); {CURE}") from None
    starts = _arrays(members["lines.npz"])["starts"] if "lines.npz" in members else None
    if len(rows.column_names) != len(content["columns"]):
        raise DataError("its rows do not have the columns that it names; it is damaged")
    columns: list[Column] = []
    for entry, cells in zip(content["columns"], rows.columns, strict=True):
        if not pa.types.is_dictionary(cells.type) and not pa.types.is_string(cells.type):
            cells = cells.cast(pa.large_string())  # noqa: PLW2901 - the same cells in the one wanted type
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)  # noqa: PLW2901
        columns.append(_column(entry, TextCells.from_arrow(cells), starts))
    file = content["file"]
    return Table(
        name=str(content["name"]),
        columns=tuple(columns),
        path=None if file is None else (path.parent / PurePosixPath(file)).resolve(),
        options=form.options_from_json(content["options"]),
        n_rows=int(content["n_rows"]),
        notes=tuple(str(note) for note in content["notes"]),
        fingerprint=str(content["fingerprint"]),
        modified_ns=int(content["modified_ns"]),
        sheets=tuple(str(name) for name in content.get("sheets", ())),  # first versions wrote none
    )


def _column(entry: Mapping[str, Any], cells: Any, starts: Any) -> Column:
    from workbench.kinds import read_column

    guessed = read_column(entry["name"], cells, form.reading_from_json(entry["reading"], starts))
    return guessed if guessed.kind == entry["kind"] else guessed.with_kind(entry["kind"])


# ---- models ------------------------------------------------------------------------------------


def _run(entry: Mapping[str, Any], members: Mapping[str, bytes], table: Table | None) -> RunRecord:
    run_id = str(entry["id"])
    if not run_id.removeprefix("run").isdigit() or not run_id.startswith("run"):
        raise DataError(f"a model has the id {run_id!r}; the file is damaged")
    if entry["kind"] not in CATALOG or entry["state"] not in ("new", "done", "stopped", "failed"):
        raise DataError(f"model {entry['name']!r} is of unknown kind or state; update the program")
    result = None if entry["result"] is None else _result(run_id, entry["result"], members, table)
    return RunRecord(
        run_id=run_id,
        name=str(entry["name"]),
        spec=ModelSpec(entry["kind"], dict(entry["parameters"])),
        state=entry["state"],
        result=result,
        error=entry["error"],
        tuning=tuning_from_json(entry.get("tuning"), lambda: _arrays(members[member_name(run_id)])),
    )


def _result(
    run_id: str, content: Mapping[str, Any], members: Mapping[str, bytes], table: Table | None
) -> RunResult:
    from engine.tree.edit import Edit
    from engine.tree.structure import Tree

    estimator = read_model(files_under(members, f"models/{run_id}."))
    arrays = _arrays(members[f"models/{run_id}.npz"])
    give_back(estimator, arrays)
    classes = tuple(str(label) for label in content["classes"])
    grown = {
        name.removeprefix("grown_"): array for name, array in arrays.items() if name.startswith("grown_")
    }
    curve = content["curve"]
    result = RunResult(
        estimator=estimator,
        spec=ModelSpec(str(content["kind"]), dict(content["parameters"])),
        features=tuple(str(name) for name in content["features"]),
        target=str(content["target"]),
        classes=classes,
        parts=arrays["parts"].astype(np.uint8),
        scores={
            part: form.scores_from_json(part, scores, classes) for part, scores in content["scores"].items()
        },
        importances=arrays["importances"].astype(np.float64),
        seconds=float(content["seconds"]),
        n_rounds=int(content["n_rounds"]),
        stopped=bool(content["stopped"]),
        table_fingerprint=str(content["table_fingerprint"]),
        curve=None
        if curve is None
        else Curve(arrays["curve_train"], arrays["curve_validation"], curve["unit"], curve["best_round"]),
        event_class=content["event_class"],
        edits=tuple(Edit.from_plain(edit) for edit in content["edits"]),
        grown_tree=Tree.from_arrays(grown) if grown else getattr(estimator, "tree_", None),
        cv=None if content["cv"] is None else form.cv_from_json(content["cv"]),
        n_test_looks=int(content["n_test_looks"]),
        split=SplitSettings(**content["split"]),
        weight=content["weight"],
        group=content["group"],
    )
    return _scored_anew(result, table)


def _scored_anew(result: RunResult, table: Table | None) -> RunResult:
    """Fill in truth and prediction of single rows, which a file does not hold, if the table is the same."""
    from workbench.fitting import inputs_of_result, score_parts, what_differs

    if not result.scores or table is None or what_differs(result, table):  # without: stopped before them
        return result
    inputs = inputs_of_result(result, table)
    return replace(result, scores=score_parts(result.estimator, inputs, inputs.learnable()))


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (*ARCHIVE_DAMAGE, MemoryError) as error:
        raise DataError(f"its numbers are damaged ({error}); {CURE}") from None
