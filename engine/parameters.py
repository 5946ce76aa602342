"""Parameter tables: plain data, used by estimators, forms, the command line and project files (D22)."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.errors import ParameterError

UNSET: Any = object()
LARGEST_WHOLE = 2**63 - 1  # what kernels can count
LARGEST_LAYER = 2**20  # units of a hidden layer: more are a mistyped number


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter: its range for the check, its words for the form.

    Attributes
    ----------
    name : str
        As in the estimator's signature.
    default : object
        The engine's default (scikit-learn's where it has the parameter).
    kind : str
        "int", "float", "bool", "choice", "number_or_choice" (an int, a float share or a choice:
        `max_features`), "directions" (-1, 0 or 1 for every column, or by column name: `monotonic_cst`),
        "sizes" (a sequence of whole numbers from 1, one a hidden layer: `hidden_layer_sizes`),
        "numbers" (a list of finite numbers), "model" (an estimator that is not fitted, or its kind and
        settings as data, see `is_model_data`), "models" (a list of names and models) or "grids" (by model
        and parameter, the values to choose from).
    minimum, maximum : float or None
        Legal range, ends included unless `open_minimum` or `open_maximum`.
    choices : tuple
        Legal values of a choice, first is shown first.
    allows_none : bool
        None is legal and means `none_text`.
    label, help, unit : str
        Plain words: the form's label, one line under the field, and the unit inside it.
    group : str
        "Size", "Sampling", "Stopping" or "More".
    aliases : mapping
        Library ("lightgbm", "xgboost", "catboost", "sklearn") to its name for the same thing.
    form_default : object
        What the window starts with where that differs from `default` (D32).
    applies_when : mapping
        Other parameter's name to the values under which this one has an effect; else it is absent
        from the form.
    min_classes, max_classes : int or None
        With fewer or more classes it does not apply.
    needs_categories : bool
        Without an unordered category among the columns it has no effect.
    in_form : bool
        False for what the window sets elsewhere (`random_state`, `categorical_features`).
    model_task : str
        What a model that is chosen here learns: "numbers", or "" for what the model itself learns.
    may_be_tuned : bool
        Models that are chosen here may have settings to choose from ("grid" in their data) inside a fit.
    has_any_size : bool
        True for a seed, which no kernel counts with: a whole number above `LARGEST_WHOLE` is legal.
    simpler : str
        Which values make the simpler model, "smaller" or "larger" ones (None is larger than any number, and
        layers are as large as all their units together); "" where neither does. For the choice
        within one standard error when it is tuned.
    """

    name: str
    default: Any
    kind: str
    minimum: float | None = None
    maximum: float | None = None
    open_minimum: bool = False
    open_maximum: bool = False
    choices: tuple[Any, ...] = ()
    allows_none: bool = False
    none_text: str = ""
    label: str = ""
    help: str = ""
    unit: str = ""
    group: str = "More"
    aliases: Mapping[str, str] = field(default_factory=dict)
    form_default: Any = UNSET
    applies_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    min_classes: int | None = None
    max_classes: int | None = None
    needs_categories: bool = False
    in_form: bool = True
    has_any_size: bool = False
    simpler: str = ""
    model_task: str = ""
    may_be_tuned: bool = False

    def suits(self, n_classes: int) -> bool:
        """Tell whether it applies with so many classes; 0 of numbers, or where that is not known."""
        return n_classes == 0 or (self.min_classes or 0) <= n_classes <= (self.max_classes or n_classes)

    @property
    def start_value(self) -> Any:
        """What a new model in the window starts with."""
        return self.default if self.form_default is UNSET else self.form_default

    @property
    def legal_text(self) -> str:
        """The legal values in words, for messages and tooltips."""
        parts = []
        if self.kind in ("int", "float", "number_or_choice"):
            parts.append(self._range_text())
        if self.kind == "bool":
            parts.append("True or False")
        if self.kind == "directions":
            parts.append("1 (rises), -1 (falls) or 0 for every column or by column name")
        if self.kind in _WORDS:
            parts.append(_WORDS[self.kind])
        if self.choices:
            parts.append("one of " + ", ".join(map(repr, self.choices)))
        if self.allows_none:
            parts.append("None" + (f" ({self.none_text})" if self.none_text else ""))
        return ", or ".join(parts)

    def _range_text(self) -> str:
        if self.kind == "number_or_choice":
            return "a whole number from 1, or a share above 0 and at most 1"
        noun = "a whole number" if self.kind == "int" else "a number"
        low = high = ""
        if self.minimum is not None:
            low = f" {'above' if self.open_minimum else 'from'} {_limit(self.minimum)}"
        if self.maximum is not None and (self.open_minimum or self.open_maximum):
            side = "below" if self.open_maximum else "at most"
            high = f"{' and' if low else ''} {side} {_limit(self.maximum)}"
        elif self.maximum is not None:
            high = f" to {_limit(self.maximum)}"
        return noun + low + high

    def is_legal(self, value: Any) -> bool:
        """Tell whether `value` is of the right kind and inside the range."""
        if value is None:
            return self.allows_none
        if self.kind in _IS_LEGAL:
            return _IS_LEGAL[self.kind](self, value)
        if any(type(value) is type(choice) and value == choice for choice in self.choices):
            return True
        if self.kind == "choice" or isinstance(value, bool):
            return False
        if self.kind == "int" and not isinstance(value, numbers.Integral):
            return False
        return isinstance(value, numbers.Real) and not self._is_too_large(value) and self._in_range(value)

    def _is_too_large(self, value: Any) -> bool:
        return isinstance(value, numbers.Integral) and int(value) > LARGEST_WHOLE and not self.has_any_size

    def _in_range(self, value: Any) -> bool:
        if value != value:  # noqa: PLR0124 - NaN; a whole number may be too large for math.isnan
            return False
        if self.minimum is not None and (
            value < self.minimum or (self.open_minimum and value == self.minimum)
        ):
            return False
        if self.kind == "number_or_choice" and not isinstance(value, numbers.Integral) and value > 1:
            return False  # no share
        return self.maximum is None or not (
            value > self.maximum or (self.open_maximum and value == self.maximum)
        )

    def check(self, value: Any) -> None:
        """Raise ParameterError naming the parameter, its value and the legal values."""
        if not self.is_legal(value):
            if isinstance(value, numbers.Integral) and self._is_too_large(value):
                raise ParameterError(f"{self.name} is larger than {LARGEST_WHOLE}; enter a smaller number")
            raise ParameterError(f"{self.name} is {value!r}; enter {self.legal_text}")


