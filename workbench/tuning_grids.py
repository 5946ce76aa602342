"""Which settings of a model can be tuned, which values are tried first, and values as people type them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.catalog import entry_of
from workbench.setting_words import choice_text, format_value, parse_number, within

KINDS = ("int", "float", "number_or_choice", "choice", "bool", "sizes")
NOT_TUNED = ("n_jobs", "random_state", "oob_score")  # no other answers, or others by chance alone
TUNED_FIRST = {"tree": "max_depth", "boosting": "learning_rate", "adaboost": "learning_rate"}
OF_COLUMNS, OF_SHARES = ("max_features",), ("max_samples",)  # what a number or a word counts
SMALL = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
LARGEST_SMALL = 10  # a start value up to it is tried among small whole numbers
N_UNITS = (16, 32, 64, 128)  # of a layer
NO_LAYER = "none"
N_COLUMNS = 12  # up to so many, every number of columns is tried
MAX_VALUES = 200  # of one parameter
N_BETWEEN = 10  # values of a range for which no step is given
N_ALL_WHOLE = 20  # a range of whole numbers up to this long is tried whole
RANGE = re.compile(r"^(?P<low>.+?)\s*(?:\.\.\.?|…| to )\s*(?P<high>.+?)(?:\s+by\s+(?P<step>.+))?$")


def tunable_parameters(
    kind: str, task: str, values: Mapping[str, Any], n_classes: int, *, has_categories: bool = True
) -> tuple[Parameter, ...]:
    """Return the parameters that can be tuned beside the other values, the one to begin with first."""
    entry = entry_of(kind)
    table = entry.parameters(task)
    known = {parameter.name: values.get(parameter.name, parameter.start_value) for parameter in table}
    applying = entry.applying(task, known, n_classes)
    found = [
        parameter
        for parameter in table
        if parameter.in_form
        and parameter.kind in KINDS
        and parameter.name in applying
        and parameter.name not in NOT_TUNED
        and (has_categories or not parameter.needs_categories)
    ]
    first = next((p for p in found if p.name == TUNED_FIRST.get(kind)), None) or _first_numeric(found)
    return tuple(sorted(found, key=lambda parameter: parameter is not first))


def _first_numeric(found: Sequence[Parameter]) -> Parameter | None:
    """Return columns per node where there are such, else the first number that is no count of rounds."""
    numeric = [p for p in found if p.kind in ("int", "float", "number_or_choice")]
    by_columns = [p for p in numeric if p.name in OF_COLUMNS]
    others = [p for p in numeric if p.name != "n_estimators"]
    return next(iter([*by_columns, *others, *numeric]), None)


def default_values(parameter: Parameter, value: Any, n_features: int) -> tuple[Any, ...]:
    """Return the values that are tried unless a person enters others.

    Choices are all tried. Whole numbers that begin small go from 1 to 20, larger ones over a factor of
    ten either way in steps of 1, 2, 5; other numbers by 1 and 3 over two decades down and one up, shares
    in tenths; layers by one and two of 16 to 128 units. What has no limit is tried last.

    Parameters
    ----------
    value : object
        What the setting is now.
    n_features : int
        Columns, for settings that count them.
    """
    if parameter.kind == "bool":
        return False, True
    if parameter.kind == "choice":
        return (*parameter.choices, *([None] if parameter.allows_none else []))
    if parameter.name in OF_COLUMNS:
        return _numbers_of_columns(n_features)
    if parameter.name in OF_SHARES:
        return _legal(parameter, _tenths())
    if parameter.kind == "sizes":
        return _layers(value)
    base = _base_of(parameter, value)
    if parameter.kind in ("int", "number_or_choice"):
        tried: Iterable[Any] = _whole_numbers(base)
    else:
        tried = _other_numbers(parameter, base)
    last = [None] if parameter.allows_none and parameter.kind == "int" else []
    return (*_legal(parameter, tried), *last)


def _base_of(parameter: Parameter, value: Any) -> float | None:
    for number in (value, parameter.start_value):
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return float(number)
    return None


def _numbers_of_columns(n_features: int) -> tuple[int, ...]:
    if n_features <= N_COLUMNS:
        return tuple(range(1, max(n_features, 1) + 1))
    spread = np.geomspace(1, n_features, N_BETWEEN)
    return tuple(sorted({round(number) for number in spread}))


def _layers(value: Any) -> tuple[tuple[int, ...], ...]:
    tried = {(n_units,) * n_layers for n_units in N_UNITS for n_layers in (1, 2)}
    return tuple(sorted(tried | {tuple(value)}, key=lambda layers: (sum(layers), layers)))


def _whole_numbers(base: float | None) -> list[int]:
    if base is None or base <= LARGEST_SMALL:
        return list(SMALL)
    return [round(number) for number in _ladder(base / 10, base * 10, (1, 2, 5))]


def _other_numbers(parameter: Parameter, base: float | None) -> list[float]:
    if parameter.maximum == 1 and not parameter.open_maximum and base is not None and base > 0:
        return _tenths()
    if base is None or base == 0:
        return [0.0, *_ladder(0.0003, 3.0, (1, 3))]
    return _ladder(base / 100, base * 10, (1, 3))


def _tenths() -> list[float]:
    return [k / 10 for k in range(1, 11)]


def _ladder(low: float, high: float, steps: tuple[int, ...]) -> list[float]:
    """Return 1, 2, 5 (or other steps) times powers of ten between two numbers, ends included."""
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    numbers = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
    return [number for number in numbers if low * (1 - 1e-9) <= number <= high * (1 + 1e-9)]


def _legal(parameter: Parameter, tried: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value for value in tried if parameter.is_legal(value))


# ---- as text -----------------------------------------------------------------------------------


def values_text(parameter: Parameter, values: Sequence[Any]) -> str:
    """Write values as a person edits them: "1, 2, 5, no limit", or layers as "16; 64, 64"."""
    between = "; " if parameter.kind == "sizes" else ", "
    return between.join(value_words(parameter, value) for value in values)


def default_text(parameter: Parameter, settings: Mapping[str, Any], n_features: int) -> str:
    """Write the values that are tried first beside a model's settings; see `default_values`."""
    now = settings.get(parameter.name, parameter.start_value)
    return values_text(parameter, default_values(parameter, now, n_features))


