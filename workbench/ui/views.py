"""The panels of the middle, in the order of the View menu; imported on first need: plots take long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from workbench.ui.context import Context
from workbench.ui.panels.compare import ComparePanel
from workbench.ui.panels.pruning import PruningPanel
from workbench.ui.panels.scores import ScoresPanel
from workbench.ui.panels.splits import SplitsPanel
from workbench.ui.panels.stack import StackPanel
from workbench.ui.panels.surface import SurfacePanel
from workbench.ui.panels.table import TablePanel
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.panels.tree import TreePanel
from workbench.ui.panels.trees import TreesPanel
from workbench.ui.panels.tuning import TuningPanel

PANELS: dict[str, Callable[[Context], QWidget]] = {
    "tree": TreePanel,
    "training": TrainingPanel,
    "surface": SurfacePanel,
    "pruning": PruningPanel,
    "splits": SplitsPanel,
    "table": TablePanel,
    "scores": ScoresPanel,
    "compare": ComparePanel,
    "trees": TreesPanel,
    "tuning": TuningPanel,
    "stack": StackPanel,
}
