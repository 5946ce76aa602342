"""Objects of scikit-learn as bytes, through skops: data alone, of types from a fixed list, never code.

skops trusts whatever scikit-learn, numpy and scipy offer; a file here may name only what models are
made of. Every name in it is compared with the list before anything is made of it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from engine.errors import DataError
from workbench.files import ARCHIVE_DAMAGE

TRUSTED = frozenset(
    (
        "builtins.bool",
        "builtins.dict",
        "builtins.float",
        "builtins.int",
        "builtins.list",
        "builtins.str",
        "builtins.tuple",
        "engine.classical.bayes.MixedBayes",
        "engine.classical.columns.PreparedColumns",
        "engine.classical.multiclass.AllVsAll",
        "engine.classical.multiclass.OneVsAll",
        "engine.classical.neighbors.VotersOfClasses",
        "engine.classical.neighbors.VotersOfNumbers",
        "engine.classical.powers.PolynomialColumns",
        "numpy.dtype",
        "numpy.float64",
        "numpy.int64",
        "numpy.ndarray",
        "sklearn.calibration.CalibratedClassifierCV",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.dummy.DummyClassifier",
        "sklearn.dummy.DummyRegressor",
        "sklearn.linear_model._base.LinearRegression",
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.linear_model._ridge.Ridge",
        "sklearn.naive_bayes.CategoricalNB",
        "sklearn.naive_bayes.GaussianNB",
        "sklearn.pipeline.Pipeline",
        "sklearn.svm._classes.LinearSVC",
        "sklearn.svm._classes.SVC",
        "sklearn.svm._classes.SVR",
    )
)
"""All that a stored object may name."""

LOADERS = frozenset(
    ("DictNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "TupleNode", "TypeNode")
)
"""How skops may make them: by no node that calls a function."""


def dump_object(value: Any) -> bytes:
    """Return a fitted object as bytes that `load_object` reads.

    Raises
    ------
    DataError
        It is made of something outside the list.
    """
    from skops.io import dumps

    content: bytes = dumps(value, compression=zipfile.ZIP_STORED)
    if stray := _strays(_schema(content)):
        raise DataError(f"a part of the model is a {stray[0]}, which no project file holds")
    return content


def load_object(content: bytes) -> Any:
    """Return the object that `dump_object` wrote, to the last bit.

    Raises
    ------
    DataError
        The bytes are damaged or name what is not in the list.
    """
    from skops.io import loads

    try:
        schema = _schema(content)
    except (*ARCHIVE_DAMAGE, KeyError, RecursionError) as error:
        raise DataError(f"a part of a model is damaged ({error}); open a copy, or another file") from None
    if stray := _strays(schema):
        raise DataError(
            f"a part of a model names {stray[0]}, which models are not made of; do not trust this file"
        )
    try:
        return loads(content, trusted=sorted(TRUSTED))
    except Exception as error:  # a damaged schema may fail in any way that making an object can
        raise DataError(
            f"a part of a model is damaged ({type(error).__name__}); open a copy, or another file"
        ) from None


def _schema(content: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
            raise ValueError("it is packed twice")  # so that nothing in it unpacks to more than it is
        return json.loads(archive.read("schema.json"))


def _strays(schema: Any) -> list[str]:
    """Return the names in a schema that are not on the lists, in order."""
    named = set(_named(schema))
    return sorted(name for name in named if name not in TRUSTED and name not in LOADERS)


def _named(node: Any) -> Iterator[str]:
    """Yield every type and loader that a schema names, however deep."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if isinstance(at, list):
            waiting += at
        elif isinstance(at, dict):
            waiting += at.values()
            if "__loader__" in at:
                yield str(at["__loader__"])
            if "__class__" in at or "__module__" in at:
                yield f"{at.get('__module__')}.{at.get('__class__')}"
