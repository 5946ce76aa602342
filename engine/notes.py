"""What one should know of a fit: learners keep it in `notes_`, models of models tell their parts' too."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from engine.errors import FitWarning

OTHER_PARTS = {"final_estimator_": "the meta-model", "init_": "the model it begins with"}


def take_note(estimator: Any, text: str) -> None:
    """Add a sentence to what one should know of a fit under way, and warn of it.

    Whoever shows `notes_of` a model to a person need not show the warning too.
    """
    estimator.notes_ = (*estimator.notes_, text)
    warnings.warn(text, FitWarning, stacklevel=3)


def notes_of(model: Any) -> tuple[str, ...]:
    """Return the notes of a fitted model, and of the models that it is made of, each with its name or number.

    What several parts say in the same words is told once, with how many say it.
    """
    told = Counter(note for part in _parts_of(model) for note in part)
    return (
        *getattr(model, "notes_", ()),
        *(note if n == 1 else f"{note} (in {n} of its models)" for note, n in told.items()),
    )


def _parts_of(model: Any) -> Iterator[list[str]]:
    """Yield the notes of each part of a model."""
    fitted, names = getattr(model, "estimators_", ()), getattr(model, "names_of_models", [])
    names = names if len(names) == len(fitted) else []
    for place, part in enumerate(fitted):
        of = f"{names[place]}: " if names else ""
        yield [f"{of}{note}" for learner in _learners_in(part) for note in notes_of(learner)]
    for attribute, words in OTHER_PARTS.items():
        if hasattr(model, attribute):
            yield [f"{words}: {note}" for note in notes_of(getattr(model, attribute))]


def _learners_in(part: Any) -> Iterator[Any]:
    """Yield the learners in an entry of `estimators_`: one, those of a round, or a scaled one."""
    for learner in part if isinstance(part, tuple) else (part,):
        yield getattr(learner, "learner", learner)
