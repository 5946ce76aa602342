"""Names and labels as words of a text: quoted so that they read back exactly, whatever signs they hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from engine.errors import DataError


def quoted(text: str) -> str:
    """Return `text` as a JSON string on one line; signs that cannot be seen are written by their number.

    >>> quoted('a "b"'), quoted("tab\\tinside\\u2028")
    ('"a \\\\"b\\\\""', '"tab\\\\tinside\\\\u2028"')
    """
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isprintable():
        return literal
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in literal)


def plain_value(value: Any, what: str) -> str | bool | int | float:
    """Return a label or level as the plain Python value it is.

    Raises
    ------
    DataError
        It is neither text nor a number nor a yes-no value; `what` names whose it is.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool | int | float):
        return value
    raise DataError(
        f"{what} has the value {value!r} of type {type(value).__name__}; only text, numbers and yes-no "
        "values can be written, so give it one of these types"
    )


def literal(value: str | bool | int | float) -> str:
    """Return a label or level as a word that tells its type: text quoted, true or false, a number by repr."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
