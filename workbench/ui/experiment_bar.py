"""What to look at in a ready experiment: two sentences above the views, until they are closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from workbench.experiments import Experiment
from workbench.ui.widgets import IconLabel, Label, bare_button, row

LOOK = "action.experiment.look"  # shows and hides it


class ExperimentBar(QFrame):
    """Shows the sentences of one experiment.

    Parameters
    ----------
    on_close : callable
        Called by its button.
    """

    def __init__(self, on_close: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("experiment")
        self.setProperty("look", "hint")
        self._text = Label("", "body", wrap=True)
        self._text.setObjectName("experiment.text")
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = bare_button("close", "Close", on_close, "experiment.close")
        layout = row(IconLabel("experiment"), self._text, close, spacing=12)
        layout.setContentsMargins(16, 8, 8, 8)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.hide()

    @property
    def text(self) -> str:
        """What is shown; "" while the bar is closed."""
        return "" if self.isHidden() else self._text.text()

    def show_experiment(self, experiment: Experiment) -> None:
        """Show an experiment's sentences."""
        self._text.setText(experiment.text)
        self.setAccessibleName(f"What to look at: {experiment.title}")
        self.show()
