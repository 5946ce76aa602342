"""Document to project file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from workbench.project import format as form
from workbench.project.atomic import write_atomically
from workbench.project.instability import FIRMNESS_MEMBER, firmness_arrays
from workbench.project.many_fits import CURVES_MEMBER
from workbench.project.studies import FOUND_MEMBER, fits_arrays, found_arrays, studies_to_json
from workbench.project.tuning import member_name, tuning_arrays, tuning_to_json

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.document import Document
    from workbench.runs import RunRecord, RunResult
    from workbench.state import Snapshot


def save_project(document: Document | Snapshot, path: str | Path, include_rows: bool) -> None:
    """Write the document to a project file, whole or not at all.

    Parameters
    ----------
    document : Document or Snapshot
        Read only; tell the document of the success by `Document.mark_saved`. A worker is given the
        snapshot, because the document goes on changing.
    include_rows : bool
        Whether the table's cells go into the file. Without them the project finds its data file by
        its place relative to the project. Figures and models are saved either way.

    Raises
    ------
    DataError
        The file cannot be written; the old one is untouched.
    """
    path = Path(path).absolute()
    members = _members(document, path, include_rows)  # before anything is written

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                archive.writestr(name, content)

    write_atomically(path, write)


def _members(document: Document | Snapshot, path: Path, include_rows: bool) -> list[tuple[str, bytes]]:
    data, members = document.data, []
    content = {
        "format": form.FORMAT,
        "version": form.VERSION,
        "table": None if data.table is None else _table_to_json(data.table, path, include_rows),
        "roles": data.roles,
        "as_classes": data.as_classes,
        "event_class": data.event_class,
        "split": form.plain(vars(data.split)),
        "runs": [_run_to_json(record) for record in document.runs.values()],
        "current_run": document.current_run_id,
        "view_state": form.plain(document.view_state),
        "studies": studies_to_json(document.studies),
    }
    members.append(("project.json", _encode(content)))
    if data.table is not None and include_rows:
        members.append(("rows.parquet", _rows(data.table)))
        starts = data.table.columns[0].reading.lines.starts if data.table.columns else None
        if starts is not None:
            members.append(("lines.npz", _npz({"starts": starts})))
    if document.studies.found is not None:
        members.append((FOUND_MEMBER, _npz(found_arrays(document.studies.found))))
    if document.studies.curves is not None:
        members.append((CURVES_MEMBER, _npz(fits_arrays(document.studies.curves, include_rows))))
    if document.studies.firmness is not None:
        members.append((FIRMNESS_MEMBER, _npz(firmness_arrays(document.studies.firmness))))
    for record in document.runs.values():
        if record.result is not None:
            members += _model_members(record.run_id, record.result)
        if record.tuning is not None:
            members.append((member_name(record.run_id), _npz(tuning_arrays(record.tuning))))
    return members


def _encode(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _table_to_json(table: Table, path: Path, include_rows: bool) -> dict[str, Any]:
    return {
        "name": table.name,
        "sample": table.sample,
        "file": None if table.path is None else _relative(table.path, path.parent),
        "fingerprint": table.fingerprint,
        "modified_ns": table.modified_ns,
        "n_rows": table.n_rows,
        "options": form.options_to_json(table.options),
        "notes": list(table.notes),
        "has_rows": include_rows,
        "sheets": list(table.sheets),
        "columns": [
            {"name": column.name, "kind": column.kind, "reading": form.reading_to_json(column.reading)}
            for column in table.columns
        ],
    }


def _relative(file: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file.absolute(), folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return file.name


def _run_to_json(record: RunRecord) -> dict[str, Any]:
    settled = record.settled()
    return {
        "id": record.run_id,
        "name": record.name,
        "kind": record.spec.kind,
        "parameters": form.plain(record.spec.parameters),
        "state": settled.state,
        "error": settled.error,
        "result": None if record.result is None else _result_to_json(record.result),
        "tuning": None if record.tuning is None else tuning_to_json(record.tuning),
    }


def _result_to_json(result: RunResult) -> dict[str, Any]:
    curve = result.curve
    return {
        "kind": result.spec.kind,
        "parameters": form.plain(result.spec.parameters),
        "features": list(result.features),
        "target": result.target,
        "classes": list(result.classes),
        "event_class": result.event_class,
        "seconds": result.seconds,
        "n_rounds": result.n_rounds,
        "stopped": result.stopped,
        "table_fingerprint": result.table_fingerprint,
        "split": form.plain(vars(result.split)),
        "weight": result.weight,
        "group": result.group,
        "n_test_looks": result.n_test_looks,
        "edits": [edit.to_plain() for edit in result.edits],
        "curve": None if curve is None else {"unit": curve.unit, "best_round": curve.best_round},
        "scores": {part: form.scores_to_json(scores) for part, scores in result.scores.items()},
        "cv": None if result.cv is None else form.cv_to_json(result.cv),
    }


def _model_members(run_id: str, result: RunResult) -> list[tuple[str, bytes]]:
    from workbench.project.models import model_files
    from workbench.project.stacks import stack_arrays

    arrays: dict[str, Any] = {"parts": result.parts, "importances": result.importances}
    if result.curve is not None:
        arrays |= {"curve_train": result.curve.train, "curve_validation": result.curve.validation}
    arrays |= stack_arrays(result.estimator)
    if result.grown_tree is not None and result.edits:
        arrays |= {f"grown_{name}": array for name, array in result.grown_tree.to_arrays().items()}
    return [
        *((f"models/{run_id}.{name}", content) for name, content in model_files(result.estimator).items()),
        (f"models/{run_id}.npz", _npz(arrays)),
    ]


def _npz(arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _rows(table: Table) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    from workbench.cells import as_text_cells

    arrays = []
    for column in table.columns:
        cells = as_text_cells(column.raw)
        codes = pa.array(cells.codes, mask=cells.codes < 0)
        arrays.append(pa.DictionaryArray.from_arrays(codes, cells.distinct))
    names = [f"c{position}" for position in range(len(arrays))]  # the real names are in project.json
    buffer = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=names), buffer, compression="zstd")
    return buffer.getvalue()
