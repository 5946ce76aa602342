"""What can go wrong by the caller's doing: each error names the thing, its value and the cure."""

from __future__ import annotations

from typing import Any


class ParameterError(ValueError):
    """A hyperparameter is outside its documented range, or does not go with another."""


class DataError(ValueError):
    """The table does not fit: names the column or rows, what is wrong and what to do."""


class FitWarning(UserWarning):
    """What one should know of a fit that went well all the same; models keep it in `notes_`."""


class FitStopped(Exception):  # noqa: N818 - not an error: the way out of the steps before any model exists
    """A stop was asked for before there was anything to keep (while binning or sorting)."""


def __getattr__(name: str) -> Any:
    # scikit-learn's own class, so that `except NotFittedError` works across libraries; imported on
    # demand because importing scikit-learn takes longer than opening a window may.
    if name == "NotFittedError":
        from sklearn.exceptions import NotFittedError

        return NotFittedError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
