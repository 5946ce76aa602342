"""A fitted model as named files, and back: what numbers and trees do not tell goes through skops.

`model_files` of a model that is made of other models holds theirs too, under longer names: the parts
that `engine.export.json.STORED_BESIDE` lists are each a model, a list of models, or an object of
scikit-learn's. ::

    tree.json                    the model, without those parts
    pipeline_.skops              part pipeline_, an object of scikit-learn's
    final_estimator_.tree.json   part final_estimator_, a model
    estimators_.0.tree.json      part estimators_, a list of models
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from engine.errors import DataError

Files = dict[str, bytes]
MAIN, OBJECT = "tree.json", "skops"


def model_files(estimator: Any) -> Files:
    """Return a fitted model of the engine as files, by name.

    Raises
    ------
    DataError
        It holds what no file can.
    """
    from engine.export.json import STORED_BESIDE, to_json

    files = {MAIN: to_json(estimator, keeps_parts=True).encode()}
    for part in STORED_BESIDE.get(type(estimator).__name__, ()):
        files |= _part_files(part, getattr(estimator, part))
    return files


def _part_files(part: str, value: Any) -> Files:
    if isinstance(value, list | tuple):
        return {
            f"{part}.{name}": content
            for k, member in enumerate(value)
            for name, content in _part_files(str(k), member).items()
        }
    if hasattr(value, "combination"):  # one of the engine's own
        return {f"{part}.{name}": content for name, content in model_files(value).items()}
    from workbench.project.objects import dump_object

    return {f"{part}.{OBJECT}": dump_object(value)}


def read_model(files: Mapping[str, bytes]) -> Any:
    """Return the model that `model_files` wrote: it answers with the same bits.

    Raises
    ------
    DataError
        A file is missing or damaged, or names something that no model is made of.
    """
    from engine.export.json import read_json

    return read_json(files[MAIN].decode(), partial(_read_part, files))[0]


def _read_part(files: Mapping[str, bytes], part: str) -> Any:
    if f"{part}.{OBJECT}" in files:
        from workbench.project.objects import load_object

        return load_object(files[f"{part}.{OBJECT}"])
    own = files_under(files, f"{part}.")
    if MAIN in own:
        return read_model(own)
    members = {name.partition(".")[0] for name in own}
    if not members or members != {str(k) for k in range(len(members))}:
        raise DataError(f"the model's part {part!r} is missing; it is damaged")
    return [_read_part(own, str(k)) for k in range(len(members))]


def files_under(files: Mapping[str, bytes], start: str) -> Files:
    """Return the files whose names begin with `start`, without it."""
    return {name[len(start) :]: content for name, content in files.items() if name.startswith(start)}
