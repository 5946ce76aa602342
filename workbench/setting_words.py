"""Values of settings as people read and type them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QLocale

from engine.parameters import Parameter
from workbench.model_choice import OF_MODELS, words_of
from workbench.numerals import whole_number

_DIGITS = re.compile(r"[+-]?[0-9]{1,40}")


def format_value(parameter: Parameter, value: Any) -> str:
    """Write a parameter's value as its field shows it: locale digits grouping off, None in words."""
    if value is None:
        return parameter.none_text or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if parameter.kind in OF_MODELS:
        return words_of(value, parameter.none_text)
    return _plain_text(value)


def _plain_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {'rises' if sign > 0 else 'falls'}" for name, sign in value.items() if sign)
    if isinstance(value, tuple | list):
        return ", ".join(f"{item:.12g}" for item in value)
    if isinstance(value, float):
        return f"{value:.12g}".replace("-", "\N{MINUS SIGN}")
    return str(value).replace("-", "\N{MINUS SIGN}") if isinstance(value, int) else str(value)


def choice_text(value: Any) -> str:
    """Write a choice for people: "log_loss" becomes "log loss"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def parse_number(parameter: Parameter, text: str) -> Any:
    """Read a typed number as the person's locale or the program's own way writes it; the text itself if none.

    A whole number stays an int where the parameter takes one; an empty text is None.
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not text or parameter.kind == "sizes":
        return parse_sizes(text) if parameter.kind == "sizes" else None
    if text.lower() in {"inf", "nan", "infinity"}:
        return text
    is_exact = parameter.kind == "int" and _DIGITS.fullmatch(text)  # a seed has more digits than floats have
    return int(text) if is_exact else _parse_float(parameter, text)


def _parse_float(parameter: Parameter, text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        number, is_number = QLocale().toDouble(text)
        if not is_number:
            return text
    is_whole = number == int(number) if abs(number) < 2**63 else False
    looks_whole = is_whole and not any(sign in text for sign in ".,eE")
    if parameter.kind == "int":
        return int(number) if is_whole else number
    if parameter.kind == "number_or_choice" and (looks_whole or (is_whole and number > 1)):  # 1.0 is a share
        return int(number)
    return number


def parse_sizes(text: str) -> Any:
    """Read whole numbers with commas or blanks between them, brackets or none around; the text if none."""
    words = text.strip("()[] ").replace(",", " ").split()
    sizes = tuple(whole_number(word) for word in words)
    return text if None in sizes else sizes


def within(label: str) -> str:
    """Return a setting's label as it stands within a sentence: "cost (C)"."""
    return f"{label[:1].lower()}{label[1:]}"
