"""What a document holds, as values: undo is keeping the old one, saving is writing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.datasets import Table, proposes_classes
from workbench.runs import RunRecord, SplitSettings
from workbench.splitting import deal_rows
from workbench.studies import Studies


@dataclass(frozen=True, eq=False)
class DataState:
    """All that is known about the table; what follows from it is found once, on first need.

    Attributes
    ----------
    as_classes : bool or None
        The user's choice for a numeric target; None follows the proposal (D14).
    event_class : str or None
        The user's choice; None is the second class.
    """

    table: Table | None = None
    roles: dict[str, str] | None = None
    as_classes: bool | None = None
    event_class: str | None = None
    split: SplitSettings = field(default_factory=SplitSettings)

    @property
    def target(self) -> str | None:
        return next((name for name, role in (self.roles or {}).items() if role == "target"), None)

    @property
    def features(self) -> list[str]:
        return [name for name, role in (self.roles or {}).items() if role == "feature"]

    @cached_property
    def is_classification(self) -> bool:
        """True when the target is classes; False without a target."""
        if self.table is None or self.target is None:
            return False
        column = self.table.column(self.target)
        if column.kind not in ("number", "date") or self.as_classes is None:
            return proposes_classes(column)[0]
        return self.as_classes

    @property
    def task(self) -> str:
        """ "classes" or "numbers"; classes until a target says otherwise."""
        return "classes" if self.target is None or self.is_classification else "numbers"

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Labels of the target in their order, spelled as in the file; empty for a number target."""
        if self.table is None or self.target is None or not self.is_classification:
            return ()
        return self.table.column(self.target).label_codes()[1]

    @property
    def event(self) -> str | None:
        """The class that a two-class target is about; None for other targets."""
        if len(self.classes) != 2:
            return None
        return self.event_class if self.event_class in self.classes else self.classes[1]

    @property
    def parts(self) -> NDArray[np.uint8] | None:
        """Part of each row: 0 training, 1 validation, 2 test, 255 none; None without a target."""
        return None if self._dealt is None else self._dealt[0]

    @property
    def split_notes(self) -> tuple[str, ...]:
        """What dealing the rows into parts has to say: rows left out and why, small classes."""
        return () if self._dealt is None else self._dealt[1]

    @cached_property
    def _dealt(self) -> tuple[NDArray[np.uint8], tuple[str, ...]] | None:
        if self.table is None or self.target is None:
            return None
        return deal_rows(self.table, self.target, self.classes, dict(self.roles or {}), self.split)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A document at one moment, as a project file holds it; nothing in it changes later.

    Attributes
    ----------
    runs : mapping of str to RunRecord
        By id, in the order of the list.
    view_state : mapping of str to Any
        A copy.
    studies : Studies
    """

    data: DataState
    runs: Mapping[str, RunRecord]
    current_run_id: str | None
    view_state: Mapping[str, Any]
    studies: Studies = field(default_factory=Studies)

    def holds_work_of(self, other: Snapshot) -> bool:
        """Tell whether no change or training is in `other` that is not in this one.

        What is selected and how views stand is no work, nor is a training that only began.
        """
        is_same = self.data is other.data and self.studies == other.studies
        if not is_same or list(self.runs) != list(other.runs):
            return False
        return all(
            mine.name == yours.name
            and mine.spec == yours.spec
            and mine.result is yours.result
            and mine.tuning is yours.tuning
            for mine, yours in zip(self.runs.values(), other.runs.values(), strict=True)
        )
