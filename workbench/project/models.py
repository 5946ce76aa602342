"""A fitted model as named files, and back: what numbers and trees do not tell goes through skops.

A model that is made of other models is one text too; what these keep beside it is numbered. ::

    tree.json            the model
    pipeline_.skops      its attribute pipeline_, an object of scikit-learn's
    1.pipeline_.skops    that of a model inside of it
"""

from __future__ import annotations

from collections.abc import Mapping
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
    from engine.export.json import to_json

    parts: dict[str, Any] = {}
    files = {MAIN: to_json(estimator, parts=parts).encode()}
    if parts:
        from workbench.project.objects import dump_object

        files |= {f"{name}.{OBJECT}": dump_object(value) for name, value in parts.items()}
    return files


def read_model(files: Mapping[str, bytes]) -> Any:
    """Return the model that `model_files` wrote: it answers with the same bits.

    Raises
    ------
    DataError
        A file is missing or damaged, or names something that no model is made of.
    """
    from engine.export.json import read_json

    def read_part(name: str) -> Any:
        from workbench.project.objects import load_object

        if f"{name}.{OBJECT}" not in files:
            raise DataError(f"the model's part {name!r} is missing; it is damaged")
        return load_object(files[f"{name}.{OBJECT}"])

    return read_json(files[MAIN].decode(), read_part)[0]


def files_under(files: Mapping[str, bytes], start: str) -> Files:
    """Return the files whose names begin with `start`, without it."""
    return {name[len(start) :]: content for name, content in files.items() if name.startswith(start)}
