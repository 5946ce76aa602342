"""One kind of model in the catalog: its words, its parameters, and the estimators that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.model_choice import as_estimators, grids_of

TASKS = ("classes", "numbers")
LARGE_ROWS = 4096  # as in `engine.tree.subtrees`, which loads the compiler

SEED = Parameter(
    "random_state",
    None,
    "int",
    minimum=0,
    label="Seed",
    group="More",
    help="The same seed and settings give the same model.",
    form_default=0,  # the window always passes a number and shows it (D9)
)


@dataclass(frozen=True)
class CatalogEntry:
    """One kind of model.

    Attributes
    ----------
    key : str
        As in project files and on the command line.
    title, one_line : str
        For menus.
    icon : str
        Name in the window's icon table.
    is_ensemble : bool
        Holds several trees.
    has_curve : bool
        Reports a loss after every step.
    step_name : str
        What one step of a fit is called; "" where steps are not told.
    warm_up_step : str
        What `engine.warmup` calls the kind; "" where nothing has to be compiled.
    warm_up_of_large : str
        And what it calls kernels that are used on tables of `LARGE_ROWS` rows or more; "" where none are.
    curve_names : tuple of str or None
        What the loss by step is called, for classes and for numbers; None, or "" for one of them, where its
        own setting says so.
    out_of_bag_names : tuple of str or None
        What the error on rows that members left out is called, likewise; None where none leaves rows out.
    has_members : bool
        Its members are told one by one, each with a curve of its own.
    has_trees : bool
        It is made of trees, which can be looked at, pruned and exported.
    draws : tuple of bool
        Whether chance has a part in it, for classes and for numbers: then it has a seed.
    fits_whole : bool
        Its fit is done or it is not, being that of another library: a stop leaves nothing of it.
    tasks : tuple of str
        What it can learn: "classes", "numbers" or both.
    is_of_models : bool
        It is made of other models, which are chosen among its settings.
    """

    key: str
    title: str
    one_line: str
    icon: str
    _module: str
    _tables: tuple[str, str]
    _estimators: tuple[str, str]
    is_ensemble: bool = False
    has_curve: bool = False
    step_name: str = ""
    warm_up_step: str = ""
    warm_up_of_large: str = ""
    curve_names: tuple[str, str] | None = None
    out_of_bag_names: tuple[str, str] | None = None
    has_members: bool = False
    has_trees: bool = True
    draws: tuple[bool, bool] = (True, True)
    tasks: tuple[str, ...] = TASKS
    fits_whole: bool = False
    is_of_models: bool = False
    _subject: str = ""

    @property
    def subject(self) -> str:
        """What begins a sentence about such a model: "A decision tree"."""
        return self._subject or f"A {self.title.lower()}"

    def why_not(self, task: str) -> str:
        """Say why it cannot learn a task, and the cure; "" where it can."""
        if task in self.tasks:
            return ""
        only = "classes" if self.tasks == ("classes",) else "numbers"
        return f"{self.subject} learns {only} only; choose a target of {only}, or another kind of model"

    def curve_name(self, task: str, parameters: Mapping[str, Any]) -> str:
        """Return what the loss by step is called with these settings."""
        if self.curve_names is not None and self.curve_names[TASKS.index(task)]:
            return self.curve_names[TASKS.index(task)]
        words: dict[str, str] = import_module(f"{self._module}.parameters").LOSS_WORDS
        return words[parameters.get("loss", self.parameter(task, "loss").default)]

    def out_of_bag_name(self, task: str) -> str:
        """Return what the error on rows that members left out is called; "" where none leaves rows out."""
        return "" if self.out_of_bag_names is None else self.out_of_bag_names[TASKS.index(task)]

    def warm_up_of(self, n_rows: int) -> str:
        """Return the last step of the warm-up that a training on so many rows needs."""
        return self.warm_up_of_large if self.warm_up_of_large and n_rows >= LARGE_ROWS else self.warm_up_step

    def parameters(self, task: str) -> tuple[Parameter, ...]:
        """Return the parameter table for a task, "classes" or "numbers"."""
        table = getattr(import_module(f"{self._module}.parameters"), self._tables[TASKS.index(task)])
        own = tuple(parameter for parameter in table if parameter.name != SEED.name)
        return (*own, SEED) if self.draws[TASKS.index(task)] else own

    def estimator_name(self, task: str) -> str:
        """Name of the estimator in `engine`."""
        return self._estimators[TASKS.index(task)]

    def make(self, task: str, parameters: Mapping[str, Any], n_classes: int = 0) -> Any:
        """Return an estimator that is not fitted yet; imports the learner.

        Raises
        ------
        ParameterError
            It does not learn this task.
        """
        if why := self.why_not(task):
            raise ParameterError(why)
        applying = self.applying(task, parameters, n_classes)
        for parameter in self.parameters(task):
            if parameter.name in applying:
                applying[parameter.name] = as_estimators(parameter, applying[parameter.name], task)
        return getattr(import_module("engine"), self.estimator_name(task))(**applying)

    def applying(self, task: str, parameters: Mapping[str, Any], n_classes: int = 0) -> dict[str, Any]:
        """Return the parameters without those that have no effect beside the others.

        A form does not show them, so a value left over in one must not keep a model from training.
        """
        tables = {parameter.name: parameter for parameter in self.parameters(task)}
        if "grids" in tables and (grids := grids_of(parameters.get("estimators"))):
            parameters = {**parameters, "grids": grids}
        return {
            name: value
            for name, value in parameters.items()
            if name not in tables
            or (
                all(parameters.get(k, tables[k].default) in v for k, v in tables[name].applies_when.items())
                and tables[name].suits(n_classes)
            )
        }

    def label(self, task: str, name: str) -> str:
        """Return what a setting is called; also one of the other task, left over from another target."""
        for known in (task, *TASKS):
            for parameter in self.parameters(known):
                if parameter.name == name:
                    return parameter.label or name
        return name

    def parameter(self, task: str, name: str) -> Parameter:
        """Return one parameter by name.

        Raises
        ------
        ParameterError
            There is none; names those there are.
        """
        table = self.parameters(task)
        for parameter in table:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in table)
        raise ParameterError(f"a {self.title.lower()} has no parameter {name!r}; it has {known}")
