"""What models of a study are fitted on, known by marks that a project keeps: what is other now is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.errors import DataError, ParameterError
from workbench.catalog import entry_of

if TYPE_CHECKING:
    from workbench.fitting import FitInputs
    from workbench.runs import ModelSpec

N_DIGITS = 16


class FitBasis(NamedTuple):
    """Marks of what the fits of a study begin with.

    Attributes
    ----------
    target : str
        With its classes.
    columns : str
    rows : str
        Which part each row is in, and the columns of weights and groups.
    models : str
        Kinds and settings, but the setting that is varied.
    """

    target: str
    columns: str
    rows: str
    models: str


_WORDS = {
    "target": "for another target",
    "columns": "with other columns",
    "rows": "on other training rows",
    "models": "for another model or other settings of it",
}


def basis_of(fit: FitInputs, specs: Sequence[ModelSpec] = (), varied: str = "") -> FitBasis:
    """Return what is fitted.

    Parameters
    ----------
    specs : sequence of ModelSpec
        Several models; else the one of the fit.
    varied : str
        A setting that a study chooses itself.
    """
    return FitBasis(
        _mark(fit.target, fit.classes),
        _mark(fit.features),
        _mark(hashlib.sha256(fit.parts.tobytes()).hexdigest(), fit.weight, fit.group),
        _mark([_model(spec, fit.task, varied) for spec in specs or (fit.spec,)]),
    )


def basis_from_json(content: Any) -> FitBasis | None:
    """Return what a project kept; None of one that kept none."""
    return None if content is None else FitBasis(*(str(content[place]) for place in range(4)))


def what_differs_from(before: FitBasis | None, now: FitBasis) -> str:
    """Say what is other now, to follow "found" or "fitted"; empty where nothing is, or none was kept."""
    if before is None:
        return ""
    changed = (words for name, words in _WORDS.items() if getattr(before, name) != getattr(now, name))
    return next(changed, "")


def told_change(verb: str, before: FitBasis | None, now: Callable[[], FitBasis]) -> str:
    """Return such as "found with other columns"; empty where nothing is other, or nothing can be fitted now.

    Parameters
    ----------
    now : callable
        Raises DataError or ParameterError where nothing can be begun, which the window says.
    """
    try:
        differs = what_differs_from(before, now())
    except (DataError, ParameterError):
        return ""
    return f"{verb} {differs}" if differs else ""


def _model(spec: ModelSpec, task: str, varied: str) -> tuple[str, dict[str, Any]]:
    applying = entry_of(spec.kind).applying(task, spec.parameters)
    return spec.kind, {name: value for name, value in applying.items() if name != varied}


def _mark(*parts: Any) -> str:
    """Return a digest; lists and tuples are alike in it, as in a project file."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:N_DIGITS]
