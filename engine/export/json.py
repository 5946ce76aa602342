"""The model file `.tree.json`: a fitted model as plain data, loaded back to the last bit (D21).

The text is one flat object: format, version, estimator, parameters, and the fitted attributes. Floats
are written by repr; NaN and infinity, which JSON lacks, as strings. Nothing in a file is ever executed:
names are compared with a fixed list and every array is checked before use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import engine
from engine.base import Learner
from engine.errors import DataError
from engine.export import model_check
from engine.features import FeatureSpec
from engine.other_learners import OneClass
from engine.tree.structure import Tree

FORMAT, VERSION = "treewright-model", 1
ESTIMATORS = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "DeepEnsembleClassifier",
    "DeepEnsembleRegressor",
    "PerceptronClassifier",
    "AveragingClassifier",
    "AveragingRegressor",
    "StackingClassifier",
    "StackingRegressor",
)
STORED_BESIDE: dict[str, tuple[str, ...]] = {
    "NearestNeighborsClassifier": ("pipeline_",),
    "NearestNeighborsRegressor": ("pipeline_",),
    "SVMClassifier": ("pipeline_",),
    "SVMRegressor": ("pipeline_",),
    "LogisticClassifier": ("pipeline_",),
    "RidgeRegressor": ("pipeline_",),
    "PolynomialRegressor": ("pipeline_",),
    "NaiveBayesClassifier": ("pipeline_",),
}
"""Models that are more than numbers and trees: attributes that the caller keeps in files of their own."""

LEFT_OUT = (
    "oob_decision_function_", "oob_prediction_", "oof_predictions_", "oof_repeats_", "oof_fold_", "fold_rows_"
)  # fmt: skip
"""One number for every training row: not part of the model."""

_parts: ContextVar[dict[str, Any] | None] = ContextVar("parts", default=None)
_read_part: ContextVar[Callable[[str], Any] | None] = ContextVar("read_part", default=None)
_PIECE = 10_000  # values encoded in one call, about a millisecond
_NUMBER_DTYPES = ("float64", "float32", "int64", "int32", "uint64", "uint8", "bool")
_FITTED_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_")
_LABEL_DTYPE = re.compile(r"object|<U[0-9]{1,6}")
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def to_json(
    estimator: Any, metadata: Mapping[str, Any] | None = None, *, parts: dict[str, Any] | None = None
) -> str:
    """Return a fitted model as the text of a `.tree.json` file.

    Parameters
    ----------
    estimator : fitted model of this package; ensembles of the engine's own trees or networks, averages and
        stacks of such models
    metadata : mapping of str to plain JSON values, optional
        What a reader should know beside the model, such as the target's name; see `read_json`.
    parts : dict, optional
        Filled with what no text holds, by a name: the attributes of `STORED_BESIDE`, also those of models
        inside models. The caller keeps them elsewhere, and gives them to `read_json`. None: such a model is
        refused.

    Raises
    ------
    DataError
        It is another kind of estimator, is not fitted, or holds labels that are not text, numbers or
        yes-no values.
    """
    token = _parts.set(parts)
    try:
        content = _content_of(estimator)
    finally:
        _parts.reset(token)
    if not content["fitted"]:
        raise DataError(f"this {content['estimator']} is not fitted; train it first")
    document = {"format": FORMAT, "version": VERSION, **content}
    if metadata is not None:
        document["metadata"] = dict(metadata)
    return _dumps(document)


def _content_of(estimator: Any) -> dict[str, Any]:
    """Return name, parameters and what was fitted; nothing of the latter before a fit."""
    name = type(estimator).__name__
    beside, parts = STORED_BESIDE.get(name, ()), _parts.get()
    is_fitted = hasattr(estimator, "features_")
    is_known = name in ESTIMATORS or (beside and (parts is not None or not is_fitted))
    if not is_known or type(estimator) is not getattr(engine, name):
        raise DataError(f"{name} cannot be written as a model file; it holds {', '.join(ESTIMATORS)}")
    parameters = estimator.get_params(deep=False)
    content: dict[str, Any] = {
        "estimator": name,
        "parameters": {key: _parameter(key, value, estimator) for key, value in parameters.items()},
        "fitted": {},
    }
    if is_fitted:
        content["fitted"] = {
            key: _encode(key, value)
            for key, value in vars(estimator).items()
            if key not in (*parameters, *beside, *LEFT_OUT)
            if not key.startswith("_")  # private: of the training rows
        }
    if is_fitted and beside and parts is not None:
        content["beside"] = {}
        for attribute in beside:
            key = attribute if not parts else f"{len(parts)}.{attribute}"
            parts[key] = getattr(estimator, attribute)
            content["beside"][attribute] = key
    return content


def _dumps(value: Any) -> str:
    """Return what `json.dumps` does, in pieces: one call for a large forest stops all threads for seconds."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_dumps(key)}: {_dumps(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        if any(isinstance(item, dict | list | tuple) for item in value):
            return "[" + ", ".join(map(_dumps, value)) + "]"
        starts = range(0, len(value), _PIECE)
        return "[" + ", ".join(_dump_plain(value[at : at + _PIECE])[1:-1] for at in starts) + "]"
    return _dump_plain(value)