def _limit(value: float) -> str:
    """Return a limit as people write it: whole numbers in full, "1,000,000"."""
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def _is_yes_or_no(_: Parameter, value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool_"


def _are_directions(_: Parameter, value: Any) -> bool:
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            return False
        value = value.values()
    try:
        signs = list(value)
    except TypeError:
        return False
    return not isinstance(value, str) and all(
        isinstance(sign, (int, np.integer)) and type(sign) is not bool and sign in (-1, 0, 1)
        for sign in signs
    )


def _are_sizes(_: Parameter, value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(
        isinstance(size, (int, np.integer)) and type(size) is not bool and 1 <= size <= LARGEST_LAYER
        for size in value
    )


def _are_numbers(parameter: Parameter, value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and all(
        type(item) is not bool
        and isinstance(item, numbers.Real)
        and math.isfinite(item)
        and parameter._in_range(item)
        for item in value
    )


def is_model_data(value: Any) -> bool:
    """Tell whether a value is a model as forms and files hold it: its kind and its settings, as data.

    A "grid" of settings to choose from may be beside them: by parameter, the values.
    """
    return (
        isinstance(value, Mapping)
        and _is_grid(value.get("grid", {}))
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("parameters"), Mapping)
        and isinstance(value.get("name", ""), str)
    )


def _is_model(_: Parameter | None, value: Any) -> bool:
    return is_model_data(value) or (hasattr(value, "fit") and hasattr(value, "predict"))


def _are_models(_: Parameter, value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    pairs = [item for item in value if isinstance(item, (list, tuple)) and len(item) == 2]
    if len(pairs) == len(value):
        return all(isinstance(name, str) and _is_model(None, model) for name, model in pairs)
    return all(is_model_data(item) for item in value)


def _are_grids(_: Parameter, value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_grid(grid) for grid in value.values())


def _is_grid(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(values, (list, tuple, np.ndarray)) and len(values) for values in value.values()
    )


_IS_LEGAL: dict[str, Callable[[Parameter, Any], bool]] = {
    "bool": _is_yes_or_no,
    "directions": _are_directions,
    "sizes": _are_sizes,
    "numbers": _are_numbers,
    "model": _is_model,
    "models": _are_models,
    "grids": _are_grids,
}
_WORDS = {
    "sizes": "whole numbers from 1 to 1048576, one for each hidden layer, such as (64, 64)",
    "numbers": "a list of finite numbers",
    "model": "an estimator with fit, predict and get_params",
    "models": "a list of pairs (name, estimator)",
    "grids": "a dict of a model's name to a dict of a parameter's name to a list of values",
}


def check_parameters(estimator: Any, table: Iterable[Parameter]) -> None:
    """Check every parameter of `estimator` that `table` describes.

    Raises
    ------
    ParameterError
        The first one outside its range.
    """
    for parameter in table:
        parameter.check(getattr(estimator, parameter.name))


def check_before_fit(estimator: Any, table: Iterable[Parameter]) -> None:
    """Check parameters but for seeds and weights of single classes, which are checked where they are used.

    Raises
    ------
    ParameterError
        The first one outside its range.
    """
    later = {"random_state"}
    if isinstance(getattr(estimator, "class_weight", None), Mapping):
        later.add("class_weight")
    check_parameters(estimator, [parameter for parameter in table if parameter.name not in later])
