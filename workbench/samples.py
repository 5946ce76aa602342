"""The sample tables that ship with the program; `resources/samples/index.json` describes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

from engine.errors import DataError
from workbench import resources
from workbench.datasets import ReadOptions, Table


@dataclass(frozen=True)
class Sample:
    """A sample table.

    Attributes
    ----------
    key : str
        Short name, as in ``treewright --sample KEY``.
    title, description : str
        For the welcome page.
    source, licence : str
        Where the rows come from and what one may do with them.
    target : str
        The column to predict.
    task : str
        "classes" or "numbers".
    n_rows_text : str
        Such as "344 rows, 8 columns".
    opens_view : str
        The view that shows best what the sample is for: "tree", "surface" or "curve" (one column).
    file : str
        In resources/samples.
    column_tokens : dict of str to tuple of str
        Missing tokens of single columns.
    """

    key: str
    title: str
    description: str
    source: str
    licence: str
    target: str
    task: str
    n_rows_text: str
    opens_view: str
    file: str
    column_tokens: tuple[tuple[str, tuple[str, ...]], ...] = ()


@cache
def _samples() -> tuple[Sample, ...]:
    entries = json.loads(resources.path("samples", "index.json").read_text(encoding="utf-8"))
    samples = []
    for entry in entries:
        tokens = tuple((name, tuple(listed)) for name, listed in entry.pop("column_tokens", {}).items())
        samples.append(Sample(**entry, column_tokens=tokens))
    return tuple(samples)


SAMPLES: tuple[Sample, ...] = _samples()


def find_sample(key: str) -> Sample:
    """Return the sample of a key.

    Raises
    ------
    DataError
        There is none; the message lists the keys.
    """
    for sample in SAMPLES:
        if sample.key == key:
            return sample
    raise DataError(f"there is no sample {key!r}; there are {', '.join(s.key for s in SAMPLES)}")


def load_sample(key: str) -> Table:
    """Read a sample table.

    Raises
    ------
    DataError
        There is no sample of this key.
    """
    from workbench.readers import read_table

    sample = find_sample(key)
    path = resources.path("samples", sample.file)
    table = read_table(path, ReadOptions(separator=",", column_tokens=dict(sample.column_tokens)))
    return replace(
        table, name=sample.title, path=None, sample=key, fingerprint=f"sample:{key}", modified_ns=0
    )
