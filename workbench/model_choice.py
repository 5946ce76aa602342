"""Models as settings of other models: kind and settings as data in forms and files, estimators for a fit.

A model as data is ``{"kind": "forest", "parameters": {"n_estimators": 50}}``, in a list of models with a
"name" each. Parameters that are not there have their default. A base model of a stack may have a "grid" too,
``{"max_depth": [2, 4, 8]}``: settings that are chosen inside the rows of each of its fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.errors import ParameterError
from engine.parameters import Parameter, is_model_data

if TYPE_CHECKING:
    from workbench.runs import RunRecord

MAX_DEPTH = 4  # of models inside models: files from elsewhere may nest them as they like
OF_MODELS = ("model", "models")


class Offer(NamedTuple):
    """A model that can be chosen: one of the catalog with its start values, or a trained one's settings.

    Attributes
    ----------
    title : str
    model : dict
        As data, with a name.
    is_of_run : bool
        It has the settings of a model in the document.
    """

    title: str
    model: dict[str, Any]
    is_of_run: bool = False


class TableOfModels(NamedTuple):
    """What models that are chosen will learn from.

    Attributes
    ----------
    task : str
        "classes" or "numbers", of these models.
    n_rows, n_columns, n_classes : int
    """

    task: str
    n_rows: int
    n_columns: int
    n_classes: int


NO_TABLE = TableOfModels("classes", 0, 0, 0)


def task_of(parameter: Parameter, task: str) -> str:
    """Return what the models of a parameter learn: what the model itself does, or numbers in any case."""
    return parameter.model_task or task


def model_data(kind: str, parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a model as data."""
    return {"name": name, "kind": kind, "parameters": dict(parameters)}


def offers(parameter: Parameter, task: str, n_rows: int, runs: Iterable[RunRecord] = ()) -> tuple[Offer, ...]:
    """Return what can be chosen for a parameter: kinds of the catalog, then models of the document."""
    from workbench.catalog import CATALOG, start_parameters

    wanted = task_of(parameter, task)
    found = []
    for key, entry in CATALOG.items():
        if wanted in entry.tasks and not entry.is_of_models:
            values = {
                name: value
                for name, value in start_parameters(key, wanted, n_rows).items()
                if name != "random_state"  # drawn by the model that it is a part of
            }
            found.append(Offer(entry.title, model_data(key, values, entry.title)))
    for run in runs:
        entry = CATALOG[run.spec.kind]
        if run.result is not None and wanted == task and not entry.is_of_models:
            found.append(Offer(run.name, model_data(run.spec.kind, run.spec.parameters, run.name), True))
    return tuple(found)


def with_free_name(model: Mapping[str, Any], taken: Sequence[str]) -> dict[str, Any]:
    """Return a model whose name no other has, nor two underscores in a row, which the engine keeps."""
    stem = str(model.get("name") or model["kind"]).replace("__", "_")
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem} {number}"
    return {**model, "name": name}


def check_choice(parameter: Parameter, value: Any, task: str, depth: int = 0) -> None:
    """Check a model, or a list of models, as data; other values of other parameters pass.

    Raises
    ------
    ParameterError
        There is no such kind of model, it does not learn what is wanted, two have the same name, or a
        setting is outside its range; names the model.
    """
    if parameter.kind not in OF_MODELS or value is None:
        return
    models = [value] if parameter.kind == "model" else list(value)
    names = [model.get("name", model["kind"]) for model in models if is_model_data(model)]
    label = parameter.label or parameter.name
    if len(names) < len(models):
        raise ParameterError(f"{label} holds something else than models; choose them from the list")
    if parameter.kind == "models" and not models:
        raise ParameterError(f"{label} is empty; choose one model at least")
    if len(set(names)) < len(names):
        raise ParameterError(
            f"{label} holds two models called {_first_double(names)!r}; rename or remove one"
        )
    for model, name in zip(models, names, strict=True):
        _check_model(f"{label}, {name}", model, task_of(parameter, task), depth)
        if model.get("grid") and not parameter.may_be_tuned:
            raise ParameterError(f"{label}, {name}: only a stack's base models are tuned inside; remove it")


def _first_double(names: Sequence[str]) -> str:
    return next(name for at, name in enumerate(names) if name in names[:at])


def _check_model(label: str, model: Mapping[str, Any], task: str, depth: int) -> None:
    from workbench.catalog import entry_of

    if depth >= MAX_DEPTH:
        raise ParameterError(f"{label}: models are nested deeper than {MAX_DEPTH}; take one out")
    entry = entry_of(model["kind"])
    if task not in entry.tasks:
        raise ParameterError(f"{label}: {entry.title.lower()} does not learn {task}; choose another model")
    tried = [(name, value) for name, values in model.get("grid", {}).items() for value in values]
    for name, value in [*model["parameters"].items(), *tried]:
        parameter = entry.parameter(task, name)
        try:
            parameter.check(value)
            check_choice(parameter, value, task, depth + 1)
        except ParameterError as error:
            raise ParameterError(f"{label}: {error}") from None


def grids_of(models: Any) -> dict[str, dict[str, Any]]:
    """Return what is chosen inside fits of models as data: by model's name, a dict of settings to values."""
    if models is None or not all(is_model_data(model) for model in models):
        return {}
    return {model.get("name", model["kind"]): dict(model["grid"]) for model in models if model.get("grid")}


def as_estimators(parameter: Parameter, value: Any, task: str) -> Any:
    """Return what an estimator takes for a parameter; values that are no models as data as they are."""
    if parameter.kind == "model" and is_model_data(value):
        return _made(value, task_of(parameter, task))
    if parameter.kind == "models" and value is not None and all(is_model_data(model) for model in value):
        wanted = task_of(parameter, task)
        return [(model.get("name", model["kind"]), _made(model, wanted)) for model in value]
    return value


def _made(model: Mapping[str, Any], task: str) -> Any:
    from workbench.catalog import entry_of

    return entry_of(model["kind"]).make(task, dict(model["parameters"]))


def words_of(value: Any, none_text: str) -> str:
    """Write a model, or a list of models, in a few words: their names."""
    if value is None:
        return none_text
    models = [value] if isinstance(value, Mapping) else list(value)
    return ", ".join(str(model.get("name") or model["kind"]) for model in models) or "none yet"
