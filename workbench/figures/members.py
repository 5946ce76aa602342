"""Losses of an ensemble of networks, a pair of curves a network: by epoch, live and afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.figures.training import EPOCH, Line, TrainingFigure, make_line, make_training_figure
from workbench.figures.words import count, counted

MOST_TOLD = 8  # networks whose epochs are told one by one

Floats = NDArray[np.float64]


class LiveMembers:
    """Losses of every network of an ensemble that is in training, collected from its events."""

    def __init__(self, name: str, y_label: str) -> None:
        self._name, self._y_label = name, y_label
        self._train: dict[int, list[float]] = {}
        self._val: dict[int, list[float]] = {}

    @property
    def n_points(self) -> int:
        return sum(map(len, self._train.values()))

    def extend(self, events: Iterable[Any]) -> bool:
        """Take the losses of a batch of events; True if there were any."""
        n_before = self.n_points
        for event in events:
            if event.member is None or event.train_loss is None:
                continue
            of_member = self._train.setdefault(event.member, [])
            if event.iteration <= len(of_member):
                continue  # told again, to ask whether to stop
            of_member.append(event.train_loss)
            if event.val_loss is not None:
                self._val.setdefault(event.member, []).append(event.val_loss)
        return self.n_points > n_before

    def figure(self) -> TrainingFigure:
        """Return what is known so far."""
        members = sorted(self._train)
        n_done = [len(self._train[member]) for member in members]
        told = (
            f"{counted(len(members), 'network')} in training, {counted(min(n_done, default=0), EPOCH)} so far"
        )
        lines = _lines(members, [self._train[m] for m in members], [self._val.get(m, []) for m in members])
        return _figure(lines, self._y_label, self._name, told, has_validation=bool(self._val))


def curves_of_members(name: str, result: Any, y_label: str) -> TrainingFigure | None:
    """Make the figure of a trained ensemble of networks; None where none has done an epoch.

    Parameters
    ----------
    result : RunResult
    """
    model = result.estimator
    train, validation = (np.asarray(getattr(model, f"{part}_loss_"), np.float64) for part in ("train", "val"))
    if train.size == 0:
        return None
    lines = _lines(range(len(train)), train, validation)
    has_validation = bool(np.isfinite(validation).any())
    rows = counted(int(np.count_nonzero(np.asarray(result.parts) == 0)), "training row")
    if len(result.parts) == 0:
        rows = "from a model file"
    elif not has_validation:
        rows += ", no validation part"
    told = "; ".join(part for part in (rows, _kept_text(model), _diverged_text(model)) if part)
    return _figure(lines, y_label, name, told, has_validation=has_validation)


def _lines(
    members: Iterable[int], train: Sequence[Any] | Floats, validation: Sequence[Any] | Floats
) -> list[Line]:
    """A colour a network: validation drawn through, training dotted beside it."""
    lines = []
    for place, member in enumerate(members):
        losses = {"training": _known(train[place]), "validation": _known(validation[place])}
        has_validation = len(losses["validation"]) > 0
        for part, values in losses.items():
            if len(values):
                line = make_line(f"network {member}", f"network {member + 1}, {part}", values, 1)
                is_dashed = part == "training" and has_validation
                lines.append(replace(line, is_dashed=is_dashed, colour=member))
    return lines


def _known(losses: Any) -> Floats:
    """Return the losses up to the last that was told: behind it a network was not trained."""
    values = np.asarray(losses, np.float64)
    told = np.flatnonzero(~np.isnan(values))
    return values[: told[-1] + 1] if len(told) else values[:0]


def _figure(lines: list[Line], y_label: str, name: str, told: str, *, has_validation: bool) -> TrainingFigure:
    if has_validation:
        told += "; solid: validation, dotted: training"
    return make_training_figure(lines, y_label, title=name, subtitle=told, x_label=EPOCH, is_of_members=True)


def _kept_text(model: Any) -> str:
    epochs = [count(int(epoch)) for epoch in model.n_epochs_]
    if len(set(epochs)) == 1:
        return f"kept: epoch {epochs[0]} of every network"
    if len(epochs) > MOST_TOLD:
        least, most = (count(int(epoch)) for epoch in (min(model.n_epochs_), max(model.n_epochs_)))
        return f"kept: epochs {least} to {most}"
    return f"kept: epochs {', '.join(epochs)}"


def _diverged_text(model: Any) -> str:
    told = [f"network {member + 1} in epoch {count(epoch)}" for member, epoch in model.diverged_]
    return f"numbers became infinite: {', '.join(told)}" if told else ""