def _dump_plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> Any:
    """Return the model that a `.tree.json` text holds; it predicts the same bits as the one written.

    Raises as `read_json`.
    """
    return read_json(text)[0]


def read_json(text: str, read_part: Callable[[str], Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """Return the model of a `.tree.json` text and its metadata, empty where the file has none.

    The metadata is whatever JSON object was written: its reader has to check it.

    Parameters
    ----------
    text : str
    read_part : callable, optional
        Returns what was kept elsewhere, by the name that `to_json` gave it.

    Raises
    ------
    DataError
        The text is no model file, is damaged, or was made by a newer version.
    """
    document = _parse(text)
    token = _read_part.set(read_part)
    try:
        known = ("estimator", "parameters", "fitted", "beside")
        estimator = _decode_model({key: document[key] for key in known if key in document})
        model_check.check_model(estimator)
    except DataError:
        raise
    except _DAMAGES as error:
        raise DataError(f"the model file is damaged ({error}); export the model again") from None
    finally:
        _read_part.reset(token)
    return estimator, document.get("metadata", {})


_DAMAGES = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError
)  # fmt: skip


def _decode_model(content: dict[str, Any]) -> Any:
    """Return a model, or one inside another; whether its parts fit together is still to be checked."""
    name, beside, read_part = content["estimator"], content.get("beside", {}), _read_part.get()
    is_known = name in ESTIMATORS or (name in STORED_BESIDE and (read_part or not content["fitted"]))
    if not is_known or not set(beside) <= set(STORED_BESIDE.get(name, ())):
        raise DataError(f"the model file holds a {name!r}, which this version does not know")
    estimator = getattr(engine, name)(**{key: _decode(value) for key, value in content["parameters"].items()})
    model_check.check_parameters_of(estimator)
    for key, value in content["fitted"].items():
        if not _FITTED_NAME.fullmatch(key) or callable(getattr(estimator, key, None)):
            raise DataError(f"the model file sets {key!r}, which no model has")
        setattr(estimator, key, _decode(value))
    for attribute, key in beside.items():
        assert read_part is not None
        setattr(estimator, attribute, read_part(key))
    return estimator


def _parse(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is no model file: it is not valid JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"this is no model file: its format is not {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise DataError(f"the model file's version is {version!r}; export the model again")
    if version > VERSION:
        raise DataError(
            f"the model file has version {version}, newer than this program's {VERSION}; update the program"
        )
    wanted = {"estimator": str, "parameters": dict, "fitted": dict}
    for key, kind in wanted.items():
        if not isinstance(document.get(key), kind):
            raise DataError(f"the model file lacks {key!r}; it is damaged, export the model again")
    if not isinstance(document.get("metadata", {}), dict):
        raise DataError("the model file's metadata is damaged; export the model again")
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _parameter(key: str, value: Any, estimator: Any) -> Any:
    if key == "random_state" and not (value is None or isinstance(value, (int, np.integer))):
        return getattr(
            estimator, "seed_", None
        )  # a generator is no plain value; the seed drawn from it gives the same fit
    if isinstance(value, (Learner, list, tuple)):
        value = clone(value, safe=False)  # of models that are settings the settings alone
    return _encode(key, value)


def _encode(key: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _number(value)
    for kind, encode in _ENCODERS:
        if isinstance(value, kind):
            return encode(key, value)
    raise DataError(f"{key} is a {type(value).__name__}, which a model file cannot hold; use text or numbers")


def _encode_sequence(key: str, value: Any) -> dict[str, Any]:
    if len(value) and all(isinstance(item, FeatureSpec) for item in value):
        return {"features": [_encode_feature(spec) for spec in value]}
    return {"tuple" if isinstance(value, tuple) else "list": [_encode(key, item) for item in value]}


def _encode_feature(spec: FeatureSpec) -> dict[str, Any]:
    levels = {"levels": spec.levels, "ordered_levels": spec.ordered_levels}
    given = {
        name: [_encode(spec.name, level) for level in of] for name, of in levels.items() if of is not None
    }
    return {"name": spec.name, **given}


def _encode_array(key: str, array: NDArray[Any]) -> dict[str, Any]:
    dtype = str(array.dtype)
    if dtype in _NUMBER_DTYPES:
        items = _numbers(array)
    elif _LABEL_DTYPE.fullmatch(dtype):
        items = [_encode(key, item) for item in array.ravel().tolist()]
    else:
        raise DataError(f"{key} holds {dtype} values, which a model file cannot hold; use text or numbers")
    return {"array": items, "dtype": dtype, "shape": list(array.shape)}


def _encode_tree(key: str, tree: Tree) -> dict[str, Any]:
    return {"tree": {name: _numbers(array) for name, array in tree.to_arrays().items()}}


def _encode_mapping(key: str, mapping: dict[Any, Any]) -> dict[str, Any]:
    # keys are labels of any type, which a JSON object would turn into text
    return {"items": [[_encode(key, item), _encode(key, of)] for item, of in mapping.items()]}


def _encode_model(_key: str, model: Learner) -> dict[str, Any]:
    return {"model": _content_of(model)}


def _encode_one_class(key: str, model: OneClass) -> dict[str, Any]:
    return {"one_class": _encode(key, model.label)}


_ENCODERS: tuple[tuple[Any, Callable[[str, Any], Any]], ...] = (
    (np.ndarray, _encode_array),
    (Tree, _encode_tree),
    (dict, _encode_mapping),
    ((list, tuple), _encode_sequence),
    (Learner, _encode_model),
    (OneClass, _encode_one_class),
)


def _number(value: float) -> Any:
    if np.isfinite(value):
        return value
    return {"number": "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _numbers(array: NDArray[Any]) -> list[Any]:
    items: list[Any] = array.ravel().tolist()
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return items
    return [item if np.isfinite(item) else _number(item)["number"] for item in items]


def _decode(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict) and set(value) == {"array", "dtype", "shape"}:
        return _decode_array(value)
    if isinstance(value, dict) and len(value) == 1:
        (kind, content), *_ = value.items()
        if kind in _DECODERS:
            return _DECODERS[kind](content)
    raise DataError("the model file is damaged: it holds an entry of unknown kind; export the model again")


def _decode_feature(content: dict[str, Any]) -> FeatureSpec:
    if not isinstance(content["name"], str) or not set(content) <= {"name", "levels", "ordered_levels"}:
        raise DataError("the model file is damaged: a column without a name; export it again")
    levels = {key: tuple(_decode(level) for level in content[key]) for key in content if key != "name"}
    if any(not isinstance(level, (str, bool, int, float)) for of in levels.values() for level in of):
        raise DataError(f"the model file is damaged: column {content['name']!r} has a level of no known type")
    return FeatureSpec(content["name"], **levels)


def _decode_array(value: dict[str, Any]) -> NDArray[Any]:
    dtype = value["dtype"]
    if dtype in _NUMBER_DTYPES:
        array = _as_numbers(value["array"], np.dtype(dtype))
    elif isinstance(dtype, str) and _LABEL_DTYPE.fullmatch(dtype):
        array = np.empty(len(value["array"]), dtype=object)
        array[:] = [_decode(item) for item in value["array"]]
        array = array.astype(dtype)
    else:
        raise DataError(f"the model file holds an array of unknown type {dtype!r}; export it again")
    return array.reshape(tuple(_as_numbers(value["shape"], np.dtype(np.int64)).tolist()))


def _decode_tree(content: dict[str, Any]) -> Tree:
    dtypes = {name: array.dtype for name, array in model_check.EMPTY.items()}
    arrays: dict[str, Any] = {name: _as_numbers(content[name], dtype) for name, dtype in dtypes.items()}
    n_nodes = max(len(arrays["kind"]), 1)
    arrays["value"] = arrays["value"].reshape(n_nodes, -1)
    arrays["level_sets"] = arrays["level_sets"].reshape(-1, 2)
    return Tree.from_arrays(arrays)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "number": _NOT_FINITE.__getitem__,
    "tree": _decode_tree,
    "features": lambda content: tuple(_decode_feature(spec) for spec in content),
    "items": lambda content: {_decode(item): _decode(of) for item, of in content},
    "list": lambda content: [_decode(item) for item in content],
    "tuple": lambda content: tuple(_decode(item) for item in content),
    "model": _decode_model,
    "one_class": lambda content: OneClass(_decode(content)),
}


def _as_numbers(items: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a flat array, refusing anything whose type is not exactly that of the array."""
    if not isinstance(items, list):
        raise DataError("the model file is damaged: numbers are missing; export it again")
    if dtype.kind == "f":
        items = [_NOT_FINITE[item] if isinstance(item, str) else item for item in items]
    allowed = {"f": (float, int), "b": (bool,)}.get(dtype.kind, (int,))
    if any(type(item) not in allowed for item in items):
        raise DataError("the model file is damaged: a number has the wrong type; export it again")
    return np.array(items, dtype=dtype)