def value_words(parameter: Parameter, value: Any) -> str:
    """Write one value: words for None and choices, else the number or the layers."""
    if parameter.kind == "sizes" and not value:
        return NO_LAYER
    return choice_text(value) if isinstance(value, str) else format_value(parameter, value)


def settings_words(parameters: Iterable[Parameter], values: Mapping[str, Any]) -> str:
    """Such as "depth 4, rows per leaf 5"."""
    return ", ".join(
        f"{within(parameter.label or parameter.name)} {value_words(parameter, values[parameter.name])}"
        for parameter in parameters
    )


def read_values(parameter: Parameter, text: str) -> tuple[Any, ...]:
    """Read values that a person typed, parted by commas (or semicolons), with ranges such as "1..10".

    Lists of layers hold commas themselves, so that only semicolons part them.

    A range of whole numbers holds all of them up to 20, one of numbers ten of them, evenly by their
    ratio where they span a factor of ten or more; "0.1..0.9 by 0.2" says the step.

    Raises
    ------
    ParameterError
        A value is not legal, there twice or no value; names it and what to enter.
    """
    parts_by_semicolon = ";" in text or parameter.kind == "sizes"
    pieces = [piece.strip() for piece in text.split(";" if parts_by_semicolon else ",")]
    values: list[Any] = []
    for piece in filter(None, pieces):
        values += _read_piece(parameter, piece)
    if not values:
        raise ParameterError(f"{parameter.name} has no value to try; enter some, such as 1, 2, 5")
    if len(values) > MAX_VALUES:
        raise ParameterError(f"{len(values):,} values of {parameter.name}; enter {MAX_VALUES} at most")
    for at, value in enumerate(values):
        parameter.check(value)
        if any(type(value) is type(other) and value == other for other in values[:at]):
            raise ParameterError(f"{value_words(parameter, value)} is there twice; enter it once")
    return tuple(values)


def _read_piece(parameter: Parameter, piece: str) -> list[Any]:
    words = _words_of(parameter)
    if piece.lower() in words:
        return [words[piece.lower()]]
    found = RANGE.match(piece)
    if found is None or parameter.kind in ("choice", "bool", "sizes"):
        return [parse_number(parameter, piece)]
    return _between(parameter, *(found[name] for name in ("low", "high", "step")))


def _words_of(parameter: Parameter) -> dict[str, Any]:
    words = {
        word.lower(): choice for choice in parameter.choices for word in (str(choice), choice_text(choice))
    }
    if parameter.allows_none:
        words |= {word.lower(): None for word in ("none", parameter.none_text) if word}
    words |= {NO_LAYER: ()} if parameter.kind == "sizes" else {}
    return words | ({"yes": True, "no": False} if parameter.kind == "bool" else {})


def _between(parameter: Parameter, low_text: str, high_text: str, step_text: str | None) -> list[Any]:
    texts = (low_text, high_text, *([step_text] if step_text else []))
    low, high, *steps = numbers = [parse_number(parameter, text) for text in texts]
    if not all(isinstance(number, (int, float)) for number in numbers) or low >= high:
        raise ParameterError(
            f"{low_text}..{high_text} is no range; enter such as 1..10, the smaller end first"
        )
    if steps:
        if steps[0] <= 0 or (high - low) / steps[0] > MAX_VALUES:
            raise ParameterError(f"the step {step_text} is too small for {low_text}..{high_text}")
        n_steps = int((high - low) / steps[0] + 1e-9)
        return [type(low)(round(low + k * steps[0], 12)) for k in range(n_steps + 1)]
    if isinstance(low, int) and isinstance(high, int):
        return list(range(low, high + 1)) if high - low < N_ALL_WHOLE else _whole_between(low, high)
    spread = np.geomspace if low > 0 and high / low >= 10 else np.linspace
    inner = [float(f"{number:.2g}") for number in spread(low, high, N_BETWEEN)[1:-1]]
    return [float(low), *inner, float(high)]


def _whole_between(low: int, high: int) -> list[int]:
    spread = np.geomspace(low, high, N_BETWEEN) if low > 0 else np.linspace(low, high, N_BETWEEN)
    return sorted({round(number) for number in spread})
